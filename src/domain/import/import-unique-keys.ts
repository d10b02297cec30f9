import { quote } from '../backups/row-format.ts';
import { columnsOf, type ImportContext, type ImportStep, NEXT_SCHEMA, nextTable, parkedRow, sourceTable } from './import-step.ts';
import { SOURCE_SCHEMA } from './load-source.ts';
import { hasHome } from './source-revision.ts';

interface UniqueKey {
  table: string;
  /** What the index compares: columns and expressions, as SQL. */
  parts: string[];
  /** Of a partial index. */
  predicate: string | null;
  /** Its only column, where an index has one. */
  column: string | null;
  isNullable: boolean;
  maxLength: number | null;
}

/**
 * Rows of the source that have the id of another one, or none, which only databases without keys have: the first stays. Before all other
 * rules, which name rows by their ids. Links that repeat become one.
 */
export const repeatedIdStep: ImportStep = {
  name: 'repeated ids',
  async prepare({ sql }) {
    const tables = await sql<{ name: string; keys: string[] }>(
      `SELECT t.relname AS name, array_agg(a.attname::text) FILTER (WHERE a.attname = 'id' OR a.attname LIKE '%\\_id') AS keys
       FROM pg_class t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0
       WHERE t.relnamespace = $1::regnamespace AND t.relkind = 'r' AND left(t.relname, 1) <> '~' GROUP BY 1 ORDER BY 1`,
      [SOURCE_SCHEMA],
    );
    for (const { name, keys } of tables) if (hasHome(name)) await keepFirst(sql, name, keys.includes('id') ? ['id'] : keys);
  },
};

async function keepFirst(sql: ImportContext['sql'], table: string, keys: readonly string[]): Promise<void> {
  const list = keys.map(quote).join(', ');
  const source = sourceTable(table);
  const hasId = keys.includes('id');
  const [found] = await sql<{ repeats: boolean }>(
    `SELECT EXISTS (SELECT 1 FROM ${source} GROUP BY ${list} HAVING count(*) > 1) OR EXISTS (SELECT 1 FROM ${source} WHERE ${hasId ? 'id IS NULL' : 'false'}) AS repeats`,
  );
  if (!found!.repeats) return;
  // Links that are equal say nothing more than one of them.
  const rest = hasId
    ? `, listed AS (INSERT INTO ${nextTable('import_issues')} (run_id, code, source_table, subject)
         SELECT 0, 'unique_duplicate', $1, coalesce(id::text, 'row') FROM gone)
       INSERT INTO ${nextTable('import_parked')} (run_id, source_table, source_id, reason, is_whole, row)
       SELECT 0, $1, coalesce(id::text, 'row'), 'unique_duplicate', true, ${parkedRow('gone')} FROM gone`
    : 'SELECT count(*) AS rows FROM gone WHERE $1::text IS NOT NULL';
  await sql(
    `WITH gone AS (DELETE FROM ${source} WHERE ctid IN (SELECT place FROM (
         SELECT ctid AS place, row_number() OVER (PARTITION BY ${list} ORDER BY ctid) AS nth, (${quote(keys[0]!)} IS NULL) AS is_nameless FROM ${source}) r
       WHERE nth > 1 ${hasId ? 'OR is_nameless' : ''}) RETURNING *)
     ${rest}`,
    [table],
  );
}

/**
 * What is unique here and repeats in the source (spec 07 section 7, `unique_duplicate`): the row with the lowest id keeps it. After all rows are
 * prepared, because the rules of their tables come first. Rows below a parked one are parked with it.
 */
export const uniqueKeyStep: ImportStep = {
  name: 'unique keys',
  async prepare(context) {
    const keys = await readKeys(context);
    for (const key of keys) await settleKey(context, key);
  },
};

