import { applyRule, type ImportContext, literal, nextTable, parkedRow, sourceTable } from './import-step.ts';

/** Optional links by column, each with the table of the source that it points to. */
type Links = Readonly<Record<string, string>>;

/** Clears optional links that point to no row, and lists them. */
export async function clearMissingLinks(context: ImportContext, table: string, links: Links): Promise<void> {
  for (const [column, parent] of Object.entries(links))
    await applyRule(context, {
      ...{ code: 'link_missing', table, set: `${column} = NULL` },
      detail: `jsonb_build_object('${column}', f.link)`,
      find: `SELECT o.id, o.${column} AS link FROM ${sourceTable(table)} o
        WHERE o.${column} IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ${sourceTable(parent)} p WHERE p.id = o.${column})`,
    });
}

interface Repeated {
  table: string;
  /** SQL of the values that are unique here. */
  columns: string;
  /** Which row stays; the one with the lowest id unless given. */
  order?: string;
  code?: string;
}

/** Keeps aside all but one of the rows that repeat what is unique here. Rows without a value repeat nothing. */
export async function parkRepeated(
  context: ImportContext,
  { table, columns, order = 'id', code = 'unique_duplicate' }: Repeated,
): Promise<void> {
  await applyRule(context, {
    ...{ code, table, isParked: true },
    find: `SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY ${columns} ORDER BY ${order}) AS place FROM ${sourceTable(table)}
      WHERE num_nulls(${columns}) = 0) r WHERE place > 1`,
  });
}

/** Keeps values of kept rows aside that have no place here, where they say something. */
export async function parkColumns(
  context: ImportContext,
  table: string,
  columns: readonly string[],
  when: string,
): Promise<void> {
  const values = columns.map((column) => `'${column}', s.${column}`).join(', ');
  await applyRule(context, {
    ...{ code: 'column_unknown', table, parks: `jsonb_strip_nulls(jsonb_build_object('id', s.id, ${values}))` },
    find: `SELECT id FROM ${sourceTable(table)} WHERE ${when}`,
  });
}

/** Lists rows without the time that statistics count them by; what stands for it is in the row here (spec 07 section 4). */
export async function listMissingTimes(context: ImportContext, table: string, column = 'created_at'): Promise<void> {
  await applyRule(context, {
    code: 'created_at_null',
    table,
    find: `SELECT id FROM ${sourceTable(table)} WHERE ${column} IS NULL`,
  });
}

/** Whether the end of a row `alias` was before the first year that is kept: it is NULL now, which means for ever (spec 07 section 3, Times). */
export const isCutEnd = (alias: string, table: string, column: string): string =>
  `(${alias}.${column} IS NULL AND EXISTS (SELECT 1 FROM ${nextTable('import_issues')} i WHERE i.source_table = '${table}'
    AND i.code = 'date_out_of_range' AND i.detail ->> 'column' = '${column}' AND i.subject = ${alias}.id::text))`;

/** A word of an enumeration as it is compared: without blanks around it, in lower case. Empty is no word. */
export const wordOf = (column: string): string => `nullif(lower(trim(${column})), '')`;

/** Words as a list of SQL. */
export const wordList = (words: readonly string[]): string => `(${words.map(literal).join(', ')})`;

/** Joins the row that a column of `s` names, if it is there; its id is null where it is gone. */
export const joined = (parent: string, alias: string, column: string): string =>
  `LEFT JOIN ${sourceTable(parent)} ${alias} ON ${alias}.id = s.${column}`;

/** A link between two rows, by its columns with the tables of the source that they point to. */
type Pair = readonly [one: readonly [column: string, parent: string], other: readonly [column: string, parent: string]];

/** Parks the links of a table without ids of which either row is gone, and says so. */
export async function parkOrphanPairs({ sql }: ImportContext, table: string, code: string, pair: Pair): Promise<void> {
  const isOrphan = pair.map(([column, parent]) => `NOT EXISTS (SELECT 1 FROM ${sourceTable(parent)} p WHERE p.id = s.${column})`);
  const subject = `coalesce(${pair.map(([column]) => column).join(" || ':' || ")}, '-')`;
  await sql(
    `WITH gone AS (DELETE FROM ${sourceTable(table)} s WHERE ${isOrphan.join(' OR ')} RETURNING s.*),
       listed AS (INSERT INTO ${nextTable('import_issues')} (run_id, code, source_table, subject) SELECT 0, '${code}', '${table}', ${subject} FROM gone)
     INSERT INTO ${nextTable('import_parked')} (run_id, source_table, source_id, reason, is_whole, row)
     SELECT 0, '${table}', ${subject}, '${code}', true, ${parkedRow('gone')} FROM gone`,
  );
}

/** Rows that get ids of ours: SQL over their query. */
interface NewIds {
  /** Table of ours. */
  target: string;
  /** The rows, as `FROM` has them. */
  from: string;
  /** Name of the table of the source, and the id there. */
  sourceName: string;
  sourceId: string;
  order: string;
}

/** Whether `k` of the prepared `import_map` is the id of a row. */
export const isIdOf = ({ target, sourceName, sourceId }: Pick<NewIds, 'target' | 'sourceName' | 'sourceId'>): string =>
  `k.target_table = '${target}' AND k.source_table = ${sourceName} AND k.source_id = ${sourceId}`;

/** Assigns rows ids of ours in the prepared `import_map`. Those of an earlier pass stay; new ones follow in the given order. */
export async function assignIds({ sql }: Pick<ImportContext, 'sql'>, ids: NewIds): Promise<void> {
  const map = nextTable('import_map');
  const { target, from, sourceName, sourceId, order } = ids;
  await sql(
    `INSERT INTO ${map} (source_table, source_id, target_table, target_id)
     SELECT ${sourceName}, ${sourceId}, '${target}', h.highest + row_number() OVER (ORDER BY ${order})
     FROM ${from} CROSS JOIN (SELECT coalesce(max(target_id), 0) AS highest FROM ${map} WHERE target_table = '${target}') h
     WHERE NOT EXISTS (SELECT 1 FROM ${map} k WHERE ${isIdOf(ids)})`,
  );
}
