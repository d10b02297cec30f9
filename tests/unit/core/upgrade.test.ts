import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  applySchema,
  type MigrationTarget,
  readSchemaFiles,
  type SchemaFiles,
  type SqlFile,
} from '../../../src/core/db/migrate.ts';
import { fromStoredJson } from '../../../src/core/stored-json.ts';
import { COUNTERS } from '../../domain/core/counter-table.ts';
import { migrationsFolder } from '../../support/test-database.ts';
import { SCHEMA_CATALOG } from './schema-catalog.ts';

// Raw SQL of this file: rows of the tables of earlier versions.
const fixture = join(import.meta.dirname, '..', '..', 'fixtures', 'upgrade', 'replaced-migrations.sql');

let files: SchemaFiles;
/** The migrations of earlier releases, in their order. */
let earlier: SqlFile[];
const open: PGlite[] = [];

beforeAll(async () => {
  files = await readSchemaFiles(migrationsFolder);
  earlier = (await readFile(fixture, 'utf8'))
    .split(/^-- migration: /m)
    .slice(1)
    .map((part) => {
      const [name = '', ...lines] = part.split('\n');
      const sql = lines.join('\n');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    });
});
afterAll(async () => {
  for (const database of open) await database.close();
});

function targetOn(database: PGlite): MigrationTarget {
  return {
    run: async (sql) => void (await database.exec(sql)),
    query: async (sql, values) => (await database.query<Record<string, unknown>>(sql, values)).rows,
  };
}

async function newDatabase(): Promise<PGlite> {
  const database = await PGlite.create();
  open.push(database);
  return database;
}

/** Of earlier releases, by the number of their migrations: made once, and copied for each test. */
const originals = new Map<number, Promise<PGlite>>();

async function copyOf(original: Promise<PGlite>): Promise<MigrationTarget> {
  const database = (await (await original).clone()) as PGlite;
  open.push(database);
  return targetOn(database);
}

/** A database as an earlier release left it, with so many of its migrations. */
function earlierDatabase(count = earlier.length): Promise<MigrationTarget> {
  if (!originals.has(count)) originals.set(count, makeEarlier(count));
  return copyOf(originals.get(count)!);
}

async function makeEarlier(count: number): Promise<PGlite> {
  const database = await newDatabase();
  const target = targetOn(database);
  await target.run(`CREATE TABLE schema_migrations (
    name varchar(200) PRIMARY KEY, checksum varchar(64) NOT NULL, applied_at timestamptz(3) NOT NULL DEFAULT now())`);
  for (const migration of earlier.slice(0, count)) {
    await target.run(migration.sql);
    await target.query('INSERT INTO schema_migrations (name, checksum) VALUES ($1, $2)', [migration.name, migration.checksum]);
  }
  return database;
}

const catalogOf = async (target: MigrationTarget) =>
  (await target.query(SCHEMA_CATALOG)).map((row) => `${row.name}: ${row.definition}`);
const only = (some: string[], others: string[]) => some.filter((line) => !new Set(others).has(line));
const withTopic = (name: string, sql: string): SchemaFiles => ({
  ...files,
  topics: [
    ...files.topics.filter((topic) => topic.name !== name),
    { name, sql, checksum: createHash('sha256').update(sql).digest('hex') },
  ],
});