function readKeys({ sql }: ImportContext): Promise<UniqueKey[]> {
  return sql<UniqueKey>(
    `SELECT t.relname AS "table", pg_get_expr(i.indpred, i.indrelid) AS predicate,
       (SELECT array_agg(pg_get_indexdef(i.indexrelid, k, true) ORDER BY k) FROM generate_series(1, i.indnkeyatts) AS k) AS parts,
       CASE WHEN i.indnkeyatts = 1 THEN a.attname::text END AS "column", NOT coalesce(a.attnotnull, true) AS is_nullable,
       CASE WHEN a.atttypid = 'varchar'::regtype AND a.atttypmod > 0 THEN a.atttypmod - 4 END AS max_length
     FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid AND t.relnamespace = 'public'::regnamespace
     JOIN pg_class n ON n.relname = t.relname AND n.relnamespace = $1::regnamespace AND n.relkind = 'r'
     LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0] AND i.indnkeyatts = 1
     WHERE i.indisunique AND i.indisvalid AND NOT t.relname LIKE 'import\\_%' ORDER BY i.indisprimary DESC, 1, i.indexrelid`,
    [NEXT_SCHEMA],
  );
}

/** Columns whose contents are not kept aside (spec 07 section 6). */
const SECRET = /token|hash|secret/;

async function settleKey(context: ImportContext, key: UniqueKey): Promise<void> {
  const { sql } = context;
  const next = nextTable(key.table);
  // Rows with a NULL in a key are never equal.
  const where = [...key.parts.map((part) => `(${part}) IS NOT NULL`), ...(key.predicate ? [`(${key.predicate})`] : [])].join(
    ' AND ',
  );
  const parts = key.parts.map((part) => `(${part})`).join(', ');
  // An index of one row at most compares a constant, which is no group.
  const grouped = /^\(*true\)*$/.test(key.parts.join()) ? '()' : parts;
  const [found] = await sql<{ repeats: boolean }>(
    `SELECT EXISTS (SELECT 1 FROM ${next} WHERE ${where} GROUP BY ${grouped} HAVING count(*) > 1) AS repeats`,
  );
  if (!found!.repeats) return;
  const hasId = (await columnsOf(sql, NEXT_SCHEMA, key.table)).some(({ name }) => name === 'id');
  const repeated = sourceTable('~repeated');
  await sql(`DROP TABLE IF EXISTS ${repeated}`);
  await sql(
    `CREATE UNLOGGED TABLE ${repeated} AS SELECT place, row_id, subject FROM (
       SELECT ctid AS place, ${hasId ? 'id::bigint' : 'NULL::bigint'} AS row_id, ${hasId ? 'id::text' : `concat_ws(':', ${parts})`} AS subject,
         row_number() OVER (PARTITION BY ${parts} ORDER BY ${hasId ? 'id, ' : ''}ctid) AS nth FROM ${next} WHERE ${where}) r WHERE nth > 1`,
  );
  const { column } = key;
  await listRepeated(context, key);
  if (hasId && column === 'name') {
    const suffix = `' (' || n.id || ')'`;
    await sql(
      `UPDATE ${next} n SET name = left(n.name, ${key.maxLength ?? 255} - length(${suffix})) || ${suffix} FROM ${repeated} r WHERE n.ctid = r.place`,
    );
  } else if (column !== null && column !== 'id' && key.isNullable) {
    if (!SECRET.test(column))
      await parkRepeated(context, key.table, `jsonb_build_object('id', n.id, '${column}', n.${quote(column)})`, false);
    await sql(`UPDATE ${next} n SET ${quote(column)} = NULL FROM ${repeated} r WHERE n.ctid = r.place`);
  } else {
    await parkRepeated(context, key.table, parkedRow('n'), true);
    await sql(`DELETE FROM ${next} n USING ${repeated} r WHERE n.ctid = r.place`);
    if (hasId) await removeLoaded(context, key.table, repeated, column === 'id');
    if (hasId && column !== 'id') await parkBelow(context, key.table, repeated);
  }
  await sql(`DROP TABLE ${repeated}`);
}

/** A prepared table is counted by the source's table of its name, where there is one. */
async function listRepeated({ sql }: ImportContext, { table, parts }: UniqueKey): Promise<void> {
  await sql(
    `INSERT INTO ${nextTable('import_issues')} (run_id, code, source_table, subject, detail)
     SELECT 0, 'unique_duplicate', $1, subject, $2::jsonb FROM ${sourceTable('~repeated')}`,
    [table, JSON.stringify({ key: parts.join(', ') })],
  );
}

