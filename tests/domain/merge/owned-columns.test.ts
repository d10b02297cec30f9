import { beforeAll, describe, expect, test } from 'vitest';
import { OWNED_COLUMNS } from '../../../src/domain/merge/owned-columns.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});

const listed = OWNED_COLUMNS.map(({ table, column }) => `${table}.${column}`).sort();

describe('the list of what a merge moves', () => {
  test('lists every foreign key to users, each once', async () => {
    const keys = await t.app.db.sql<{ name: string }>(
      `SELECT c.conrelid::regclass || '.' || a.attname AS name FROM pg_constraint c
         JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = ANY(c.conkey)
       WHERE c.contype = 'f' AND c.conparentid = 0 AND c.confrelid = 'users'::regclass ORDER BY 1`,
    );
    expect(keys.length).toBeGreaterThan(20);
    const missing = keys.map((key) => key.name).filter((name) => !listed.includes(name));
    expect(missing, 'say in owned-columns.ts what a merge does with them').toEqual([]);
    expect(new Set(listed).size).toBe(listed.length);
  });

  test('lists every column that references a user without a foreign key, and no column that does not exist', async () => {
    const columns = await t.app.db.sql<{ name: string }>(
      `SELECT table_name || '.' || column_name AS name FROM information_schema.columns
       WHERE table_schema = 'public' AND (column_name = 'user_id' OR column_name LIKE '%\\_user\\_id') ORDER BY 1`,
    );
    expect(columns.map((column) => column.name).filter((name) => !listed.includes(name))).toEqual([]);
    const all = await t.app.db.sql<{ name: string }>(
      `SELECT table_name || '.' || column_name AS name FROM information_schema.columns WHERE table_schema = 'public'`,
    );
    const existing = new Set(all.map((column) => column.name));
    expect(listed.filter((name) => !existing.has(name))).toEqual([]);
  });

  test('knows every unique key that a moved row could break', async () => {
    const rows = await t.app.db.sql<{ tableName: string; columns: string[] }>(
      `SELECT i.indrelid::regclass::text AS table_name,
         (SELECT coalesce(json_agg(a.attname ORDER BY a.attname), '[]') FROM pg_attribute a WHERE a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey)) AS columns
       FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE i.indisunique AND n.nspname = 'public'`,
    );
    const plainlyMoved = OWNED_COLUMNS.filter((owned) => owned.on === 'move');
    expect(plainlyMoved.length).toBeGreaterThan(10);
    for (const { table, column } of plainlyMoved) {
      const broken = rows.filter((row) => row.tableName === table && row.columns.includes(column));
      expect(broken, `${table}.${column} stands in a unique key: move_distinct`).toEqual([]);
    }
  });
});
