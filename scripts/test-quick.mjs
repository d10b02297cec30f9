// npm run test:quick: the daily loop, about two minutes. All unit tests, then the tests on a database that belong to what was changed
// since the branch left main (uncommitted and new files too); on PostgreSQL where there is a server, else on the embedded database.
import { execFileSync } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBuilt, ensureGenerated, ensureInstalled, root, run, runtime } from './prepare.mjs';
import { reachableServer } from './reachable-server.mjs';

/** As many tests as take about two minutes with the unit tests; `npm test` runs the rest. */
const MOST_FILES = 25;
/** Rules that every module uses. */
const ALWAYS = ['tests/domain/core', 'tests/domain/ledger'];

await ensureInstalled();
await ensureGenerated();
await ensureBuilt();

const vitest = (args, env = {}) => run(runtime(), [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', ...args], { env });
const startedAt = performance.now();
const files = filesOf(changedFiles());
const quick = files.slice(0, MOST_FILES);
const codes = [await vitest(['--project', 'unit'])];
codes.push(await vitest(['--project', 'service', ...quick], { TEST_DATABASE_URL: (await reachableServer()) ?? '' }));
if (files.length > quick.length) {
  console.log(`Left to npm test, since the change is broad: ${files.slice(MOST_FILES).join(', ')}`);
}
console.log(`quick round: ${((performance.now() - startedAt) / 1000).toFixed(0)} s`);
process.exit(codes.find((code) => code !== 0) ?? 0);

function git(...words) {
  try {
    return execFileSync('git', words, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
      .split('\n')
      .filter(Boolean);
  } catch {
    // A copy without history, or without a branch `main`.
    return [];
  }
}

function changedFiles() {
  const [base = 'HEAD'] = git('merge-base', 'HEAD', 'main');
  return [...new Set([...git('diff', '--name-only', base), ...git('ls-files', '--others', '--exclude-standard')])];
}

/** Test files that belong to changed files, the nearest first. */
function filesOf(changed) {
  const isOnDatabase = (path) => /^tests\/(domain|api|contract|realtime|protocol)\/.*\.test\.ts$/.test(path);
  const found = new Set(changed.filter((path) => isOnDatabase(path) && existsSync(join(root, path))));
  const below = (folder) => globSync(`${folder}/**/*.test.ts`, { cwd: root }).map((path) => path.replaceAll('\\', '/'));
  for (const folder of ALWAYS) for (const path of below(folder)) found.add(path);
  for (const path of changed) {
    const [, area, module] = /^src\/(domain|realtime)\/([^/]+)\//.exec(path) ?? [];
    if (area === 'domain') for (const test of below(`tests/domain/${module}`)) found.add(test);
    if (area === 'realtime') for (const test of below('tests/realtime')) found.add(test);
    const [, tag] = /^src\/routers\/[^/]+\/([^/.]+)\./.exec(path) ?? [];
    if (tag) for (const test of below('tests/api')) if (test.includes(tag)) found.add(test);
  }
  return [...found];
}
