/** Runs one statement and returns its rows; the same for the embedded source and the server target. */
export type Query = <Row extends object>(text: string, values?: unknown[]) => Promise<Row[]>;

interface Column {
  name: string;
  /** As SQL writes it, e.g. `character varying(60)` or `jobs.job_state`. */
  type: string;
}

export interface Table {
  schema: string;
  name: string;
  columns: Column[];
}

/** Tables that each database fills by itself. */
const SCHEMA_TABLES = new Set(['schema_migrations', 'schema_sql']);

export const quote = (name: string) => `"${name.replaceAll('"', '""')}"`;
export const fullName = (table: Pick<Table, 'schema' | 'name'>) => `${quote(table.schema)}.${quote(table.name)}`;

/** Tables of the service with their columns, by name; generated columns are left out. */
export async function listTables(query: Query): Promise<Table[]> {
  const tables = await listColumns(query, "n.nspname = 'public' AND c.relkind IN ('r', 'p') AND NOT c.relispartition");
  return tables.filter((table) => !SCHEMA_TABLES.has(table.name));
}

/** The table of durable jobs; its rows may be in partitions. */
export async function findJobTable(query: Query): Promise<Table | null> {
  const [table] = await listColumns(query, "n.nspname = 'jobs' AND c.relname = 'job'");
  return table ?? null;
}

/** Maintenance jobs of the queue are not copied: each database has its own. */
export const SERVICE_JOBS = "name NOT LIKE '\\_\\_pgboss%'";

async function listColumns(query: Query, condition: string): Promise<Table[]> {
  const rows = await query<{ schema: string; name: string; column: string; type: string }>(
    `SELECT n.nspname AS schema, c.relname AS name, a.attname AS column, format_type(a.atttypid, a.atttypmod) AS type
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
     WHERE ${condition} ORDER BY n.nspname, c.relname, a.attnum`,
  );
  const tables = new Map<string, Table>();
  for (const row of rows) {
    const table = tables.get(row.name) ?? { schema: row.schema, name: row.name, columns: [] };
    table.columns.push({ name: row.column, type: row.type });
    tables.set(row.name, table);
  }
  return [...tables.values()];
}

/** Rows by table name; empty tables are left out. */
export async function countRows(query: Query, tables: readonly Table[]): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const table of tables) {
    const [row] = await query<{ rows: string }>(`SELECT count(*)::text AS rows FROM ${fullName(table)}`);
    if (row!.rows !== '0') counts.set(table.name, Number(row!.rows));
  }
  return counts;
}

export interface Contents {
  rows: number;
  /** Equal for equal rows in any order, on every version of the database. */
  digest: string;
}

/** Counts a table and sums a hash of each row. Both sessions must print times alike (`PRINT_ALIKE`). */
export async function readContents(query: Query, table: Table, condition = 'true'): Promise<Contents> {
  const columns = table.columns.map((column) => quote(column.name)).join(', ');
  const [row] = await query<{ rows: string; digest: string }>(
    `SELECT count(*)::text AS rows, coalesce(sum(('x' || substr(md5(ROW(${columns})::text), 1, 12))::bit(48)::bigint), 0)::text AS digest
     FROM ${fullName(table)} WHERE ${condition}`,
  );
  return { rows: Number(row!.rows), digest: row!.digest };
}

/** Makes a session print times, intervals and numbers without loss, and all sessions alike. */
export const PRINT_ALIKE: readonly string[] = [
  "SET timezone TO 'UTC'",
  "SET datestyle TO 'ISO, YMD'",
  "SET intervalstyle TO 'postgres'",
  'SET extra_float_digits TO 1',
  "SET bytea_output TO 'hex'",
];
