/** An upgrade beside others who read a table for long: it does not stop those who read beside them (docs/operations.md#upgrade). */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ApplyOptions, applySchema } from '../../src/core/db/migrate.ts';
import { emptyDatabaseOnServer } from '../support/test-database.ts';

let database: { url: string; drop(): Promise<void> };
const open: pg.Client[] = [];
beforeAll(async () => {
  database = await emptyDatabaseOnServer();
});
afterAll(async () => {
  for (const client of open) await client.end();
  await database.drop();
});

async function connected(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  open.push(client);
  return client;
}

const MIGRATIONS = [
  'CREATE TABLE plans (id int)',
  'ALTER TABLE plans ADD COLUMN days int',
  'ALTER TABLE plans ADD COLUMN price int',
];

/** To the release with so many migrations. */
async function upgrade(count: number, options: ApplyOptions = {}): Promise<string[]> {
  const client = await connected();
  const target = {
    run: async (sql: string) => void (await client.query(sql)),
    query: async (sql: string, values?: unknown[]) => (await client.query(sql, values)).rows as Record<string, unknown>[],
  };
  const migrations = MIGRATIONS.slice(0, count).map((sql, index) => ({ name: `000${index + 1}`, sql, checksum: `${index}` }));
  const files = { migrations, replaced: { checksums: new Map<string, string>(), upgradeSql: '' }, topics: [] };
  return applySchema(target, files, { lockWaitMs: 200, pauseMs: 0, ...options });
}

/** Somebody who has read the table in a transaction that goes on. */
async function aLongReport(): Promise<pg.Client> {
  const report = await connected();
  await report.query('BEGIN');
  await report.query('SELECT count(*) FROM plans');
  return report;
}

describe('an upgrade', { shuffle: false }, () => {
  test('waits for the lock of a table in short tries, between which others read it', async () => {
    expect(await upgrade(1)).toEqual(['0001']);
    const report = await aLongReport();
    const other = await connected();
    let repeats = 0;
    const onRepeat = async () => {
      repeats += 1;
      // Would wait for the report, too, if the upgrade still waited for its lock.
      await other.query('SELECT count(*) FROM plans');
      if (repeats === 2) await report.query('COMMIT');
    };
    expect(await upgrade(2, { onRepeat })).toEqual(['0002']);
    expect(repeats).toBe(2);
  });

  test('fails where it is not to begin again, and leaves the database unchanged', async () => {
    const report = await aLongReport();
    await expect(upgrade(3)).rejects.toMatchObject({ message: 'Migration 0003 failed', cause: { code: '55P03' } });
    const applied = await report.query('SELECT name FROM schema_migrations ORDER BY name');
    expect(applied.rows.map((row) => row.name)).toEqual(['0001', '0002']);
  });
});