/** Keeps prepared rows aside, or what they have in a column. */
async function parkRepeated({ sql }: ImportContext, table: string, row: string, isWhole: boolean): Promise<void> {
  await sql(
    `INSERT INTO ${nextTable('import_parked')} (run_id, source_table, source_id, reason, is_whole, row)
     SELECT 0, $1, r.subject, 'unique_duplicate', $2::boolean, ${row} FROM ${nextTable(table)} n JOIN ${sourceTable('~repeated')} r ON n.ctid = r.place`,
    [table, isWhole],
  );
}

/** What became of the rows of a table is counted in the loaded source. Of rows with one id the first stays. */
async function removeLoaded({ sql }: ImportContext, table: string, ids: string, keepsFirst: boolean): Promise<void> {
  const [loaded] = await sql<{ found: boolean }>(
    `SELECT EXISTS (SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass($1) AND attname = 'id') AS found`,
    [`${SOURCE_SCHEMA}.${quote(table)}`],
  );
  if (!loaded!.found) return;
  const place = 'row_number() OVER (PARTITION BY id ORDER BY ctid)';
  await sql(
    `DELETE FROM ${sourceTable(table)} WHERE ctid IN (SELECT place FROM (SELECT ctid AS place, ${place} AS nth FROM ${sourceTable(table)}
       WHERE id IN (SELECT row_id FROM ${ids})) r ${keepsFirst ? 'WHERE nth > 1' : ''})`,
  );
}

interface Reference {
  table: string;
  column: string;
  isCleared: boolean;
}

/** Rows that name a parked one are parked too, with what is below them, or lose the link where they can be without it. */
async function parkBelow(context: ImportContext, table: string, parents: string, depth = 1): Promise<void> {
  const { sql } = context;
  const references = await sql<Reference>(
    `SELECT t.relname AS "table", a.attname::text AS "column", c.confdeltype = 'n' AS is_cleared
     FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
     JOIN pg_class n ON n.relname = t.relname AND n.relnamespace = $1::regnamespace
     JOIN pg_attribute p ON p.attrelid = c.confrelid AND p.attnum = c.confkey[1] AND p.attname = 'id'
     WHERE c.contype = 'f' AND c.conparentid = 0 AND c.confrelid = to_regclass($2) AND cardinality(c.conkey) = 1 AND c.connamespace = 'public'::regnamespace`,
    [NEXT_SCHEMA, `public.${quote(table)}`],
  );
  for (const { table: child, column, isCleared } of references) {
    const named = `${quote(column)} IN (SELECT row_id FROM ${parents})`;
    if (isCleared) {
      await sql(`UPDATE ${nextTable(child)} SET ${quote(column)} = NULL WHERE ${named}`);
      continue;
    }
    const hasId = (await columnsOf(sql, NEXT_SCHEMA, child)).some(({ name }) => name === 'id');
    const below = sourceTable(`~below_${depth}`);
    await sql(`CREATE UNLOGGED TABLE ${below} (row_id bigint)`);
    const id = hasId ? 'id' : quote(column);
    await sql(
      `WITH gone AS (DELETE FROM ${nextTable(child)} WHERE ${named} RETURNING *), ids AS (INSERT INTO ${below} SELECT ${id} FROM gone), listed AS (
         INSERT INTO ${nextTable('import_issues')} (run_id, code, source_table, subject) SELECT 0, 'unique_duplicate', $1, ${id}::text FROM gone)
       INSERT INTO ${nextTable('import_parked')} (run_id, source_table, source_id, reason, is_whole, row)
       SELECT 0, $1, ${id}::text, 'unique_duplicate', true, ${parkedRow('gone')} FROM gone`,
      [child],
    );
    if (hasId) {
      await removeLoaded(context, child, below, false);
      await parkBelow(context, child, below, depth + 1);
    }
    await sql(`DROP TABLE ${below}`);
  }
}
