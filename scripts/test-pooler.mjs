// npm run test:pooler -- [FILE…]: the projects service and race with the service behind a PgBouncer in transaction mode (spec 08 S3), which
// it starts on a free port, from the package `pgbouncer`, and ends. Fixtures of the tests that need a session, as locks, stay direct.
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../packages/measures/src/free-port.ts';
import { ensureClientBuilt, ensureGenerated, ensureInstalled, root, run, runtime } from './prepare.mjs';
import { reachableServer } from './reachable-server.mjs';
import { BEFORE_ANY_SQL, ON_A_DATABASE, testFilesOf } from './test-plan.mjs';

await ensureInstalled();
await ensureGenerated();
await ensureClientBuilt();
const serverUrl = await reachableServer();
if (!serverUrl) throw new Error('no PostgreSQL server can be reached: set TEST_DATABASE_URL');

const folder = await mkdtemp(join(tmpdir(), 'test-pooler-'));
const port = await freePort();
const pooler = await startPooler();
process.on('exit', () => {
  pooler.kill();
  rmSync(folder, { recursive: true });
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130));

const url = new URL(serverUrl);
url.host = `127.0.0.1:${port}`;
const files = process.argv.slice(2);
const words = files.length > 0 ? files : testFilesOf([...ON_A_DATABASE, ...BEFORE_ANY_SQL, 'tests/race/']);
const code = await run(
  runtime(),
  [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', '--project', 'service', '--project', 'race', ...words],
  { env: { TEST_DATABASE_URL: serverUrl, TEST_POOLER_URL: url.href } },
);
process.exit(code);

/** As in `scripts/scale/stand.sh`: a client that sends parameters of a session is refused. */
async function startPooler() {
  const { hostname, port: serverPort, username } = new URL(serverUrl);
  const config = `[databases]
* = host=${hostname} port=${serverPort || 5432} user=${username || 'postgres'}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 20
max_client_conn = 1000
server_idle_timeout = 5
log_connections = 0
log_disconnections = 0
log_pooler_errors = 0
`;
  await writeFile(join(folder, 'pgbouncer.ini'), config);
  const asUser = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  const child = spawn('pgbouncer', [...asUser, join(folder, 'pgbouncer.ini')], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` },
  });
  child.on('error', (error) => {
    console.error(`PgBouncer does not start: ${error.message}`);
    process.exit(1);
  });
  const lines = [];
  child.stderr.on('data', (part) => lines.push(part));
  child.on('exit', (ended) => {
    console.error(`PgBouncer ended: ${Buffer.concat(lines).toString()}`);
    process.exit(ended || 1);
  });
  return child;
}
