/** Spec 07 sections 2 and 9: after an import the schema is as before, and ids go on where those of the source end (hazards I13, I31). */
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { anEmptyService, importFrom, makeSource, SOURCE_TIME } from '../../support/import-sources.ts';
import { emptyDatabaseOnServer, serverUrl } from '../../support/test-database.ts';

/** Enough users for indexes of the large tables to be dropped and built. */
const USERS = '400';

/** Every key, check, index, trigger, column and table option of the service, with their states. */
async function schemaOf({ db }: App): Promise<Record<string, string[]>> {
  const ours = (column: string) => `${column} IN (SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace)`;
  const queries = {
    constraints: `SELECT concat_ws(' ', conrelid::regclass, conname, contype, convalidated, condeferrable, condeferred, confupdtype, confdeltype, pg_get_constraintdef(oid)) AS line
      FROM pg_constraint WHERE ${ours('conrelid')}`,
    indexes: `SELECT concat_ws(' ', pg_get_indexdef(indexrelid), indisvalid, indisready, indislive, indisunique, indisprimary, indisclustered, indisreplident, indimmediate) AS line
      FROM pg_index WHERE ${ours('indrelid')}`,
    // Those of foreign keys have names with numbers.
    triggers: `SELECT concat_ws(' ', tgrelid::regclass, tgenabled, tgisinternal, CASE WHEN tgisinternal THEN tgfoid::regproc::text ELSE pg_get_triggerdef(oid) END) AS line
      FROM pg_trigger WHERE ${ours('tgrelid')}`,
    columns: `SELECT concat_ws(' ', attrelid::regclass, attnum, attname, format_type(atttypid, atttypmod), attnotnull, attidentity, attgenerated, attstattarget, attstorage) AS line
      FROM pg_attribute WHERE attnum > 0 AND ${ours('attrelid')}`,
    tables: `SELECT concat_ws(' ', relname, relkind, relpersistence, relrowsecurity, reloptions::text, obj_description(oid, 'pg_class')) AS line
      FROM pg_class WHERE relnamespace = 'public'::regnamespace`,
  };
  const found: Record<string, string[]> = {};
  for (const [name, query] of Object.entries(queries)) {
    const rows = await db.sql<{ line: string }>(`${query} ORDER BY 1`);
    expect(rows.length, name).toBeGreaterThan(50);
    found[name] = rows.map(({ line }) => line);
  }
  return found;
}

/** Sequences of ids that would give one of a row again. */
async function sequencesBehind({ db }: App): Promise<string[]> {
  const owned = await db.sql<{ table: string; column: string }>(
    `SELECT c.relname AS table, a.attname AS column FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND pg_get_serial_sequence('public.' || quote_ident(c.relname), a.attname) IS NOT NULL ORDER BY 1`,
  );
  expect(owned.length).toBeGreaterThan(50);
  const behind: string[] = [];
  for (const { table, column } of owned) {
    const [row] = await db.sql<{ isBehind: boolean }>(
      `SELECT coalesce((SELECT max("${column}") FROM public."${table}") > coalesce(pg_sequence_last_value(pg_get_serial_sequence('public."${table}"', '${column}')::regclass), 0), false) AS is_behind`,
    );
    if (row!.isBehind) behind.push(table);
  }
  return behind;
}

/** The source has given ids to rows that are deleted. */
const FURTHER = { users: 70_001, tickets: 4_200, transactions: 60_000 };

async function aSource(): Promise<string> {
  const source = await emptyDatabaseOnServer();
  onTestFinished(() => source.drop());
  await makeSource(source.url, ['--users', USERS, '--now', SOURCE_TIME.toISOString()]);
  const client = new pg.Client({ connectionString: source.url });
  await client.connect();
  for (const [table, last] of Object.entries(FURTHER)) await client.query(`SELECT setval('public.${table}_id_seq', ${last})`);
  await client.end();
  return source.url;
}

async function lastIdsOf({ db }: App): Promise<Record<string, number>> {
  const values = Object.keys(FURTHER).map(
    (table) => `pg_sequence_last_value('public.${table}_id_seq'::regclass)::int AS ${table}`,
  );
  const [row] = await db.sql<Record<string, number>>(`SELECT ${values.join(', ')}`);
  return row!;
}

describe.skipIf(!serverUrl)('an import (left out without a server)', () => {
  test('leaves every key, check, index, trigger and column as the migrations made them', async () => {
    const url = await aSource();
    const { app, drop } = await anEmptyService();
    onTestFinished(drop);
    const before = await schemaOf(app);
    await importFrom(app, url);
    expect(await schemaOf(app)).toEqual(before);
    await importFrom(app, url, { isDelta: true });
    expect(await schemaOf(app)).toEqual(before);
  });

  test('continues the ids of the source, though they are further than all rows', async () => {
    const url = await aSource();
    const { app, drop } = await anEmptyService();
    onTestFinished(drop);
    await importFrom(app, url);
    expect(await sequencesBehind(app)).toEqual([]);
    const last = await lastIdsOf(app);
    expect(last).toMatchObject({ users: FURTHER.users, tickets: FURTHER.tickets });
    expect(last.transactions).toBeGreaterThanOrEqual(FURTHER.transactions);
  });
});
