import { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { embeddedVacuum } from '../../../src/core/db/open-embedded.ts';

// Raw SQL of this file: its tables are in a database without the schema.
let database: PGlite;
beforeAll(async () => {
  database = await PGlite.create();
});
beforeEach(async () => {
  await database.exec(`DROP TABLE IF EXISTS updated, untouched; DROP SCHEMA IF EXISTS "Other" CASCADE;
    CREATE TABLE updated (id int PRIMARY KEY, n int); CREATE TABLE untouched (id int);
    CREATE SCHEMA "Other"; CREATE TABLE "Other"."Filled" (id int);
    INSERT INTO updated SELECT n, 0 FROM generate_series(1, 1000) n; INSERT INTO untouched SELECT n FROM generate_series(1, 40) n`);
});
afterAll(() => database.close());

const { signal } = new AbortController();
const pagesOf = async (table: string) => {
  const { rows } = await database.query<{ pages: number }>(`SELECT pg_relation_size($1::regclass)::int / 8192 AS pages`, [table]);
  return rows[0]!.pages;
};
const updateAll = () => database.exec('UPDATE updated SET n = n + 1');

test('the embedded database reuses the space of updated rows, as a server does by autovacuum', async () => {
  const vacuum = embeddedVacuum(database);
  expect(await vacuum(signal)).toEqual(['public.updated']);
  await updateAll();
  await vacuum(signal);
  const pages = await pagesOf('updated');
  for (let round = 0; round < 10; round++) {
    await updateAll();
    expect(await vacuum(signal)).toEqual(['public.updated']);
  }
  // Ten times as many without it.
  expect(await pagesOf('updated')).toBeLessThan(2 * pages);
  expect(await vacuum(signal)).toEqual([]);
});

test('its plans follow the present size of a table, whatever its name', async () => {
  // What another test has left to do.
  await embeddedVacuum(database)(signal);
  await database.exec('INSERT INTO "Other"."Filled" SELECT n FROM generate_series(1, 5000) n');
  expect(await embeddedVacuum(database)(signal)).toEqual(['"Other"."Filled"']);
  const { rows } = await database.query<{ n: number }>(`SELECT reltuples::int AS n FROM pg_class WHERE relname = 'Filled'`);
  expect(rows).toEqual([{ n: 5_000 }]);
});

test('it waits for an open transaction, and stops between two tables when it is asked to', async () => {
  const vacuum = embeddedVacuum(database);
  await updateAll();
  const order: string[] = [];
  const open = database.transaction(async (tx) => {
    for (let statement = 0; statement < 5; statement++) await tx.query('SELECT 1');
    order.push('committed');
  });
  await Promise.all([open, vacuum(signal).then((tables) => order.push(...tables))]);
  expect(order).toEqual(['committed', 'public.updated']);
  await updateAll();
  expect(await vacuum(AbortSignal.abort())).toEqual([]);
});
