// npm test: installs what it needs, then runs every test project that this machine allows and says which it left out and why. Of large matrices
// it tries a sample, as of the races and the tests of processes, and on the embedded database what differs between the two databases and a
// sample of the rest (scripts/test-plan.mjs).
//   npm run test:all                    every case and race, and the documented refusals; samples of the longest matrices and files only
//   npm run test:all -- --every         everything
//   TEST_DATABASE_URL= npm run test:all    the same without a server: everything but the races on the embedded database
//   MATRIX_SEED=7 npm test              the samples of an earlier run
//   npm test -- tests/unit/money.test.ts   hands further words to the test runner; every case of the named files
import { randomInt } from 'node:crypto';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { ensureBuilt, ensureClientBuilt, ensureGenerated, ensureInstalled, root, run, runtime } from './prepare.mjs';
import { reachableServer } from './reachable-server.mjs';
import {
  BEFORE_ANY_SQL,
  filesForBothDatabases,
  filesLeftOut,
  filesOfProcesses,
  filesOfRaces,
  ON_A_DATABASE,
  testFilesOf,
  workersOn,
} from './test-plan.mjs';

await ensureInstalled();
await ensureGenerated();
await ensureBuilt();

const isWhole = process.argv.includes('--all');
const isEverything = process.argv.includes('--every');
const words = process.argv.slice(2).filter((word) => word !== '--all' && word !== '--every');
const FAILURE_LIST = join(root, 'node_modules', '.cache', 'failure-list.txt');
await mkdir(join(FAILURE_LIST, '..'), { recursive: true });
await rm(FAILURE_LIST, { force: true });
const reporters = ['--reporter=default', `--reporter=${join(root, 'scripts', 'failure-list.mjs')}`];
const runner = [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', ...reporters];
const vitest = (args, env = {}) => run(runtime(), [...runner, ...args], { env: { ...env, FAILURE_LIST } });
// On a server where there is one, as the whole.
if (words.length > 0) process.exit(await vitest(words, { TEST_DATABASE_URL: (await reachableServer()) ?? '' }));

// Before tests of several workers pack it.
await ensureClientBuilt();
const seed = process.env.MATRIX_SEED ?? String(randomInt(2 ** 31));
// With it, the matrices try a sample only; with MATRIX_ALL, only the longest of them.
if (isEverything) delete process.env.MATRIX_SEED;
else process.env.MATRIX_SEED = seed;
if (isWhole) process.env.MATRIX_ALL = '1';
const leftOut = isEverything ? [] : filesLeftOut(seed, { isWhole });
/** The runner's --exclude has no effect on the files of a project. */
const without = (paths) => testFilesOf(paths).filter((path) => !leftOut.includes(path));

const serverUrl = await reachableServer();
const failed = [];
const times = [];
const seconds = (since) => `${((performance.now() - since) / 1000).toFixed(0)} s`;
const round = async (name, args, env) => {
  console.log(`\n=== ${name} ===`);
  const startedAt = performance.now();
  const code = await vitest([...args, '--passWithNoTests'], env);
  if (code !== 0) failed.push(name);
  times.push(`${name}: ${seconds(startedAt)}`);
};

/** Where the tests record the refusals that they observe, see `scripts/refusals.ts`. */
const recorded = { REFUSALS_FOLDER: join(root, 'node_modules', '.cache', 'refusals') };
await rm(recorded.REFUSALS_FOLDER, { recursive: true, force: true });

const startedAt = performance.now();
console.log(`Samples of this run: MATRIX_SEED=${seed}${isWhole ? '' : ' (npm run test:all tries every case)'}`);
if (isWhole && leftOut.length > 0)
  console.log(`Left out this time (npm run test:all -- --every runs them): ${leftOut.join(', ')}`);
const onServer = { TEST_DATABASE_URL: serverUrl ?? '', ...(await workersOn(serverUrl)) };

// One after another: each keeps two cores busy by itself, and beside each other they take longer (docs/testing.md).
await round('unit, isolated', ['--project', 'unit', '--project', 'isolated'], {});
await embeddedRound();
if (serverUrl) {
  const all = [...ON_A_DATABASE, ...BEFORE_ANY_SQL];
  const files = without(all);
  const name = `service on PostgreSQL: ${files.length} of ${testFilesOf(all).length} files`;
  await round(name, ['--project', 'service', ...files], { ...onServer, ...recorded });
  const races = isWhole ? [] : filesOfRaces(seed);
  const ofRaces = `race on PostgreSQL: ${isWhole ? 'every file' : `${races.length} files`}`;
  await round(ofRaces, ['--project', 'race', ...races], onServer);
}
const drills = isWhole ? without(['tests/system/']) : filesOfProcesses(seed);
const ofDrills = isWhole ? `${drills.length} files` : drills.map((path) => basename(path, '.test.ts')).join(', ');
await round(`system, the built service as processes: ${ofDrills}`, ['--project', 'system', ...drills], onServer);

// A sample cannot show that a documented refusal is not observed any more.
if (isWhole) {
  const refusals = await run(runtime(), [join(root, 'scripts', 'refusals.ts'), '--check'], { env: recorded });
  if (refusals !== 0) failed.push('documented refusals');
}

console.log('');
for (const line of times) console.log(line);
console.log(`all rounds: ${seconds(startedAt)}`);
if (!serverUrl) {
  console.log('Left out: the race project, and the tests of domain, api, contract and realtime on PostgreSQL, because no');
  console.log('server can be reached. Start one on 127.0.0.1:5432 with a trusted user "postgres", or set TEST_DATABASE_URL.');
}
console.log(`Samples: MATRIX_SEED=${seed} repeats them${isWhole ? '' : ', npm run test:all tries every case'}.`);
const failures = await readFile(FAILURE_LIST, 'utf8').catch(() => '');
if (failures !== '') console.log(`\nWhat failed:\n${failures}`);
if (failed.length > 0) console.log(`Failed: ${failed.join('; ')}`);
else console.log('All test projects that ran passed.');
process.exit(failed.length > 0 ? 1 : 0);

/** Everything, where it is the only database; else what differs, and a sample. */
async function embeddedRound() {
  const env = { TEST_DATABASE_URL: '', SERVICE_WORKERS: '3', ...recorded };
  if (!serverUrl)
    return round('service on the embedded database', ['--project', 'service', ...ON_A_DATABASE, ...BEFORE_ANY_SQL], env);
  const { differing, sample } = filesForBothDatabases(seed, { isWhole });
  const name = `service on the embedded database: ${differing.length} files on differences, ${sample.length} of the others`;
  return round(name, ['--project', 'service', ...without([...differing, ...sample])], env);
}
