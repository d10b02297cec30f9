// npm run test:quick: the daily loop, at most two minutes. All unit tests, then the tests on a database that are nearest to what was changed since
// the branch left main (uncommitted and new files too), races included; on PostgreSQL where there is a server, else on the embedded database. At
// the end, which changed lines none of them has run.
//   npm run test:quick -- --list     prints the tests and their distance from the change, and runs nothing
import { join } from 'node:path';
import { recordChanges } from './changed-coverage.mjs';
import { changedFiles, touchedTests } from './changed-tests.mjs';
import { ensureBuilt, ensureGenerated, ensureInstalled, root, run, runtime } from './prepare.mjs';
import { reachableServer } from './reachable-server.mjs';
import { ON_A_DATABASE } from './test-plan.mjs';

/** As many files as take about two minutes with the unit tests; `npm test` runs the rest. */
const MOST_FILES = { service: 25, race: 6, isolated: 4 };
/** Rules that every module uses. */
const ALWAYS = ['tests/domain/core/transaction.test.ts', 'tests/domain/core/violated-keys.test.ts'];

const changed = changedFiles();
console.log(
  changed.length > 0
    ? `Changed since the branch left main: ${changed.length} files.`
    : 'Nothing is changed since the branch left main (or no such branch is known): the unit tests only.',
);
const touched = touchedTests(changed);
const service = touched.filter(({ path }) => ON_A_DATABASE.some((folder) => path.startsWith(folder)) && !path.includes('.iso.'));
const race = touched.filter(({ path }) => path.startsWith('tests/race/'));
const isolated = touched.filter(({ path }) => path.endsWith('.iso.test.ts'));
if (process.argv.includes('--list')) {
  for (const { path, distance } of [...service, ...race, ...isolated]) console.log(`${distance}  ${path}`);
  process.exit(0);
}

await ensureInstalled();
await ensureGenerated();
await ensureBuilt();

// The nearest cases of the large matrices are those of a sample.
process.env.MATRIX_SEED ??= String(process.pid);
const serverUrl = await reachableServer();
const recording = recordChanges();
const vitest = (project, files) =>
  run(runtime(), [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', '--project', project, ...files], {
    env: { TEST_DATABASE_URL: serverUrl ?? '', ...recording.environment },
  });
const nearest = (found, most) => found.slice(0, most).map(({ path }) => path);

const startedAt = performance.now();
const codes = [await vitest('unit', [])];
codes.push(await vitest('service', [...new Set([...ALWAYS, ...nearest(service, MOST_FILES.service)])]));
if (isolated.length > 0) codes.push(await vitest('isolated', nearest(isolated, MOST_FILES.isolated)));
if (serverUrl && race.length > 0) codes.push(await vitest('race', nearest(race, MOST_FILES.race)));

const left = Object.entries({ service, race, isolated }).flatMap(([project, found]) => found.slice(MOST_FILES[project])).length;
if (left > 0)
  console.log(`Left to npm test, since more files lie between them and the change: ${left} files (--list shows them).`);
if (!serverUrl && race.length > 0) console.log('Left out: races, because no PostgreSQL server can be reached.');
recording.print();
console.log(`Samples of this run: MATRIX_SEED=${process.env.MATRIX_SEED}`);
console.log(`quick round: ${((performance.now() - startedAt) / 1000).toFixed(0)} s`);
process.exit(codes.find((code) => code !== 0) ?? 0);
