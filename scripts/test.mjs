// npm test: installs what it needs, then runs every test project that this machine allows and says which it left out and why.
//   npm test -- tests/unit/money.test.ts   hands further words to the test runner
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { ensureBuilt, ensureGenerated, ensureInstalled, root, run, runtime } from './prepare.mjs';

await ensureInstalled();
await ensureGenerated();
await ensureBuilt();

const words = process.argv.slice(2);
const vitest = (args, env = {}) => run(runtime(), [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', ...args], { env });
if (words.length > 0) process.exit(await vitest(words));

const serverUrl = await reachableServer();
const failed = [];
const round = async (name, args, env) => {
  console.log(`\n=== ${name} ===`);
  if ((await vitest([...args, '--passWithNoTests'], env)) !== 0) failed.push(name);
};
const projects = (...names) => names.flatMap((name) => ['--project', name]);

await round('unit, isolated', projects('unit', 'isolated'));
await round('domain, api, contract, realtime on the embedded database', projects('domain', 'api', 'contract', 'realtime'), {
  TEST_DATABASE_URL: '',
});
if (serverUrl) {
  const env = { TEST_DATABASE_URL: serverUrl };
  await round('domain, api, contract, realtime on PostgreSQL', projects('domain', 'api', 'contract', 'realtime'), env);
  await round('race on PostgreSQL', projects('race'), env);
}
await round('system: the built service as processes', projects('system'), { TEST_DATABASE_URL: serverUrl ?? '' });

console.log('');
if (!serverUrl) {
  console.log(
    'Left out: the race project and the second run of domain, api, contract and realtime, because no PostgreSQL server can',
  );
  console.log('be reached. Start one on 127.0.0.1:5432 with a trusted user "postgres", or set TEST_DATABASE_URL.');
}
if (failed.length > 0) console.log(`Failed: ${failed.join('; ')}`);
else console.log('All test projects that ran passed.');
process.exit(failed.length > 0 ? 1 : 0);

async function reachableServer() {
  const url = process.env.TEST_DATABASE_URL ?? 'postgresql://postgres@127.0.0.1:5432/postgres';
  if (url === '') return null;
  const { hostname, port } = new URL(url);
  const reachable = await new Promise((resolve) => {
    const socket = createConnection({ host: hostname, port: Number(port || 5432), timeout: 2000 });
    socket.on('connect', () => resolve(true));
    socket.on('timeout', () => resolve(false));
    socket.on('error', () => resolve(false));
    setTimeout(() => socket.destroy(), 2500).unref();
  });
  if (!reachable) return null;
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 3000 });
  try {
    await client.connect();
    await client.query('SELECT 1');
    return url;
  } catch (error) {
    console.log(`A server answers at ${hostname}:${port || 5432}, but not to this user: ${error.message}`);
    return null;
  } finally {
    await client.end().catch(() => undefined);
  }
}
