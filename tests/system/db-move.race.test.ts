/** `db move`: from a real embedded data folder to a real server, by an owner who is no superuser. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createRequester } from '../../packages/measures/src/demo/http.ts';
import { startServiceProcess } from '../../packages/measures/src/demo/service-process.ts';
import type { Database } from '../../src/core/db/database.ts';
import { openEmbedded } from '../../src/core/db/open-embedded.ts';
import { fillMigratedFolder } from '../support/migrated-folder.ts';
import { runCommand } from '../support/run-cli.ts';
import { emptyDatabaseOnServer, migrationsFolder, serverUrl } from '../support/test-database.ts';

const USERS = 3_000;
const PASSWORD = 'pass-word-of-the-owner';
const role = `cli_owner_${process.pid}`;
const EXACT = {
  // Beyond what a JavaScript number holds.
  bytes: '9007199254740993',
  json: '{"a": [1, 2.50, "\\"quoted\\" and \\\\back", null], "big": 12345678901234567890, "text": "строка\\nline, {brace}"}',
  timestamp: '2026-02-28 23:59:59.999+00',
  text: `tab\t, comma, "quote", \\backslash, 'single', NULL, {}, ${'ё'.repeat(10)}`,
};

let dataDir: string;
let target: { url: string; drop(): Promise<void> };
let ownerUrl: string;
let sql: pg.Client;

async function onServer(statement: string, url = serverUrl!): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(statement).finally(() => client.end());
}

async function fill(database: Database): Promise<void> {
  const run = (text: string) => database.jobDatabase.executeSql(text);
  // Raw SQL: everybody is referred by somebody with a higher id, which no order of inserting could satisfy row by row.
  await run(`
    INSERT INTO users (auth_type, referral_code, promo_group_id, first_name, created_at)
    SELECT 'messenger', 'ref' || n, (SELECT id FROM promo_groups WHERE is_default), 'User ' || n, now() - n * interval '1 second' FROM generate_series(1, ${USERS}) n;
    UPDATE users SET referred_by_id = id + 1 WHERE id < ${USERS};
    SELECT post_transaction(id, 'deposit', 50000 + id, 'provider_clearing', 'provider:sandbox', 'sandbox', 'ext-' || id, 'top-up', now()) FROM users WHERE id <= 500;
    SELECT post_transaction(id, 'subscription_payment', -100, 'sales_revenue', 'sales:tariff', 'balance', NULL, 'sale', now()) FROM users WHERE id <= 500;
    INSERT INTO jobs.job (name, data, start_after) VALUES ('mail.send', '{"mailId": 7}', now() + interval '1 day'), ('ledger.check', '{}', now());
  `);
  await database.db.sql(
    `UPDATE users SET lifetime_used_traffic_bytes = $1::bigint, notification_settings = $2::jsonb, created_at = $3::timestamptz, last_name = $4 WHERE id = 7`,
    [EXACT.bytes, EXACT.json, EXACT.timestamp, EXACT.text],
  );
}

const move = (environment: Record<string, string> = {}) =>
  runCommand(['db', 'move', ownerUrl], { DATA_DIR: dataDir, ...environment });
const countOf = async (table: string) => Number((await sql.query(`SELECT count(*) AS n FROM ${table}`)).rows[0].n);
const guards = async () => ({
  foreignKeys: (
    await sql.query(
      "SELECT conname, pg_get_constraintdef(oid) AS def FROM pg_constraint WHERE contype = 'f' AND convalidated ORDER BY 1, 2",
    )
  ).rows,
  switchedOff: (await sql.query("SELECT tgname FROM pg_trigger WHERE tgenabled <> 'O'")).rows,
});

describe.skipIf(!serverUrl)('moving to a server (left out without one: TEST_DATABASE_URL)', () => {
  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'move-test-'));
    await onServer(`CREATE ROLE ${role} LOGIN PASSWORD '${PASSWORD}' NOSUPERUSER NOBYPASSRLS`);
    await fillMigratedFolder(dataDir);
    const database = await openEmbedded({ dataDir, migrationsFolder });
    await fill(database);
    await database.close();
  });
  afterAll(async () => {
    await onServer(`DROP ROLE IF EXISTS ${role}`);
    await rm(dataDir, { recursive: true, force: true });
  });
  beforeEach(async () => {
    target = await emptyDatabaseOnServer();
    const url = new URL(target.url);
    await onServer(`ALTER DATABASE ${url.pathname.slice(1)} OWNER TO ${role}`);
    url.username = role;
    url.password = PASSWORD;
    ownerUrl = url.href;
    sql = new pg.Client({ connectionString: ownerUrl });
    await sql.connect();
  });
  afterEach(async () => {
    await sql.end();
    await target.drop();
  });

  test('everything arrives to the last digit, guarded as before, and the service goes on with it', async () => {
    const { code, out, err } = await move();
    expect([code, err]).toEqual([0, expect.stringContaining(`users: ${USERS}`)]);
    expect(out).toContain('Counts and contents agree, the ledger is clean.');
    expect(out).toMatch(/DATABASE_URL=postgresql:\/\/cli_owner_\d+:\*\*\*@/);
    expect(out + err).not.toContain(PASSWORD);

    const { rows } = await sql.query(
      `SELECT lifetime_used_traffic_bytes::text AS bytes, notification_settings = $1::jsonb AS json, created_at = $2::timestamptz AS timestamp,
         last_name, referred_by_id, balance_kopeks::text AS balance FROM users WHERE id = 7`,
      [EXACT.json, EXACT.timestamp],
    );
    expect(rows).toEqual([
      { bytes: EXACT.bytes, json: true, timestamp: true, last_name: EXACT.text, referred_by_id: 8, balance: '49907' },
    ]);
    expect(await countOf('transactions')).toBe(1_000);
    expect(await countOf('ledger_entries')).toBe(2_000);
    expect(await countOf("jobs.job WHERE name IN ('mail.send', 'ledger.check') AND state = 'created'")).toBe(2);
    expect(await countOf('ledger_check()')).toBe(0);

    const { foreignKeys, switchedOff } = await guards();
    expect(switchedOff).toEqual([]);
    expect(foreignKeys).toEqual(await foreignKeysOfMigrations());
    await expect(sql.query('UPDATE users SET balance_kopeks = 1 WHERE id = 1')).rejects.toThrow('money moves only through');
    await expect(sql.query('DELETE FROM ledger_entries')).rejects.toThrow('append-only');

    const again = await move();
    expect([again.code, again.err]).toEqual([1, expect.stringContaining(`The target already has data: `)]);
    expect(again.err).toContain(`users (${USERS})`);
    expect(await countOf('users')).toBe(USERS);

    const service = await startServiceProcess({ environment: { DATABASE_URL: ownerUrl } });
    try {
      const operator = createRequester(service.url, { 'x-api-key': service.apiToken! });
      expect((await operator.get('/users?limit=1')).body.total).toBe(USERS);
      const made = await operator.post('/users', { messenger_id: 900_000_001, first_name: 'Next' });
      expect(made).toMatchObject({ status: 200, body: { id: USERS + 1, first_name: 'Next' } });
    } finally {
      await service.stop();
    }
  });

  test('a target that is migrated and never used will do', async () => {
    const migrated = await runCommand(['migrate'], { DATA_DIR: dataDir, DATABASE_URL: ownerUrl });
    expect(migrated.code).toBe(0);
    expect((await move()).code).toBe(0);
    expect(await countOf('promo_groups')).toBe(1);
    expect((await guards()).switchedOff).toEqual([]);
    expect(await countOf('users')).toBe(USERS);
  });

  test('a row that refers to nothing stops it, and the target stays empty with all its guards', async () => {
    const database = await openEmbedded({ dataDir, migrationsFolder });
    const orphan = (statement: string) =>
      database.jobDatabase.executeSql(
        `SET session_replication_role = replica; ${statement}; SET session_replication_role = origin`,
      );
    // Raw SQL: only with triggers switched off is a row possible that refers to nothing.
    await orphan(
      "INSERT INTO cabinet_refresh_tokens (user_id, token_hash, family_id, expires_at) VALUES (999999, 'h', gen_random_uuid(), now() + interval '1 day')",
    );
    await database.close();
    try {
      const { code, out, err } = await move();
      expect([code, out]).toEqual([1, '']);
      expect(err).toContain('refers to a missing one');
      expect(err).toContain('999999');
      expect(await countOf('promo_groups')).toBe(1);
      for (const table of ['users', 'transactions', 'cabinet_refresh_tokens']) expect(await countOf(table)).toBe(0);
      expect((await guards()).switchedOff).toEqual([]);
      expect((await guards()).foreignKeys).toEqual(await foreignKeysOfMigrations());
    } finally {
      const repaired = await openEmbedded({ dataDir, migrationsFolder });
      await repaired.db.sql('DELETE FROM cabinet_refresh_tokens WHERE user_id = 999999 RETURNING id');
      await repaired.close();
    }
  });

  test('it does not start while something else uses source or target, or without a source', async () => {
    const database = await openEmbedded({ dataDir, migrationsFolder });
    const busy = await move().finally(() => database.close());
    expect([busy.code, busy.err]).toEqual([1, expect.stringContaining(`in use by process ${process.pid}`)]);
    const nothing = await move({ DATA_DIR: join(dataDir, 'nowhere') });
    expect([nothing.code, nothing.err]).toEqual([1, expect.stringContaining('There is no embedded database in')]);
    const wrong = new URL(ownerUrl);
    wrong.pathname = '/no_such_database';
    const missing = await runCommand(['db', 'move', wrong.href], { DATA_DIR: dataDir });
    expect([missing.code, missing.err]).toEqual([1, expect.stringContaining('There is no database of that name')]);
    expect(await countOf("pg_tables WHERE schemaname = 'public'")).toBe(0);
  });
});

/** What a database has that was only ever migrated. */
async function foreignKeysOfMigrations(): Promise<unknown[]> {
  const fresh = await emptyDatabaseOnServer();
  const client = new pg.Client({ connectionString: fresh.url });
  try {
    const migrated = await runCommand(['migrate'], { DATA_DIR: dataDir, DATABASE_URL: fresh.url });
    expect(migrated.code).toBe(0);
    await client.connect();
    const { rows } = await client.query(
      "SELECT conname, pg_get_constraintdef(oid) AS def FROM pg_constraint WHERE contype = 'f' AND convalidated ORDER BY 1, 2",
    );
    return rows;
  } finally {
    await client.end();
    await fresh.drop();
  }
}
