// npm test: installs what it needs, then runs every test project that this machine allows and says which it left out and why.
//   npm test -- tests/unit/money.test.ts   hands further words to the test runner
import { mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureBuilt, ensureGenerated, ensureInstalled, root, run, runtime } from './prepare.mjs';
import { reachableServer } from './reachable-server.mjs';

await ensureInstalled();
await ensureGenerated();
await ensureBuilt();

const words = process.argv.slice(2);
const vitest = (args, env = {}, spawn = {}) =>
  run(runtime(), [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', ...args], { env, spawn });
if (words.length > 0) process.exit(await vitest(words));

const serverUrl = await reachableServer();
const failed = [];
const times = [];
const seconds = (since) => `${((performance.now() - since) / 1000).toFixed(0)} s`;
const round = async (name, args, env, spawn) => {
  const startedAt = performance.now();
  if ((await vitest([...args, '--passWithNoTests'], env, spawn)) !== 0) failed.push(name);
  times.push(`${name}: ${seconds(startedAt)}`);
};
const shownRound = (name, args, env) => {
  console.log(`\n=== ${name} ===`);
  return round(name, args, env);
};
/** A round beside another one. @returns what shows its output, which would be mixed with that of the other, when it has ended */
const roundBeside = (name, args, env) => {
  const path = join(root, 'node_modules', '.cache', 'round-beside.txt');
  const ended = (async () => {
    await mkdir(join(path, '..'), { recursive: true });
    const file = await open(path, 'w');
    await round(name, args, env, { stdio: ['ignore', file.fd, file.fd] }).finally(() => file.close());
  })();
  return async () => {
    await ended;
    console.log(`\n=== ${name} ===\n${await readFile(path, 'utf8')}`);
  };
};

/** Tests that send SQL run on both databases. */
const ON_EACH_DATABASE = ['tests/domain/', 'tests/api/', 'tests/contract/', 'tests/realtime/'];
/** Requests that are refused before any SQL of an operation: they run on one database, the server where there is one, because it is faster. */
const ON_ONE_DATABASE = ['tests/protocol/'];

/** Where the tests record the refusals that they observe, see `scripts/refusals.ts`. */
const recorded = { REFUSALS_FOLDER: join(root, 'node_modules', '.cache', 'refusals') };
await rm(recorded.REFUSALS_FOLDER, { recursive: true, force: true });

const startedAt = performance.now();
await shownRound('unit, isolated', ['--project', 'unit', '--project', 'isolated']);
const embedded = serverUrl ? ON_EACH_DATABASE : [...ON_EACH_DATABASE, ...ON_ONE_DATABASE];
await shownRound('service on the embedded database', ['--project', 'service', ...embedded], {
  TEST_DATABASE_URL: '',
  ...recorded,
});
let showRace = async () => undefined;
if (serverUrl) {
  const env = { TEST_DATABASE_URL: serverUrl };
  const withRecord = { ...env, ...recorded };
  await shownRound('service on PostgreSQL', ['--project', 'service', ...ON_EACH_DATABASE, ...ON_ONE_DATABASE], withRecord);
  // Beside the system's tests, which wait for processes and schedules most of their time.
  showRace = roundBeside('race on PostgreSQL', ['--project', 'race'], env);
}
await shownRound('system: the built service as processes', ['--project', 'system'], { TEST_DATABASE_URL: serverUrl ?? '' });
await showRace();

const refusals = await run(runtime(), [join(root, 'scripts', 'refusals.ts'), '--check'], { env: recorded });
if (refusals !== 0) failed.push('documented refusals');

console.log('');
for (const line of times) console.log(line);
console.log(`all rounds: ${seconds(startedAt)}`);
if (!serverUrl) {
  console.log('Left out: the race project and the second run of domain, api, contract and realtime tests, because no PostgreSQL');
  console.log('server can be reached. Start one on 127.0.0.1:5432 with a trusted user "postgres", or set TEST_DATABASE_URL.');
}
if (failed.length > 0) console.log(`Failed: ${failed.join('; ')}`);
else console.log('All test projects that ran passed.');
process.exit(failed.length > 0 ? 1 : 0);
