/** Spec 07 section 2: ids go on where the source's own end, which SQLite keeps in `sqlite_sequence` (hazard I13). */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { openSqliteSource } from '../../../src/integrations/import-sources/sqlite-source.ts';

/** The last ids that a file says, made by these statements. */
async function lastIds(statements: string): Promise<Record<string, number>> {
  const folder = await mkdtemp(join(tmpdir(), 'sqlite-last-ids-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'bot.db');
  const database = new DatabaseSync(path);
  database.exec(statements);
  database.close();
  const source = await openSqliteSource(path, new Date(0));
  try {
    expect([...source.tables.keys()]).toEqual(['tickets', 'users']);
    return Object.fromEntries(await source.lastIds());
  } finally {
    await source.close();
  }
}

// Raw SQL of this file: it makes SQLite files.
test('those of deleted rows count where the file keeps them', async () => {
  const found = await lastIds(`CREATE TABLE users (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT);
    CREATE TABLE tickets (id INTEGER PRIMARY KEY);
    INSERT INTO users (id) VALUES (1), (70001); DELETE FROM users WHERE id = 70001; INSERT INTO tickets (id) VALUES (9)`);
  expect(found).toEqual({ users: 70_001 });
});

test('a file without any says none', async () => {
  expect(await lastIds('CREATE TABLE users (id INTEGER PRIMARY KEY); CREATE TABLE tickets (id INTEGER PRIMARY KEY)')).toEqual({});
});
