/** Spec 07 section 1.1: which revisions are accepted. */
import { expect, test } from 'vitest';
import { ImportRefused, type ImportSource, lineOfValues, type SourceTable } from '../../../src/domain/import/import-source.ts';
import { columnsRead, recogniseSource } from '../../../src/domain/import/source-revision.ts';

/** A source with every column that is read at a revision and no row but its own version. */
function sourceAt(revision: string | null, kind: ImportSource['kind'] = 'postgresql'): ImportSource {
  const tables = new Map<string, SourceTable>();
  for (const [table, column, family] of columnsRead(Number(revision) || 45)) {
    const { columns } = tables.get(table) ?? { columns: [] };
    tables.set(table, { name: table, columns: [...columns, { name: column, family }] });
  }
  if (revision !== null)
    tables.set('alembic_version', { name: 'alembic_version', columns: [{ name: 'version_num', family: 'text' }] });
  return {
    kind,
    snapshotAt: new Date(0),
    tables,
    expectedRows: async () => new Map(),
    lastIds: async () => new Map(),
    close: async () => undefined,
    contents: async function* () {
      for (const table of tables.values()) {
        const text = table.name === 'alembic_version' ? lineOfValues([revision]) : '';
        yield {
          table,
          count: async () => 0,
          lines: async function* () {
            yield Buffer.from(text);
          },
        };
      }
    },
  };
}

test.each([
  ['0037', 'v3.29 to v3.38'],
  ['0044', 'v3.29 to v3.38'],
  ['0045', 'v3.39 to v3.41'],
  ['0049', 'v3.42'],
  ['0050', 'v3.43 to v3.67'],
  ['0104', 'v4.0 to v4.1'],
  ['0106', 'v4.0 to v4.1'],
])('revision %s is accepted as %s', async (revision, releases) => {
  expect(await recogniseSource(sourceAt(revision))).toMatchObject({ text: revision, releases });
});

test.each([
  [null, 'source_too_old'],
  ['0001', 'source_too_old'],
  ['0036', 'source_too_old'],
  ['0000', 'source_revision_unknown'],
  ['0107', 'source_revision_unknown'],
  ['g5b6c7d8e9f0', 'source_revision_unknown'],
])('revision %s is refused as %s', async (revision, code) => {
  await expect(recogniseSource(sourceAt(revision))).rejects.toMatchObject({ code });
});

test.each([null, '0020'])('a SQLite file of revision %s is refused with the way through PostgreSQL', async (revision) => {
  await expect(recogniseSource(sourceAt(revision, 'sqlite'))).rejects.toMatchObject({ code: 'source_sqlite_too_old' });
});

test('a database without users is none of the bot', async () => {
  const source = { ...sourceAt('0045'), tables: new Map() };
  await expect(recogniseSource(source)).rejects.toThrow(/no database of the bot/);
});

test('a column of a later revision is missed from that revision on', async () => {
  const without = (revision: string) => {
    const source = sourceAt(revision);
    const tables = new Map(source.tables);
    const table = tables.get('subscriptions')!;
    tables.set('subscriptions', { ...table, columns: table.columns.filter(({ name }) => name !== 'remnawave_uuid') });
    return { ...source, tables };
  };
  expect((await recogniseSource(without('0049'))).number).toBe(49);
  const refused = await recogniseSource(without('0050')).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(ImportRefused);
  expect(refused).toMatchObject({ code: 'source_schema_damaged', details: { faults: ['subscriptions.remnawave_uuid'] } });
});
