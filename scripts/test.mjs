// npm test: installs what it needs, then runs every test project that this machine allows and says which it left out and why.
//   npm test -- tests/unit/money.test.ts   hands further words to the test runner
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureBuilt, ensureGenerated, ensureInstalled, root, run, runtime } from './prepare.mjs';
import { reachableServer } from './reachable-server.mjs';

await ensureInstalled();
await ensureGenerated();
await ensureBuilt();

const words = process.argv.slice(2);
const FAILURE_LIST = join(root, 'node_modules', '.cache', 'failure-list.txt');
await mkdir(join(FAILURE_LIST, '..'), { recursive: true });
await rm(FAILURE_LIST, { force: true });
const reporters = ['--reporter=default', `--reporter=${join(root, 'scripts', 'failure-list.mjs')}`];
const vitest = (args, env = {}) =>
  run(runtime(), [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', ...reporters, ...args], {
    env: { ...env, FAILURE_LIST },
  });
if (words.length > 0) process.exit(await vitest(words));

const serverUrl = await reachableServer();
const failed = [];
const times = [];
const seconds = (since) => `${((performance.now() - since) / 1000).toFixed(0)} s`;
// One after another: a server with the usual 100 connections has enough for one round.
const round = async (name, args, env) => {
  console.log(`\n=== ${name} ===`);
  const startedAt = performance.now();
  if ((await vitest([...args, '--passWithNoTests'], env)) !== 0) failed.push(name);
  times.push(`${name}: ${seconds(startedAt)}`);
};

/** Tests that send SQL run on both databases. */
const ON_EACH_DATABASE = ['tests/domain/', 'tests/api/', 'tests/contract/', 'tests/realtime/'];
/** Requests that are refused before any SQL of an operation: they run on one database, the server where there is one, because it is faster. */
const ON_ONE_DATABASE = ['tests/protocol/'];

/** Where the tests record the refusals that they observe, see `scripts/refusals.ts`. */
const recorded = { REFUSALS_FOLDER: join(root, 'node_modules', '.cache', 'refusals') };
await rm(recorded.REFUSALS_FOLDER, { recursive: true, force: true });

const startedAt = performance.now();
await round('unit, isolated', ['--project', 'unit', '--project', 'isolated']);
const embedded = serverUrl ? ON_EACH_DATABASE : [...ON_EACH_DATABASE, ...ON_ONE_DATABASE];
await round('service on the embedded database', ['--project', 'service', ...embedded], {
  TEST_DATABASE_URL: '',
  ...recorded,
});
if (serverUrl) {
  const env = { TEST_DATABASE_URL: serverUrl };
  const withRecord = { ...env, ...recorded };
  await round('service on PostgreSQL', ['--project', 'service', ...ON_EACH_DATABASE, ...ON_ONE_DATABASE], withRecord);
  await round('race on PostgreSQL', ['--project', 'race'], env);
}
await round('system: the built service as processes', ['--project', 'system'], { TEST_DATABASE_URL: serverUrl ?? '' });

const refusals = await run(runtime(), [join(root, 'scripts', 'refusals.ts'), '--check'], { env: recorded });
if (refusals !== 0) failed.push('documented refusals');

console.log('');
for (const line of times) console.log(line);
console.log(`all rounds: ${seconds(startedAt)}`);
if (!serverUrl) {
  console.log('Left out: the race project and the second run of domain, api, contract and realtime tests, because no PostgreSQL');
  console.log('server can be reached. Start one on 127.0.0.1:5432 with a trusted user "postgres", or set TEST_DATABASE_URL.');
}
const failures = await readFile(FAILURE_LIST, 'utf8').catch(() => '');
if (failures !== '') console.log(`\nWhat failed:\n${failures}`);
if (failed.length > 0) console.log(`Failed: ${failed.join('; ')}`);
else console.log('All test projects that ran passed.');
process.exit(failed.length > 0 ? 1 : 0);
