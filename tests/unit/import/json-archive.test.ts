/** Spec 07 section 1.2: backups that the bot has made without pg_dump (hazard I22). */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ImportSource, rowsOf } from '../../../src/domain/import/import-source.ts';
import { columnsRead, recogniseSource } from '../../../src/domain/import/source-revision.ts';
import { openArchiveSource } from '../../../src/integrations/import-sources/archive-source.ts';
import { tarOf } from '../../support/tar-members.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'json-archive-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A row of a table of v3.29 with every column that the import reads. */
const aRow = (table: string, values: Record<string, unknown>) => ({
  ...Object.fromEntries([...columnsRead(37)].filter(([name]) => name === table).map(([, column]) => [column, null])),
  ...values,
});

const timestamp = '2026-11-27T22:00:00';
const users = [
  aRow('users', { id: 1, telegram_id: 7_000_000_001, first_name: 'Ан\tна\\' }),
  aRow('users', { id: 2, email_verified: true }),
];

/** @param text the file, or what is written as JSON */
async function opened(text: unknown, name = 'backup.json'): Promise<ImportSource> {
  const path = join(folder, name);
  const content = Buffer.from(typeof text === 'string' ? text : JSON.stringify(text));
  if (!name.includes('.tar')) await writeFile(path, /gz$/.test(name) ? gzipSync(content) : content);
  else {
    const members = tarOf([
      ['metadata.json', Buffer.from(JSON.stringify({ timestamp: '2026-11-27T23:00:00Z' }))],
      ['database.json', content],
    ]);
    await writeFile(path, gzipSync(members));
  }
  return openArchiveSource(path, true);
}

/** All rows of one table, with some columns. */
async function rowsIn(source: ImportSource, table: string, columns: readonly string[]): Promise<(string | null)[][]> {
  const rows: (string | null)[][] = [];
  for await (const content of source.contents())
    if (content.table.name === table)
      for await (const row of rowsOf(content, columns)) rows.push(columns.map((column) => row[column]!));
  return rows;
}

describe('a backup as JSON', () => {
  test.each(['backup.json', 'backup.json.gz', 'backup.tar.gz'])('%s is read as rows of its tables', async (name) => {
    const associations = { server_squad_promo_groups: [{ server_squad_id: 1, promo_group_id: 2 }] };
    const source = await opened({ metadata: { version: 'orm-1.0', timestamp }, data: { polls: [], users }, associations }, name);
    const madeAt = name.includes('.tar') ? '2026-11-27T23:00:00.000Z' : '2026-11-27T22:00:00.000Z';
    expect([source.kind, source.isIncomplete, source.snapshotAt.toISOString()]).toEqual(['archive', true, madeAt]);
    expect([...(await source.expectedRows())]).toEqual([
      ['users', 2],
      ['server_squad_promo_groups', 1],
    ]);
    expect(await rowsIn(source, 'users', ['id', 'telegram_id', 'first_name', 'email_verified'])).toEqual([
      ['1', '7000000001', 'Ан\tна\\', null],
      ['2', null, null, 't'],
    ]);
    expect(await rowsIn(source, 'server_squad_promo_groups', ['promo_group_id'])).toEqual([['2']]);
  });

  test.each([
    ['nothing newer', {}, '0037'],
    ['a tariff that can be hidden in gifts', { tariffs: [aRow('tariffs', { id: 1, show_in_gift: true })] }, '0038'],
    ['links of subscriptions to the panel', { subscriptions: [aRow('subscriptions', { id: 1, remnawave_uuid: null })] }, '0050'],
  ])('with %s is of the revision that this came with', async (_name, data, revision) => {
    const source = await opened({ metadata: { timestamp }, data: { users, ...data } });
    expect((await recogniseSource(source)).text).toBe(revision);
  });

  test('whose table lacks a column that it must have is refused', async () => {
    const source = await opened({ metadata: { timestamp }, data: { users, tickets: [{ id: 1 }] } });
    await expect(recogniseSource(source)).rejects.toMatchObject({ code: 'source_schema_damaged' });
  });

  const whole = JSON.stringify({ metadata: { timestamp }, data: { users } });
  test.each([
    ['ends in the middle', whole.slice(0, -20)],
    ['is no JSON', 'COPY public.users (id) FROM stdin;'],
    ['has a table twice', whole.replace('"users":[', '"users":[{"id":1}],"polls":[{"id":1}],"users":[')],
    ['has a name that is no name', { metadata: { timestamp }, data: { users: [{ 'id) FROM stdin;\n\\.\nDROP': 1 }] } }],
    ['does not say when it was made', { metadata: {}, data: { users } }],
  ])('that %s is refused', async (_name, text) => {
    await expect(opened(text)).rejects.toMatchObject({ code: 'source_unreadable' });
  });

  test('that unpacks to more than it may is refused', async () => {
    const row = JSON.stringify(aRow('users', { id: 1, first_name: 'x'.repeat(1_000_000) }));
    const rows = Array.from({ length: 70 }, () => row).join(',');
    const text = `{"metadata":{"timestamp":"${timestamp}"},"data":{"users":[${rows}]}}`;
    await expect(opened(text, 'backup.json.gz')).rejects.toMatchObject({ code: 'source_unreadable' });
  });

  test('is refused without the word of the operator', async () => {
    const path = join(folder, 'refused.json');
    await writeFile(path, whole);
    await expect(openArchiveSource(path)).rejects.toMatchObject({ code: 'backup_incomplete' });
  });
});
