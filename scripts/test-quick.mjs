// npm run test:quick: the daily loop, at most two minutes. The unit tests that import what was changed since the branch left main (uncommitted and
// new files too; all of them when nothing was), then the nearest tests on a database, races included, as many as there is time for; on PostgreSQL
// where there is a server, else on the embedded database. At the end, which changed lines none of them has run.
//   npm run test:quick -- --list     prints the tests and their distance from the change, and runs nothing
import { join } from 'node:path';
import { recordChanges } from './changed-coverage.mjs';
import { changedFiles, touchedTests } from './changed-tests.mjs';
import { ensureBuilt, ensureGenerated, ensureInstalled, root, run, runtime } from './prepare.mjs';
import { reachableServer } from './reachable-server.mjs';
import { ON_A_DATABASE, workersOn } from './test-plan.mjs';

/** Of the whole round. */
const LIMIT_S = 110;
/** Further files run in rounds that can be expected to need this share of the time left, by what the round before took: files differ. */
const SHARE_OF_REST = 0.6;
/** A round that begins with less time left would mostly start its processes. */
const SHORTEST_ROUND_S = 15;
/** Files that run however long they take; of the others, `service` has what time is left. */
const FIRST = { service: 8, race: 3, isolated: 2 };
/** Rules that every module uses. */
const ALWAYS = ['tests/domain/core/transaction.test.ts', 'tests/domain/core/violated-keys.test.ts'];

const changed = changedFiles();
console.log(
  changed.length > 0
    ? `Changed since the branch left main: ${changed.length} files.`
    : 'Nothing is changed since the branch left main (or no such branch is known): the unit tests only.',
);
const touched = touchedTests(changed);
const isIsolated = (path) => path.endsWith('.iso.test.ts');
const unit = touched.filter(({ path }) => path.startsWith('tests/unit/') && !isIsolated(path));
const service = touched.filter(({ path }) => ON_A_DATABASE.some((folder) => path.startsWith(folder)) && !isIsolated(path));
const race = touched.filter(({ path }) => path.startsWith('tests/race/'));
const isolated = touched.filter(({ path }) => isIsolated(path));
if (process.argv.includes('--list')) {
  for (const { path, distance } of [...unit, ...service, ...race, ...isolated]) console.log(`${distance}  ${path}`);
  process.exit(0);
}

await ensureInstalled();
await ensureGenerated();
await ensureBuilt();

// The nearest cases of the large matrices are those of a sample.
process.env.MATRIX_SEED ??= String(process.pid);
const serverUrl = await reachableServer();
const workers = await workersOn(serverUrl);
const recording = recordChanges();
const vitest = (project, files) =>
  run(runtime(), [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', '--project', project, ...files], {
    env: { TEST_DATABASE_URL: serverUrl ?? '', ...workers, ...recording.environment },
  });
const nearest = (found, from, to) => found.slice(from, to).map(({ path }) => path);

const startedAt = performance.now();
const seconds = () => (performance.now() - startedAt) / 1000;
const codes = [];
if (changed.length === 0 || unit.length > 0) codes.push(await vitest('unit', changed.length === 0 ? [] : nearest(unit)));
if (isolated.length > 0) codes.push(await vitest('isolated', nearest(isolated, 0, FIRST.isolated)));
if (serverUrl && race.length > 0) codes.push(await vitest('race', nearest(race, 0, FIRST.race)));
let round = [...new Set([...ALWAYS, ...nearest(service, 0, FIRST.service)])];
let next = FIRST.service;
do {
  const before = seconds();
  codes.push(await vitest('service', round));
  const rest = LIMIT_S - seconds();
  const more = rest < SHORTEST_ROUND_S ? 0 : Math.floor((SHARE_OF_REST * rest * round.length) / (seconds() - before));
  round = nearest(service, next, next + more).filter((path) => !ALWAYS.includes(path));
  next += more;
} while (round.length > 0);

const ran = { service: next, race: FIRST.race, isolated: FIRST.isolated };
const left = Object.entries({ service, race, isolated }).flatMap(([project, found]) => found.slice(ran[project])).length;
if (left > 0)
  console.log(`Left to npm test, since more files lie between them and the change: ${left} files (--list shows them).`);
if (!serverUrl && race.length > 0) console.log('Left out: races, because no PostgreSQL server can be reached.');
recording.print();
console.log(`Samples of this run: MATRIX_SEED=${process.env.MATRIX_SEED}`);
console.log(`quick round: ${seconds().toFixed(0)} s`);
process.exit(codes.find((code) => code !== 0) ?? 0);
