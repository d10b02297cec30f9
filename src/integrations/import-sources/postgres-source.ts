import pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import {
  type ColumnFamily,
  ImportRefused,
  type ImportSource,
  type SourceTable,
  type TableContent,
} from '../../domain/import/import-source.ts';
import { wholeLines } from './whole-lines.ts';

/** `server_version_num` of PostgreSQL 12. */
const OLDEST_SERVER = 120_000;

/** Types by the names of `information_schema`. */
const FAMILIES: Readonly<Record<string, ColumnFamily>> = {
  ...{ smallint: 'integer', integer: 'integer', bigint: 'integer' },
  ...{ real: 'number', 'double precision': 'number', numeric: 'number' },
  ...{ 'character varying': 'text', character: 'text', text: 'text', uuid: 'text' },
  ...{ boolean: 'boolean', json: 'json', jsonb: 'json', date: 'time' },
  // A time of day has no date.
  'time without time zone': 'text',
  ...{ 'timestamp with time zone': 'time', 'timestamp without time zone': 'time' },
};

/**
 * A source on a PostgreSQL server: one connection, one transaction that reads only and sees all tables as of one time. A role that may SELECT is enough.
 * @throws ImportRefused `source_not_found`, `source_unreadable`; no message holds the password
 */
export async function openPostgresSource(url: string, snapshotAt: Date): Promise<ImportSource> {
  const client = new pg.Client({ connectionString: url, application_name: 'subscription-service-import' });
  // A connection that is lost while nothing is asked would end the process; the next statement says it.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    await client.query("SET LOCAL TIME ZONE 'UTC'; SET LOCAL datestyle TO 'ISO, YMD'; SET LOCAL extra_float_digits TO 1");
    await client.query('SET LOCAL statement_timeout TO 0; SET LOCAL idle_in_transaction_session_timeout TO 0');
    const { rows } = await client.query<{ version: number }>("SELECT current_setting('server_version_num')::int AS version");
    if (rows[0]!.version < OLDEST_SERVER)
      throw new ImportRefused('source_unreadable', 'The server is older than PostgreSQL 12. Upgrade it first.');
    const tables = await readTables(client);
    return {
      kind: 'postgresql',
      snapshotAt,
      tables,
      contents: async function* () {
        for (const table of tables.values()) yield contentOf(client, table);
      },
      expectedRows: () => estimateRows(client),
      lastIds: () => readLastIds(client),
      close: () => client.end(),
    };
  } catch (error) {
    await client.end().catch(() => undefined);
    if (error instanceof ImportRefused) throw error;
    const reason = (error as { code?: string }).code ?? 'unknown error';
    throw new ImportRefused(
      'source_not_found',
      `The database cannot be read (${reason}). Check address, name, user and password.`,
      {
        cause: error,
      },
    );
  }
}

async function readTables(client: pg.Client): Promise<Map<string, SourceTable>> {
  const { rows } = await client.query<{ table: string; column: string; type: string }>(
    `SELECT c.table_name AS "table", c.column_name AS "column", c.data_type AS type FROM information_schema.columns c
     JOIN information_schema.tables t USING (table_schema, table_name)
     WHERE c.table_schema = 'public' AND t.table_type = 'BASE TABLE' ORDER BY c.table_name, c.ordinal_position`,
  );
  const tables = new Map<string, SourceTable & { columns: { name: string; family: ColumnFamily }[] }>();
  for (const { table, column, type } of rows) {
    const found = tables.get(table) ?? { name: table, columns: [] };
    found.columns.push({ name: column, family: FAMILIES[type] ?? 'other' });
    tables.set(table, found);
  }
  return tables;
}

/** As the server's statistics say; a table that it has never looked at is counted. */
async function estimateRows(client: pg.Client): Promise<Map<string, number>> {
  const { rows } = await client.query<{ table: string; rows: number }>(
    `SELECT relname AS "table", greatest(reltuples, 0)::float8 AS rows FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'`,
  );
  const expected = new Map(rows.map(({ table, rows: count }) => [table, count]));
  for (const [table, count] of expected) {
    if (count > 0) continue;
    const counted = await client.query<{ rows: number }>(
      `SELECT count(*)::float8 AS rows FROM public.${pg.escapeIdentifier(table)}`,
    );
    expected.set(table, counted.rows[0]!.rows);
  }
  return expected;
}

/** Of columns `id`. A role that may not read a sequence does not see it. */
async function readLastIds(client: pg.Client): Promise<Map<string, number>> {
  const { rows } = await client.query<{ table: string; last: number }>(
    `SELECT c.relname AS "table", q.last_value::float8 AS last FROM pg_class c
     JOIN pg_depend d ON d.refobjid = c.oid AND d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass AND d.deptype IN ('a', 'i')
     JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = d.refobjsubid AND a.attname = 'id'
     JOIN pg_class s ON s.oid = d.objid AND s.relkind = 'S' JOIN pg_sequences q ON q.schemaname = 'public' AND q.sequencename = s.relname
     WHERE c.relnamespace = 'public'::regnamespace AND s.relnamespace = c.relnamespace AND q.last_value IS NOT NULL`,
  );
  return new Map(rows.map(({ table, last }) => [table, last]));
}

function contentOf(client: pg.Client, table: SourceTable): TableContent {
  const relation = `public.${pg.escapeIdentifier(table.name)}`;
  const columns = table.columns.map(({ name }) => pg.escapeIdentifier(name)).join(', ');
  return {
    table,
    // Begun by its reader alone: the end of the source would end the process where nobody reads.
    lines: async function* () {
      yield* wholeLines(client.query(copyTo(`COPY (SELECT ${columns} FROM ${relation}) TO STDOUT`)));
    },
    count: async () => {
      const { rows } = await client.query<{ rows: string }>(`SELECT count(*) AS rows FROM ${relation}`);
      return Number(rows[0]!.rows);
    },
  };
}