// Migrates several databases, which takes a busy machine minutes.
describe('a database of an earlier release', { timeout: 600_000 }, () => {
  test('the fixture is what the baseline replaces', () => {
    expect(Object.fromEntries(earlier.map(({ name, checksum }) => [name, checksum]))).toEqual(
      Object.fromEntries(files.replaced.checksums),
    );
  });

  test('ends with the schema of a new one', async () => {
    const upgraded = await earlierDatabase();
    const fresh = targetOn(await newDatabase());
    const topics = files.topics.map((topic) => `sql/${topic.name}`);
    const names = files.migrations.map((migration) => migration.name);
    expect(await applySchema(upgraded, files)).toEqual([...names, ...topics]);
    expect(await applySchema(fresh, files)).toEqual([...names, ...topics]);
    const [is, shall] = [await catalogOf(upgraded), await catalogOf(fresh)];
    expect({ onlyUpgraded: only(is, shall), onlyFresh: only(shall, is) }).toEqual({ onlyUpgraded: [], onlyFresh: [] });
    expect(shall.length).toBeGreaterThan(1500);
    for (const table of ['schema_migrations', 'schema_sql']) {
      const rows = (target: MigrationTarget) =>
        target.query(`SELECT to_jsonb(t) - 'applied_at' AS row FROM ${table} t ORDER BY name`);
      expect(await rows(upgraded)).toEqual(await rows(fresh));
    }
    for (const target of [upgraded, fresh]) expect(await applySchema(target, files)).toEqual([]);
  });

  test('keeps its rows, its counters and a correct ledger', async () => {
    const target = await earlierDatabase();
    await target.run(SAMPLE_ROWS);
    const rowsBefore = await rowsOf(target, (name) => name);
    // The functions of later migrations need their tables.
    await applySchema(target, { ...files, migrations: files.migrations.slice(0, 1), topics: [] });
    const renamed = new Map([
      ['user_stats', 'user_figures'],
      ['user_counters', 'user_tallies'],
      ['user_day_counters', 'user_day_tallies'],
      ['campaign_counters', 'campaign_tallies'],
      ['campaign_day_counters', 'campaign_day_tallies'],
      ['squad_counters', 'squad_tallies'],
      ['referrer_stats', 'referrer_figures'],
      ['referral_day_counters', 'referral_tallies'],
    ]);
    expect(await rowsOf(target, (name) => renamed.get(name) ?? name)).toEqual(rowsBefore);
    expect(rowsBefore).toMatchObject({
      users: { count: 3 },
      ledger_entries: { count: 6 },
      [renamed.get('user_stats')!]: { count: 3 },
    });
    // Later migrations add columns and counters, and fill them.
    await applySchema(target, files);
    for (const { name, maintained, counted } of COUNTERS) {
      expect([name, await target.query(maintained)]).toEqual([name, await target.query(counted)]);
    }
    expect(await target.query('SELECT * FROM ledger_check()')).toEqual([]);
    // Its triggers work and its sequences go on.
    const [user] = await target.query(
      "INSERT INTO users (messenger_id, referral_code, referred_by_id) VALUES (9, 'r9', 1) RETURNING id",
    );
    expect(user).toEqual({ id: 4 });
    expect(await target.query('SELECT sum(users)::int AS users FROM user_counters')).toEqual([{ users: 4 }]);
    expect(await target.query('SELECT referrals FROM referrer_stats WHERE user_id = 1')).toEqual([{ referrals: 2 }]);
  });

  test('answers repeated requests as before: stored answers have the names and timestamps of the domain', async () => {
    const target = await earlierDatabase();
    const stored = {
      value: {
        new_end_date: '2026-11-22T07:08:09.010Z',
        amount_paid_kopeks: 30_000,
        subscription: { end_date: '2026-11-22T07:08:09.010Z', servers: [{ country_code: null }], connected_squads: ['a_b'] },
        empty: [],
      },
    };
    const insert = (key: string, operation: string, response: object | null = stored) =>
      target.query(
        `INSERT INTO idempotency_keys (actor, key, operation, body_hash, response, created_at)
         VALUES ('user:1', '${key}', '${operation}', 'h', ${response ? `'${JSON.stringify(response)}'` : 'NULL'}, now()) RETURNING key`,
      );
    await insert('renewal', 'subscription.renew');
    await insert('other', 'balance.topup');
    await insert('balance', 'admin.users.change-balance', { value: { oldKopeks: 700, newKopeks: 200 } });
    await insert('a running one', 'admin.users.change-balance', null);
    await applySchema(target, files);
    const rows = await target.query('SELECT key, response FROM idempotency_keys ORDER BY key DESC');
    const endDate = new Date('2026-11-22T07:08:09.010Z');
    expect(rows[0]).toMatchObject({ key: 'renewal' });
    expect(fromStoredJson(rows[0]!.response)).toEqual({
      value: {
        newEndDate: endDate,
        amountPaidKopeks: 30_000,
        subscription: { endDate, servers: [{ countryCode: null }], connectedSquads: ['a_b'] },
        empty: [],
      },
    });
    expect(rows[1]).toMatchObject({ key: 'other', response: stored });
    expect(rows[2]).toEqual({ key: 'balance', response: { value: { oldBalanceKopeks: 700, newBalanceKopeks: 200 } } });
    expect(rows[3]).toEqual({ key: 'a running one', response: null });
  });

  test('is left alone and refused with a part of its migrations, with a changed one and with an unknown one', async () => {
    const target = await earlierDatabase(8);
    await expect(applySchema(target, files)).rejects.toThrow(
      'The database has 8 of the 26 migrations that 0001_baseline replaces. Start the previous release on it once',
    );
    expect(await target.query('SELECT count(*)::int AS count FROM schema_migrations')).toEqual([{ count: 8 }]);
    expect(await target.query("SELECT to_regclass('schema_sql') AS found")).toEqual([{ found: null }]);
    await target.run("UPDATE schema_migrations SET checksum = 'x' WHERE name = '0002_invariants'");
    await expect(applySchema(target, files)).rejects.toThrow('Migration 0002_invariants was changed after it had been applied');
    await target.run("UPDATE schema_migrations SET name = '9999_later' WHERE name = '0002_invariants'");
    await expect(applySchema(target, files)).rejects.toThrow(
      'The database has the migration 9999_later, which this release does not know',
    );
  });
});

