import type { SqlRunner } from '../../core/db/db.ts';
import type { Table } from './types.ts';

/** The tables of the open database with what an archive needs to know of them, by name. Generated columns are left out. */
export async function listTables(sql: SqlRunner): Promise<Table[]> {
  const rows = await sql<{
    table: string;
    column: string;
    type: string;
    nullable: boolean;
    defaulted: boolean;
    keyAt: number | null;
  }>(
    `SELECT c.relname AS table, a.attname AS column, format_type(a.atttypid, a.atttypmod) AS type, NOT a.attnotnull AS nullable,
       (a.atthasdef OR a.attidentity <> '') AS defaulted, array_position(k.conkey, a.attnum) AS key_at
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
     LEFT JOIN pg_constraint k ON k.conrelid = c.oid AND k.contype = 'p'
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' ORDER BY c.relname, a.attnum`,
  );
  const tables = new Map<string, Table & { keyOrder: [number, string][] }>();
  for (const row of rows) {
    const table = tables.get(row.table) ?? { name: row.table, columns: [], primaryKey: [], defaulted: [], keyOrder: [] };
    tables.set(row.table, table);
    table.columns.push({ name: row.column, type: row.type, nullable: row.nullable });
    if (row.defaulted) table.defaulted.push(row.column);
    if (row.keyAt !== null) table.keyOrder.push([row.keyAt, row.column]);
  }
  return [...tables.values()].map(({ keyOrder, ...table }) => ({
    ...table,
    primaryKey: keyOrder.sort(([one], [other]) => one - other).map(([, column]) => column),
  }));
}

/** Names of the applied migrations, in their order. */
export async function listMigrations(sql: SqlRunner): Promise<string[]> {
  const rows = await sql<{ name: string }>('SELECT name FROM schema_migrations ORDER BY name');
  return rows.map(({ name }) => name);
}

export interface ForeignKey {
  table: string;
  name: string;
  definition: string;
}

export function listForeignKeys(sql: SqlRunner): Promise<ForeignKey[]> {
  return sql<ForeignKey>(
    `SELECT conrelid::regclass::text AS table, conname AS name, pg_get_constraintdef(oid) AS definition FROM pg_constraint
     WHERE contype = 'f' AND connamespace = 'public'::regnamespace AND conparentid = 0 ORDER BY 1, 2`,
  );
}

/** Sequences that give a column its ids. */
export function listOwnedSequences(sql: SqlRunner): Promise<{ sequence: string; table: string; column: string }[]> {
  return sql(
    `SELECT s.oid::regclass::text AS sequence, c.relname AS table, a.attname AS column
     FROM pg_depend d JOIN pg_class s ON s.oid = d.objid AND s.relkind = 'S' JOIN pg_class c ON c.oid = d.refobjid
     JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = d.refobjsubid
     WHERE d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass AND d.deptype IN ('a', 'i')
       AND c.relnamespace = 'public'::regnamespace`,
  );
}

export interface LooseIndex {
  table: string;
  name: string;
  definition: string;
}

/** Indexes that no constraint has, unique ones too: they can be dropped and built again. */
export function listLooseIndexes(sql: SqlRunner): Promise<LooseIndex[]> {
  return sql<LooseIndex>(
    `SELECT c.relname AS table, i.indexrelid::regclass::text AS name, pg_get_indexdef(i.indexrelid) AS definition
     FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND NOT i.indisprimary AND NOT i.indisexclusion
       AND NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conindid = i.indexrelid) ORDER BY 1, 2`,
  );
}
