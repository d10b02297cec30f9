import { fullName, type Query, quote, type Table } from './table-facts.ts';

/** Pages of 8 KiB read at once: at most a few thousand rows. */
const PAGES = 16;

/**
 * Copies a table as text, so that each value is exactly what the source prints; no number, time or JSON is converted by JavaScript.
 * Pages are read in their order on disk, which needs neither a key nor a sort; nothing else writes to the source.
 * @param condition on the source's rows
 */
export async function copyTable(source: Query, target: Query, table: Table, condition = 'true'): Promise<void> {
  const insert = insertStatement(table);
  const list = table.columns.map((column, at) => `${quote(column.name)}::text AS c${at}`).join(', ');
  for (const part of await listParts(source, table)) {
    for (let page = 0; page < part.pages; page += PAGES) {
      const rows = await source<Record<string, string | null>>(
        `SELECT ${list} FROM ONLY ${part.name} WHERE ctid >= '(${page},0)'::tid AND ctid < '(${page + PAGES},0)'::tid AND (${condition})`,
      );
      if (rows.length === 0) continue;
      await target(
        insert,
        table.columns.map((_, at) => rows.map((row) => row[`c${at}`] ?? null)),
      );
    }
  }
}

/** One array of texts a column; the database casts it back to the column's type. */
function insertStatement(table: Table): string {
  const names = table.columns.map((column) => quote(column.name)).join(', ');
  const values = table.columns.map((column, at) => `c${at}::${column.type}`).join(', ');
  const arrays = table.columns.map((_, at) => `$${at + 1}::text[]`).join(', ');
  const aliases = table.columns.map((_, at) => `c${at}`).join(', ');
  return `INSERT INTO ${fullName(table)} (${names}) OVERRIDING SYSTEM VALUE SELECT ${values} FROM unnest(${arrays}) AS given(${aliases})`;
}

/** The tables that contain the rows: the table itself or its partitions. */
async function listParts(source: Query, table: Table): Promise<{ name: string; pages: number }[]> {
  const rows = await source<{ name: string; bytes: string }>(
    `SELECT format('%I.%I', n.nspname, c.relname) AS name, pg_relation_size(c.oid)::text AS bytes
     FROM pg_partition_tree('${fullName(table)}'::regclass) tree JOIN pg_class c ON c.oid = tree.relid
     JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'r'
     UNION SELECT format('%I.%I', n.nspname, c.relname), pg_relation_size(c.oid)::text
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = '${fullName(table)}'::regclass AND c.relkind = 'r'`,
  );
  return rows.map((row) => ({ name: row.name, pages: Math.ceil(Number(row.bytes) / 8_192) }));
}
