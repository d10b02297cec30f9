import type { CopyIn } from '../../core/db/database.ts';
import type { SqlRunner } from '../../core/db/db.ts';
import { quote } from '../backups/row-format.ts';
import { type ImportWatch, RowPace, requireGoing, watchedLines } from './import-progress.ts';
import { type ColumnFamily, ImportRefused, type ImportSource, type SourceTable, type TableContent } from './import-source.ts';
import { columnsRead, type SourceRevision } from './source-revision.ts';

/** Schema of the loaded source: its tables under their own names, in the types of `TYPES`. Dropped at the end of a run. */
export const SOURCE_SCHEMA = 'import_source';

const TYPES: Readonly<Record<string, string>> = {
  ...{ integer: 'bigint', number: 'float8', boolean: 'boolean', time: 'timestamptz' },
  ...{ text: 'text', json: 'json', other: 'text' },
};

/** Technical logs of the source; they are loaded only where the operator wants to keep them. */
const LOGS = new Set(['monitoring_logs']);

interface LoadOptions {
  revision: SourceRevision;
  withLogs: boolean;
  /** Rows a second at most, so that a source in use is not loaded hard; null = as fast as it goes. */
  throttle: number | null;
  /** Null: nobody waits for it. */
  watch: ImportWatch | null;
}

/** A table that was loaded; `dropped` rows were counted only. */
export interface LoadedTable {
  name: string;
  rows: number;
  isDropped: boolean;
}

/**
 * Copies every table of a source into `import_source` (spec 07 section 9). In the transaction of the caller: the rows are of one time, so that a
 * load that was interrupted begins again. Columns that the import reads get their type, all others stay texts; tables and columns that the
 * revision does not have are there and empty.
 * @throws ImportRefused `unmapped_value` where a value is none of its column's type; ImportStopped
 */
export async function loadSource(
  sql: SqlRunner,
  copyIn: CopyIn,
  source: ImportSource,
  options: LoadOptions,
): Promise<LoadedTable[]> {
  await sql(`DROP SCHEMA IF EXISTS ${SOURCE_SCHEMA} CASCADE`);
  await sql(`CREATE SCHEMA ${SOURCE_SCHEMA}`);
  await sql("SET LOCAL TIME ZONE 'UTC'");
  await sql("SET LOCAL datestyle TO 'ISO, YMD'");
  for (const statement of VALUE_FUNCTIONS) await sql(statement);
  // The newest revision's columns: what an older source does not have is null.
  const families = new Map<string, Map<string, ColumnFamily>>();
  for (const [table, column, family] of columnsRead(Number.POSITIVE_INFINITY)) {
    if (!families.has(table)) families.set(table, new Map());
    families.get(table)!.set(column, family);
  }
  const loaded: LoadedTable[] = [];
  const { watch } = options;
  const pace = new RowPace(options.throttle, performance.now());
  const all = watch === null ? 0 : sumOf(await source.expectedRows());
  let done = 0;
  for await (const content of source.contents()) {
    const { name } = content.table;
    if (name === 'alembic_version') continue;
    requireGoing(watch?.signal);
    if (LOGS.has(name) && !options.withLogs) {
      loaded.push({ name, rows: await content.count(), isDropped: true });
      continue;
    }
    let ofTable = 0;
    const onRows = (count: number) => {
      ofTable += count;
      done += count;
      watch?.position({ phase: 'loading', part: name, rows: ofTable, done, all: Math.max(all, done) });
    };
    onRows(0);
    const lines = () => watchedLines(content.lines(), { pace, signal: watch?.signal, onRows });
    const rows = await loadTable(
      sql,
      copyIn,
      { table: content.table, lines },
      {
        families: families.get(name) ?? new Map(),
        isTyped: source.kind === 'postgresql',
      },
    );
    loaded.push({ name, rows, isDropped: false });
    watch?.progress(`${name}: ${rows} rows`);
  }
  for (const [name, columns] of families) {
    if (source.tables.has(name)) continue;
    const list = [...columns].map(([column, family]) => `${quote(column)} ${TYPES[family!]}`);
    await sql(`CREATE UNLOGGED TABLE ${relation(name)} (${list.join(', ')})`);
  }
  await sql(`ANALYZE ${[...families.keys()].map(relation).join(', ')}`);
  return loaded;
}

const sumOf = (counts: ReadonlyMap<string, number>) => [...counts.values()].reduce((sum, count) => sum + count, 0);

const relation = (table: string) => `${SOURCE_SCHEMA}.${quote(table)}`;

interface TableOptions {
  families: ReadonlyMap<string, ColumnFamily>;
  /** The source's server has checked the values: they are loaded as what they are. */
  isTyped: boolean;
}

