import type { SqlRunner } from '../../src/core/db/db.ts';

/** What has happened to the tables of a database since a point in time. */
export interface WrittenRows {
  /** Rows that were inserted or changed, each as the table and its JSON, in alphabetical order. */
  rows: string[];
  /** By table: how many rows it has, and the sum of their ids, which shows what was deleted. */
  left: Record<string, string>;
}

export interface WriteWatch {
  /** Forgets what was written until now. */
  restart(): Promise<void>;
  read(): Promise<WrittenRows>;
}

/**
 * Watches all tables, jobs too, for what transactions have written that began after the last `restart`.
 * @param without regular expression of the tables that are not looked at
 */
export async function watchWrites(sql: SqlRunner, without: string): Promise<WriteWatch> {
  const tables = await sql<{ name: string; place: string; ids: string }>(
    `SELECT t.table_name AS name, quote_ident(t.table_schema) || '.' || quote_ident(t.table_name) AS place,
       CASE WHEN c.column_name IS NULL THEN 'NULL' ELSE 'sum(x.id)' END AS ids
     FROM information_schema.tables t LEFT JOIN information_schema.columns c
       ON c.table_schema = t.table_schema AND c.table_name = t.table_name AND c.column_name = 'id' AND c.data_type IN ('integer', 'bigint')
     WHERE t.table_type = 'BASE TABLE' AND (t.table_schema = 'public' AND t.table_name !~ $1::text
       OR t.table_schema = 'jobs' AND t.table_name = 'job') ORDER BY 1`,
    [without],
  );
  const query = tables
    .map(
      ({ name, place, ids }) =>
        `SELECT '${name}' AS name, (SELECT concat_ws(' ', count(*), ${ids}) FROM ${place} x) AS left,
           (SELECT json_agg(to_jsonb(x)) FROM ${place} x WHERE x.xmin::text::bigint >= $1::bigint) AS rows`,
    )
    .join(' UNION ALL ');
  let since = '0';
  return {
    async restart() {
      const [row] = await sql<{ id: string }>('SELECT pg_current_xact_id()::xid::text AS id');
      since = row!.id;
    },
    async read() {
      const found = await sql<{ name: string; left: string; rows: object[] | null }>(query, [since]);
      return {
        rows: found.flatMap(({ name, rows }) => (rows ?? []).map((row) => `${name} ${JSON.stringify(row)}`)).sort(),
        left: Object.fromEntries(found.map(({ name, left }) => [name, left])),
      };
    },
  };
}
