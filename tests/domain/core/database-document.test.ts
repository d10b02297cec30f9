import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freshDatabase, type TestDatabase } from '../../support/test-database.ts';
import { COUNTERS } from './counter-table.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const page = (name: string): string => readFileSync(join(root, 'docs', name), 'utf8');

/** The cells of the table under a heading, without its head. */
function tableUnder(heading: string, document = page('schema.md')): string[][] {
  const section = document.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  const lines = section.split('\n').filter((line) => line.startsWith('|'));
  return lines.slice(2).map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim().replace(/^`(.*)`$/, '$1')),
  );
}

// Not the worker's database, to which other files may have added objects.
let database: TestDatabase;
beforeAll(async () => {
  database = await freshDatabase();
});
afterAll(async () => {
  await database.drop();
});

test('every table is listed with owners that exist', async () => {
  const rows = tableUnder('Tables by owner');
  const tables = await database.db.sql<{ name: string }>(
    'SELECT tablename::text AS name FROM pg_tables WHERE schemaname = \'public\' ORDER BY tablename COLLATE "C"',
  );
  expect(rows.map(([, table]) => table).sort()).toEqual(tables.map(({ name }) => name));
  const owners = new Set(['core', ...readdirSync(join(root, 'src', 'domain'))]);
  expect(rows.flatMap(([names]) => names!.split(', ')).filter((owner) => !owners.has(owner))).toEqual([]);
});

test('every trigger is listed with its table, its event and its function', async () => {
  const rows = tableUnder('Triggers').map(([table, name, when, action]) => [table, name, when, action]);
  const triggers = await database.db.sql<{ line: string[] }>(
    `SELECT ARRAY[c.relname::text, t.tgname::text,
       CASE WHEN t.tgtype::int & 2 > 0 THEN 'before ' ELSE 'after ' END || concat_ws(' or ',
         CASE WHEN t.tgtype::int & 4 > 0 THEN 'insert' END, CASE WHEN t.tgtype::int & 16 > 0 THEN 'update' END,
         CASE WHEN t.tgtype::int & 8 > 0 THEN 'delete' END, CASE WHEN t.tgtype::int & 32 > 0 THEN 'truncate' END)
       || CASE WHEN t.tgtype::int & 1 > 0 THEN '' ELSE ', by statement' END, p.proname::text] AS line
     FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_proc p ON p.oid = t.tgfoid
     WHERE NOT t.tgisinternal AND c.relnamespace = 'public'::regnamespace`,
  );
  expect(rows.map(String).sort()).toEqual(triggers.map(({ line }) => String(line)).sort());
});

test('every function is listed', async () => {
  const rows = tableUnder('Functions');
  const functions = await database.db.sql<{ name: string }>(
    `SELECT proname::text AS name FROM pg_proc p WHERE pronamespace = 'public'::regnamespace
       AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e') ORDER BY proname COLLATE "C"`,
  );
  expect(rows.map(([name]) => name).sort()).toEqual(functions.map(({ name }) => name));
});

test('every maintained counter is listed and recounted by the test of all counters', () => {
  const rows = tableUnder('Maintained counters', page('database.md')).map(([name, , , recount]) => ({
    name,
    recount: recount?.startsWith('none') ? null : recount,
  }));
  expect(rows).toEqual(COUNTERS.map(({ name, recount }) => ({ name, recount })));
});
