/** A process that is killed in the middle of a restore, beside another instance (spec 06 section 7). */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRequester, type Requester, until } from '../../packages/measures/src/demo/http.ts';
import { type ServiceProcess, startServiceProcess } from '../../packages/measures/src/demo/service-process.ts';
import { amountOf, sampleOf } from '../support/matrix-sample.ts';
import { killsAmong, type StatementKill, sentStatements, watchStatements } from '../support/statement-kills.ts';
import { emptyDatabaseOnServer, serverUrl } from '../support/test-database.ts';

/** The time limit only ends what hangs: a restore takes a minute on a busy machine. */
const PATIENT = { timeout: 600_000 };

/** Name of the connection of a restore. */
const RESTORING = 'subscription-service-long';

interface Digest {
  users: string;
  off: string;
  keys: string;
  indexes: string;
  lastId: string;
}

describe.skipIf(!serverUrl)('kill -9 in a restore (left out without a server: TEST_DATABASE_URL)', () => {
  let database: { url: string; drop(): Promise<void> };
  let sql: pg.Client;
  let dataDir: string;
  let first: ServiceProcess;
  let apiToken: string;
  let second: ServiceProcess;
  let other: Requester;

  // The instances share the folder of backups: either one may be the one that writes the backup.
  const environment = () => ({
    DATABASE_URL: database.url,
    BACKUP_LOCATION: join(dataDir, 'backups'),
    BACKUP_AUTO_ENABLED: 'false',
  });
  const start = (watched: Record<string, string> | null = null) =>
    startServiceProcess({
      environment: Object.assign(environment(), watched),
      dataDir,
      program: watched ? 'src/server.ts' : 'dist/server.js',
    });
  const restore = () =>
    createRequester(first.url, { 'x-api-key': apiToken })
      .post(`/backups/restore/${name}`, { clear_existing: true })
      .catch((error: unknown) => error);
  /** The backup, and what a restore of it leads to. */
  let name: string;
  let archived: Digest;

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'backup-kill-'));
    database = await emptyDatabaseOnServer();
    sql = new pg.Client({ connectionString: database.url });
    await sql.connect();
    first = await start();
    apiToken = first.apiToken!;
    second = await startServiceProcess({ environment: environment() });
    other = createRequester(second.url, { 'x-api-key': apiToken });
    // Raw SQL: 20,000 rows in one statement, by the connection beside the service.
    await sql.query(
      "INSERT INTO users (auth_type, referral_code, promo_group_id, first_name) SELECT 'messenger', substr(md5(n::text), 1, 18), (SELECT id FROM promo_groups WHERE is_default), 'User ' || n FROM generate_series(1, 20000) n",
    );
    const operator = createRequester(first.url, { 'x-api-key': apiToken });
    const { task_id: taskId } = (await operator.post('/backups', undefined)).body;
    const task = await until(
      'the backup',
      async () => (await operator.get(`/backups/status/${taskId}`)).body,
      ({ status }) => status === 'completed',
    );
    name = task.file_path;
    archived = await digest();
  });
  afterAll(async () => {
    await second.stop();
    await first.kill();
    await sql.end();
    await database.drop();
    await rm(dataDir, { recursive: true, force: true });
  });

  const digest = async () => {
    const { rows } = await sql.query(
      `SELECT (SELECT md5(string_agg(md5(u::text), '' ORDER BY id)) FROM users u) AS users,
         (SELECT count(*) FROM pg_trigger WHERE tgenabled = 'D') AS off, (SELECT count(*) FROM pg_constraint WHERE contype = 'f') AS keys,
         (SELECT count(*) FROM pg_index WHERE indrelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace)) AS indexes,
         (SELECT last_value FROM users_id_seq) AS "lastId"`,
    );
    return rows[0] as Digest;
  };
  const seen = async (condition: string) =>
    (
      await sql.query(
        `SELECT 1 FROM pg_stat_activity a WHERE application_name = '${RESTORING}' AND datname = current_database() AND ${condition}`,
      )
    ).rowCount! > 0;
  const IN_TRANSACTION =
    "EXISTS (SELECT 1 FROM pg_locks l WHERE l.pid = a.pid AND l.mode = 'AccessExclusiveLock' AND l.granted AND l.relation = 'users'::regclass)";

  /** Points of a restore by what its session does. */
  const INTERRUPTIONS: [interruption: string, condition: string][] = [
    ['the service is closed', 'true'],
    ['all tables are locked', IN_TRANSACTION],
    ['rows are inserted', `${IN_TRANSACTION} AND query LIKE 'WITH written AS (INSERT%'`],
    ['rows are read again', `${IN_TRANSACTION} AND query LIKE 'FETCH%'`],
    ['keys are put back', `${IN_TRANSACTION} AND query LIKE 'ALTER TABLE%ADD CONSTRAINT%'`],
  ];

  test.each(sampleOf(INTERRUPTIONS, ([interruption]) => interruption))(
    'while %s: everything is unchanged or as in the backup, and both instances go on',
    async (_interruption, condition) => {
      await sql.query("UPDATE users SET first_name = 'Now ' || clock_timestamp()");
      const before = await digest();
      const restoring = restore();
      let isOver = false;
      void restoring.then(() => {
        isOver = true;
      });
      // The other instance learns it from the database. A restore that is refused shows its answer here.
      await expect.poll(async () => (isOver ? restoring : (await other.get('/users?limit=1')).status), PATIENT).toBe(503);
      expect((await other.get('/livez')).status).toBe(200);
      // A point may be over before it is seen: the restore is complete then.
      await expect.poll(async () => isOver || seen(condition), { ...PATIENT, interval: 5 }).toBe(true);
      await first.kill();
      await restoring;
      await expect.poll(async () => (await other.get('/users?limit=1')).status, PATIENT).toBe(200);
      await isBeforeOrArchived(before);
      first = await start();
      await goesOn();
    },
  );

  test('at a statement by its number: everything is unchanged or as in the backup, and both instances go on', async () => {
    const record = join(dataDir, 'statements');
    const watch = (kill: StatementKill | null) => watchStatements(record, kill, { connection: RESTORING });
    await first.kill();
    first = await start(watch(null));
    await restore();
    const statements = await sentStatements(record);
    for (const kill of killsAmong(statements.length, amountOf(6, 2))) {
      await rm(record);
      await first.kill();
      first = await start(watch(kill));
      await sql.query("UPDATE users SET first_name = 'Now ' || clock_timestamp()");
      const before = await digest();
      await restore();
      await expect.poll(() => first.process.signalCode, PATIENT).toBe('SIGKILL');
      await expect.poll(async () => (await other.get('/users?limit=1')).status, PATIENT).toBe(200);
      await isBeforeOrArchived(before, JSON.stringify([kill, (await sentStatements(record)).at(-1)]));
    }
    first = await start();
    await goesOn();
  });

  async function isBeforeOrArchived(before: Digest, point?: string): Promise<void> {
    // A restore does not set sequences back.
    expect([before, { ...archived, lastId: before.lastId }], point).toContainEqual(await digest());
  }

  async function goesOn(): Promise<void> {
    const made = await createRequester(first.url, { 'x-api-key': apiToken }).post('/users', {
      messenger_id: Date.now(),
      first_name: 'Next',
    });
    expect(made.status).toBe(200);
    await sql.query('DELETE FROM users WHERE messenger_id IS NOT NULL');
  }
});
