import type { Db } from './db.ts';

/**
 * The different values of a text column, ascending, by a loose index scan: one look into the index for each value, however many rows have it.
 * @param table, column constants of the caller; the column is the first of an index and never null
 */
export async function listDistinctNames(db: Db, table: string, column: string): Promise<string[]> {
  const rows = await db.sql<{ name: string }>(
    `WITH RECURSIVE scan AS (
       (SELECT ${column} AS name FROM ${table} ORDER BY ${column} LIMIT 1)
       UNION ALL
       SELECT (SELECT r.${column} FROM ${table} r WHERE r.${column} > scan.name ORDER BY r.${column} LIMIT 1)
       FROM scan WHERE scan.name IS NOT NULL)
     SELECT name FROM scan WHERE name IS NOT NULL`,
  );
  return rows.map(({ name }) => name);
}
