/**
 * Measures a backup of many users and its restore into another, new database: sizes, times, and how much memory the process needs. Uses two
 * databases of the server that TEST_DATABASE_URL names and a temporary folder, and removes all of them.
 *   node scripts/on-runtime.mjs packages/measures/src/speed/backup-restore.ts [--users 1000000] [--transactions 2000000]
 */
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { backupFolder } from '../../../../src/domain/backups/backup-folder.ts';
import { readTask, requestBackup, runTask } from '../../../../src/domain/backups/backup-tasks.ts';
import { restoreBackup } from '../../../../src/domain/backups/restore-backup.ts';
import { testApp } from '../../../../tests/support/test-app.ts';
import { freshDatabase, prepareTemplate, serverUrl } from '../../../../tests/support/test-database.ts';
import { seedStatements } from '../bench/seed-data.ts';

const MEBIBYTE = 1_048_576;
const { values } = parseArgs({ options: { users: { type: 'string' }, transactions: { type: 'string' } } });
const users = Number(values.users ?? 1_000_000);
const transactions = Number(values.transactions ?? 2 * users);
if (!Number.isSafeInteger(users) || users < 1 || !Number.isSafeInteger(transactions))
  throw new Error('--users and --transactions are whole numbers');
if (serverUrl === null) throw new Error('TEST_DATABASE_URL must name a PostgreSQL server');

const megabytes = () => Math.round(process.memoryUsage.rss() / MEBIBYTE);

/** Runs a part and prints its time and the most memory that the process had during it. */
async function measured<T>(name: string, work: () => Promise<T>): Promise<T> {
  const before = megabytes();
  let peak = before;
  const watch = setInterval(() => {
    peak = Math.max(peak, megabytes());
  }, 50);
  const from = performance.now();
  try {
    return await work();
  } finally {
    clearInterval(watch);
    const seconds = ((performance.now() - from) / 1_000).toFixed(1);
    console.log(`${name}: ${seconds} s; memory ${before} MiB before, ${peak} MiB at most`);
  }
}

async function seed(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of seedStatements({ users, transactions, withLedger: true }, 'x')) await client.query(statement);
  } finally {
    await client.end();
  }
}

await prepareTemplate();
const dataDir = await mkdtemp(join(tmpdir(), 'backup-restore-'));
const source = await freshDatabase({ poolSize: 4 });
const target = await freshDatabase({ poolSize: 4 });
try {
  const environment = { DATA_DIR: dataDir };
  const from = await testApp({ database: source, environment });
  const into = await testApp({ database: target, environment });
  await measured(`seeding ${users} users and ${transactions} transactions`, () => seed(source.url!));
  const [size] = await from.app.db.sql<{ bytes: number }>('SELECT pg_database_size(current_database()) AS bytes');
  console.log(`database: ${Math.round(size!.bytes / MEBIBYTE)} MiB`);

  const path = await measured('backup', async () => {
    const { taskId } = await requestBackup(from.app, null, 'api');
    await runTask(from.app, taskId, new AbortController().signal);
    const { status, message, filePath } = await readTask(from.app, taskId);
    console.log(message);
    if (status !== 'completed') throw new Error(`the backup is ${status}`);
    return join(backupFolder(from.app), filePath!);
  });
  console.log(`archive: ${Math.round((await stat(path)).size / MEBIBYTE)} MiB`);

  const { success, message } = await measured('restore', () =>
    restoreBackup(into.app, path, { clearExisting: true, requestedBy: null }),
  );
  console.log(message);
  if (!success) throw new Error('the restore failed');
} finally {
  await source.drop();
  await target.drop();
  await rm(dataDir, { recursive: true, force: true });
}
process.exit(0);
