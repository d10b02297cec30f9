/** A process that is killed in the middle of a restore, beside another instance (spec 06 section 7). */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRequester, type Requester } from '../../scripts/demo/http.ts';
import { type ServiceProcess, startServiceProcess } from '../../scripts/demo/service-process.ts';
import { emptyDatabaseOnServer, serverUrl } from '../support/test-database.ts';

describe.skipIf(!serverUrl)('kill -9 in a restore (left out without a server: TEST_DATABASE_URL)', () => {
  let database: { url: string; drop(): Promise<void> };
  let sql: pg.Client;
  let first: ServiceProcess;
  let second: ServiceProcess;
  let operator: Requester;
  let other: Requester;

  beforeAll(async () => {
    database = await emptyDatabaseOnServer();
    sql = new pg.Client({ connectionString: database.url });
    await sql.connect();
    first = await startServiceProcess({ environment: { DATABASE_URL: database.url } });
    second = await startServiceProcess({ environment: { DATABASE_URL: database.url } });
    operator = createRequester(first.url, { 'x-api-key': first.apiToken! });
    other = createRequester(second.url, { 'x-api-key': first.apiToken! });
  });
  afterAll(async () => {
    await second.stop();
    await first.kill();
    await sql.end();
    await database.drop();
  });

  const digest = async () => {
    const { rows } = await sql.query(
      "SELECT md5(string_agg(md5(u::text), '' ORDER BY id)) AS users, (SELECT count(*) FROM pg_trigger WHERE tgenabled = 'D') AS off, (SELECT count(*) FROM pg_constraint WHERE contype = 'f') AS keys FROM users u",
    );
    return rows[0];
  };

  test('everything is as it was, and the other instance goes on', async () => {
    await sql.query(
      "INSERT INTO users (auth_type, referral_code, promo_group_id, first_name) SELECT 'messenger', substr(md5(n::text), 1, 18), (SELECT id FROM promo_groups WHERE is_default), 'User ' || n FROM generate_series(1, 20000) n",
    );
    const { task_id: taskId } = (await operator.post('/backups', undefined)).body;
    await expect.poll(async () => (await operator.get(`/backups/status/${taskId}`)).body.status).toBe('completed');
    const { file_path: name } = (await operator.get(`/backups/status/${taskId}`)).body;
    await sql.query("UPDATE users SET first_name = 'Now'");
    const before = await digest();
    const restoring = operator.post(`/backups/restore/${name}`, { clear_existing: true }).catch((error: unknown) => error);
    // The other instance learns it from the database.
    await expect.poll(async () => (await other.get('/users?limit=1')).status).toBe(503);
    expect((await other.get('/livez')).status).toBe(200);
    const countTableLocks = async () =>
      (
        await sql.query(
          "SELECT 1 FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE a.application_name = 'subscription-service-long' AND a.datname = current_database() AND l.mode = 'AccessExclusiveLock' AND l.granted AND l.relation = 'users'::regclass",
        )
      ).rowCount;
    await expect.poll(countTableLocks).toBe(1);
    await first.kill();
    await restoring;
    await expect.poll(async () => (await other.get('/users?limit=1')).status).toBe(200);
    expect(await digest()).toEqual(before);
    const made = await other.post('/users', { messenger_id: 900_000_001, first_name: 'Next' });
    expect(made.status).toBe(200);
  });
});