/** A digest of the rows of each table; renamed columns do not matter, because only values are compared. */
async function rowsOf(target: MigrationTarget, nameOf: (table: string) => string): Promise<Record<string, unknown>> {
  const tables = await target.query(
    "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename NOT IN ('schema_migrations', 'schema_sql')",
  );
  const rows: Record<string, unknown> = {};
  for (const { name } of tables) {
    [rows[nameOf(String(name))]] = await target.query(
      `SELECT count(*)::int AS count, md5(coalesce(string_agg(v.values, ',' ORDER BY v.values), '')) AS digest FROM "${name}" t
       CROSS JOIN LATERAL (SELECT string_agg(coalesce(e.value, ''), '|' ORDER BY coalesce(e.value, '')) AS values
         FROM jsonb_each_text(to_jsonb(t)) e) v`,
    );
  }
  return rows;
}

const SAMPLE_ROWS = `
INSERT INTO users (messenger_id, referral_code, username) VALUES (1, 'r1', 'first'), (2, 'r2', 'second');
INSERT INTO users (messenger_id, referral_code, referred_by_id, has_made_first_topup) VALUES (3, 'r3', 1, true);
INSERT INTO tariffs (name) VALUES ('Basic');
SELECT post_transaction(1, 'deposit', 50000, 'provider_clearing', 'provider:sandbox', 'sandbox', 'ext-1', 'top-up', now());
SELECT post_transaction(3, 'deposit', 70000, 'provider_clearing', 'provider:sandbox', 'sandbox', 'ext-3', 'top-up', now());
SELECT post_transaction(3, 'subscription_payment', -20000, 'sales_revenue', 'sales:tariff', 'balance', NULL, 'sale', now());
INSERT INTO subscriptions (user_id, status, end_date, connected_squads, traffic_used_gb)
VALUES (3, 'active', now() + interval '30 days', '["a", "b"]', 1.5);
INSERT INTO advertising_campaigns (name, start_parameter, bonus_type) VALUES ('Autumn', 'autumn', 'none');
INSERT INTO advertising_campaign_registrations (campaign_id, user_id, bonus_type) VALUES (1, 3, 'none');
INSERT INTO account_merges (token_hash, primary_user_id, secondary_user_id, kept_subscription_of) VALUES ('x', 1, 2, 1);
UPDATE users SET has_had_paid_subscription = true WHERE id = 3;
INSERT INTO transaction_day_counts (day, type, payment_method, is_completed, total)
SELECT (created_at AT TIME ZONE 'UTC')::date, type, payment_method, is_completed, count(*) FROM transactions WHERE id <= 2 GROUP BY 1, 2, 3, 4;
INSERT INTO transaction_count_mark (id, through_id, seen_id) VALUES (1, 2, 2);
INSERT INTO polls (title) VALUES ('Poll');
INSERT INTO poll_sends (poll_id, target, made_up_to) VALUES (1, 'all', 7)`;

