import { beforeAll, describe, expect, test } from 'vitest';
import { OWNED_COLUMNS } from '../../../src/domain/merge/owned-columns.ts';
import { IMPERSONAL_TABLES } from '../../../src/domain/personal-data/contact-tables.ts';
import { PERSONAL_TABLES } from '../../../src/domain/personal-data/person-tables.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let columnsOf: Map<string, string[]>;
let t: TestApp;
beforeAll(async () => {
  t = await testApp();
  const rows = await t.app.db.sql<{ tableName: string; columns: string[] }>(
    `SELECT table_name, to_jsonb(array_agg(column_name::text ORDER BY ordinal_position)) AS columns FROM information_schema.columns
     WHERE table_schema = 'public' AND table_name IN (SELECT tablename FROM pg_tables WHERE schemaname = 'public') GROUP BY table_name`,
  );
  columnsOf = new Map(rows.map(({ tableName, columns }) => [tableName, columns]));
});

const words = (text: string | undefined) => text?.split(' ') ?? [];

describe('the list of personal data', () => {
  test('has every table of the database, as personal or not', () => {
    const personal = new Set(PERSONAL_TABLES.map(({ table }) => table));
    const listed = [...personal, ...IMPERSONAL_TABLES];
    const existing = [...columnsOf.keys()];
    expect(
      existing.filter((table) => !listed.includes(table)),
      'say in src/domain/personal-data what is in it',
    ).toEqual([]);
    expect(listed.filter((table) => !existing.includes(table))).toEqual([]);
    expect(new Set(listed).size).toBe(listed.length);
  });

  test('says of every column of an exported table whether the archive has it', () => {
    const exported = PERSONAL_TABLES.filter((entry) => entry.exports !== undefined);
    expect(exported.length).toBeGreaterThan(30);
    // A table that stands for the rows of others, too, is listed a second time with fewer columns.
    for (const entry of exported.filter(({ name }) => name === undefined)) {
      const { secret, internal, ofOthers } = entry.withheld ?? {};
      const listed = [...words(entry.exports), ...words(secret), ...words(internal), ...words(ofOthers)];
      expect([...listed].sort(), entry.table).toEqual([...columnsOf.get(entry.table)!].sort());
    }
  });

  test('gives each table without an archive a reason, and each name of a file once', () => {
    for (const { table, exports, notExported } of PERSONAL_TABLES)
      expect((exports === undefined) === (notExported !== undefined), table).toBe(true);
    const names = PERSONAL_TABLES.filter((entry) => entry.exports !== undefined).map(({ name, table }) => name ?? table);
    expect(new Set(names).size).toBe(names.length);
  });

  test('exports no secret', () => {
    for (const { table, exports } of PERSONAL_TABLES)
      expect(
        words(exports).filter((column) => /password|secret|token|hash|public_key|crypto/.test(column)),
        table,
      ).toEqual([]);
  });

  test('knows every column that references a user', () => {
    const entryOf = (table: string, column: string) =>
      PERSONAL_TABLES.find((entry) => entry.table === table && new RegExp(`r\\.${column} = \\$user`).test(entry.of));
    const missing = OWNED_COLUMNS.filter(({ table, column }) => !entryOf(table, column)).map(
      ({ table, column }) => `${table}.${column}`,
    );
    expect(missing, 'say in src/domain/personal-data what an erasure does with them').toEqual([]);
  });

  test('clears columns that exist', () => {
    for (const { table, erasure } of PERSONAL_TABLES) {
      if (erasure.by !== 'clear') continue;
      expect(
        Object.keys(erasure.set).filter((column) => !columnsOf.get(table)!.includes(column)),
        table,
      ).toEqual([]);
    }
  });
});
