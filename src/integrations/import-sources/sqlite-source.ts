import { stat } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { quote } from '../../domain/backups/row-format.ts';
import {
  type ColumnFamily,
  ImportRefused,
  type ImportSource,
  lineOfValues,
  type SourceTable,
  type TableContent,
} from '../../domain/import/import-source.ts';

/** Rows that are made text at once. */
const CHUNK_ROWS = 1_000;

/** Declared types of SQLite are free text. */
const FAMILIES: readonly [pattern: RegExp, family: ColumnFamily][] = [
  [/BOOL/i, 'boolean'],
  [/JSON/i, 'json'],
  [/INT/i, 'integer'],
  [/CHAR|TEXT|CLOB|UUID/i, 'text'],
  [/DATE|TIME/i, 'time'],
  [/REAL|FLOA|DOUB|NUMERIC|DECIMAL/i, 'number'],
];

/**
 * A source in a SQLite file, opened to read only and as one that nobody changes.
 * @throws ImportRefused `source_not_found`, `source_in_use` while a bot has written what is not in the file yet, `source_unreadable`
 */
export async function openSqliteSource(path: string, snapshotAt: Date): Promise<ImportSource> {
  const size = (file: string) =>
    stat(file).then(
      (found) => found.size,
      () => null,
    );
  if ((await size(path)) === null) throw new ImportRefused('source_not_found', `There is no file ${path}.`);
  if (((await size(`${path}-wal`)) ?? 0) > 0)
    throw new ImportRefused('source_in_use', `${path}-wal holds changes that are not in the file yet. Stop the bot first.`);
  const url = pathToFileURL(path);
  url.searchParams.set('immutable', '1');
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(url, { readOnly: true });
    const tables = readTables(database);
    const open = database;
    return {
      kind: 'sqlite',
      snapshotAt,
      tables,
      contents: async function* () {
        for (const table of tables.values()) yield contentOf(open, table);
      },
      expectedRows: async () => new Map([...tables.keys()].map((name) => [name, countRows(open, name)])),
      lastIds: async () => lastIdsOf(open),
      close: async () => open.close(),
    };
  } catch (error) {
    database?.close();
    throw new ImportRefused('source_unreadable', `${path} is no SQLite database, or a damaged one.`, { cause: error });
  }
}

function readTables(database: DatabaseSync): Map<string, SourceTable> {
  const names = database.prepare(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
  );
  return new Map(
    names.all().map((row) => {
      const name = String(row.name);
      const columns = database.prepare(`PRAGMA table_info(${quote(name)})`).all();
      return [
        name,
        { name, columns: columns.map((column) => ({ name: String(column.name), family: familyOf(String(column.type)) })) },
      ];
    }),
  );
}

function familyOf(type: string): ColumnFamily {
  return FAMILIES.find(([pattern]) => pattern.test(type))?.[1] ?? 'other';
}

const countRows = (database: DatabaseSync, table: string) =>
  Number(database.prepare(`SELECT count(*) AS rows FROM ${quote(table)}`).get()!.rows);

/** Only tables with AUTOINCREMENT have one. */
function lastIdsOf(database: DatabaseSync): Map<string, number> {
  const kept = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence'").get();
  const rows = kept === undefined ? [] : database.prepare('SELECT name, seq FROM sqlite_sequence').all();
  return new Map(rows.map(({ name, seq }) => [String(name), Number(seq)]));
}

function contentOf(database: DatabaseSync, table: SourceTable): TableContent {
  return {
    table,
    lines: async function* () {
      const statement = database.prepare(`SELECT * FROM ${quote(table.name)}`);
      // Ids of the messenger are larger than a double holds.
      statement.setReadBigInts(true);
      let lines: string[] = [];
      for (const row of statement.iterate()) {
        lines.push(lineOfValues(table.columns.map(({ name, family }) => textOf(row[name], family))));
        if (lines.length < CHUNK_ROWS) continue;
        yield Buffer.from(lines.join(''));
        lines = [];
      }
      if (lines.length > 0) yield Buffer.from(lines.join(''));
    },
    count: async () => countRows(database, table.name),
  };
}

/** As PostgreSQL writes the value; booleans are 0 and 1 in SQLite. */
function textOf(value: unknown, family: ColumnFamily): string | null {
  if (value === null || value === undefined) return null;
  if (family === 'boolean') return value === 0n || value === '0' || value === 'false' ? 'f' : 't';
  return value instanceof Uint8Array ? `\\x${Buffer.from(value).toString('hex')}` : String(value);
}