async function loadTable(
  sql: SqlRunner,
  copyIn: CopyIn,
  { table, lines }: Pick<TableContent, 'table' | 'lines'>,
  { families, isTyped }: TableOptions,
): Promise<number> {
  const typeOf = (column: string) => TYPES[families.get(column) ?? 'text']!;
  const present = new Set(table.columns.map(({ name }) => name));
  const columns = [...present, ...[...families.keys()].filter((name) => !present.has(name))];
  const names = table.columns.map(({ name }) => quote(name)).join(', ');
  await sql(
    `CREATE UNLOGGED TABLE ${relation(table.name)} (${columns.map((name) => `${quote(name)} ${typeOf(name)}`).join(', ')})`,
  );
  if (isTyped) {
    await copyIn(`COPY ${relation(table.name)} (${names}) FROM STDIN`, lines());
  } else {
    const raw = relation(`~${table.name}`);
    await sql(`CREATE UNLOGGED TABLE ${raw} (${table.columns.map(({ name }) => `${quote(name)} text`).join(', ')})`);
    await copyIn(`COPY ${raw} (${names}) FROM STDIN`, lines());
    await requireReadable(sql, raw, table, typeOf);
    const values = table.columns.map(({ name }) => readValue(quote(name), typeOf(name)));
    await sql(`INSERT INTO ${relation(table.name)} (${names}) SELECT ${values.join(', ')} FROM ${raw}`);
    await sql(`DROP TABLE ${raw}`);
  }
  const [counted] = await sql<{ rows: number }>(`SELECT count(*) AS rows FROM ${relation(table.name)}`);
  return counted!.rows;
}

const READERS: Readonly<Record<string, string>> = {
  ...{ bigint: 'read_integer', float8: 'read_number', boolean: 'read_boolean' },
  ...{ timestamptz: 'read_time', json: 'read_json' },
};

function readValue(column: string, type: string): string {
  const reader = READERS[type];
  return reader ? `${SOURCE_SCHEMA}.${reader}(${column})` : column;
}

/** SQLite holds anything in any column, and a dump says nothing of its types. */
async function requireReadable(
  sql: SqlRunner,
  raw: string,
  table: SourceTable,
  typeOf: (column: string) => string,
): Promise<void> {
  const checked = table.columns.filter(({ name }) => READERS[typeOf(name)]);
  if (checked.length === 0) return;
  const faults = checked.map(({ name }) => {
    const column = quote(name);
    return `count(*) FILTER (WHERE ${column} IS NOT NULL AND ${readValue(column, typeOf(name))} IS NULL) AS ${column}`;
  });
  const [found] = await sql<Record<string, number>>(
    `SELECT (SELECT jsonb_object_agg(key, value) FROM jsonb_each_text(to_jsonb(f)) WHERE value <> '0') AS faults FROM (SELECT ${faults.join(', ')} FROM ${raw}) f`,
  );
  const unreadable = found!.faults as unknown as Record<string, string> | null;
  if (unreadable === null) return;
  const columns = Object.entries(unreadable).map(([column, rows]) => `${table.name}.${column} (${rows})`);
  throw new ImportRefused(
    'unmapped_value',
    `Values are none of their columns' types: ${columns.join(', ')}. Correct these rows in the bot's database, or report them to us.`,
    { details: { columns } },
  );
}

/** Texts of SQLite files and dumps as values; null where they are none (spec 07 section 3). */
const VALUE_FUNCTIONS = [
  `CREATE FUNCTION ${SOURCE_SCHEMA}.read_integer(v text) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
     SELECT CASE WHEN v ~ '^\\s*[+-]?\\d{1,18}\\s*$' THEN v::bigint WHEN v ~ '^\\s*[+-]?\\d{1,18}\\.0*\\s*$' THEN v::numeric::bigint END $$`,
  `CREATE FUNCTION ${SOURCE_SCHEMA}.read_number(v text) RETURNS float8 LANGUAGE sql IMMUTABLE AS $$
     SELECT CASE WHEN v ~* '^\\s*[+-]?((\\d+\\.?\\d*|\\.\\d+)(e[+-]?\\d{1,3})?|nan|inf|infinity)\\s*$' THEN v::float8 END $$`,
  `CREATE FUNCTION ${SOURCE_SCHEMA}.read_boolean(v text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
     SELECT CASE WHEN lower(trim(v)) IN ('t', 'true', '1', '1.0') THEN true WHEN lower(trim(v)) IN ('f', 'false', '0', '0.0') THEN false END $$`,
  // A date that does not exist has the form of one.
  `CREATE FUNCTION ${SOURCE_SCHEMA}.read_time(v text) RETURNS timestamptz LANGUAGE plpgsql STABLE AS $$
   BEGIN
     RETURN v::timestamptz;
   EXCEPTION WHEN data_exception THEN
     RETURN NULL;
   END $$`,
  `CREATE FUNCTION ${SOURCE_SCHEMA}.read_json(v text) RETURNS json LANGUAGE plpgsql IMMUTABLE AS $$
   BEGIN
     RETURN v::json;
   EXCEPTION WHEN data_exception THEN
     RETURN NULL;
   END $$`,
];