describe('a topic of prisma/sql', { timeout: 600_000 }, () => {
  let target: MigrationTarget;
  beforeAll(async () => {
    target = targetOn(await newDatabase());
    await applySchema(target, files);
  }, 120_000);

  const exists = (name: string) =>
    target.query(`SELECT p.oid::regprocedure::text AS name FROM pg_proc p WHERE proname = '${name}' ORDER BY 1`);

  test('is applied again when its text changes, and what it no longer creates is dropped', async () => {
    const first = withTopic(
      'sample',
      `CREATE OR REPLACE FUNCTION sample(p_a integer) RETURNS integer LANGUAGE sql AS 'SELECT 1';
       CREATE OR REPLACE FUNCTION sample_row() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
       CREATE OR REPLACE TRIGGER tariffs_sample BEFORE INSERT ON tariffs FOR EACH ROW EXECUTE FUNCTION sample_row();`,
    );
    await applySchema(target, first);
    // Not created by a topic: it stays.
    await target.run("CREATE FUNCTION sample_of_the_operator() RETURNS integer LANGUAGE sql AS 'SELECT 1'");
    const second = withTopic('sample', `CREATE OR REPLACE FUNCTION sample(p_a text) RETURNS integer LANGUAGE sql AS 'SELECT 2';`);
    expect(await applySchema(target, second)).toEqual(['sql/sample']);
    expect(await exists('sample')).toEqual([{ name: 'sample(text)' }]);
    expect(await exists('sample_row')).toEqual([]);
    expect(await target.query("SELECT tgname FROM pg_trigger WHERE tgname = 'tariffs_sample'")).toEqual([]);
    // Another return type and another name of a parameter cannot replace the function in place.
    const third = withTopic('sample', `CREATE OR REPLACE FUNCTION sample(p_b text) RETURNS text LANGUAGE sql AS 'SELECT p_b';`);
    expect(await applySchema(target, third)).toEqual(['sql/sample']);
    expect(await target.query("SELECT sample('x') AS answer")).toEqual([{ answer: 'x' }]);
    // A topic that the release no longer has.
    expect(await applySchema(target, files)).toEqual([]);
    expect(await exists('sample')).toEqual([]);
    expect(await exists('sample_of_the_operator')).toHaveLength(1);
    await target.run('DROP FUNCTION sample_of_the_operator()');
  });

  test('that fails leaves the database unchanged', async () => {
    const before = await catalogOf(target);
    const broken: SchemaFiles = {
      ...withTopic('sample', "CREATE OR REPLACE FUNCTION sample() RETURNS integer LANGUAGE sql AS 'SELECT 1'; SELECT 1 / 0;"),
      migrations: [...files.migrations, { name: '9999_later', sql: 'CREATE TABLE later (id integer)', checksum: 'x' }],
    };
    await expect(applySchema(target, broken)).rejects.toThrow('Topic sample of prisma/sql failed');
    expect(await catalogOf(target)).toEqual(before);
    expect(await applySchema(target, files)).toEqual([]);
  });

  test('is restored when a migration has dropped a part of it', async () => {
    const before = await catalogOf(target);
    const later = { name: '9999_later', sql: 'DROP FUNCTION count_users CASCADE', checksum: 'x' };
    const [first] = await applySchema(target, { ...files, migrations: [...files.migrations, later] });
    expect(first).toBe('9999_later');
    expect(await catalogOf(target)).toEqual(before);
    await target.run("DELETE FROM schema_migrations WHERE name = '9999_later'");
  });
});
