import { LAST_TIME } from './import-source.ts';
import { applyRule, columnsOf, type ImportContext, type ImportStep, sourceTable } from './import-step.ts';
import { SOURCE_SCHEMA } from './load-source.ts';

const FIRST_TIME = '2000-01-01T00:00:00Z';
const LATEST = new Date(LAST_TIME).toISOString();
const UNBOUNDED = "('NaN'::float8, 'Infinity'::float8, '-Infinity'::float8)";

/** What holds for values of one kind in every column (spec 07 section 3). Rows without an id are repaired and counted as one. */
export const valueStep: ImportStep = {
  name: 'values',
  async prepare(context) {
    const { sql } = context;
    const tables = await sql<{ name: string }>(
      "SELECT relname AS name FROM pg_class WHERE relnamespace = $1::regnamespace AND relkind = 'r' ORDER BY relname",
      [SOURCE_SCHEMA],
    );
    for (const { name } of tables) await repairValues(context, name);
  },
};

async function repairValues(context: ImportContext, table: string): Promise<void> {
  const { sql } = context;
  const columns = await columnsOf(sql, SOURCE_SCHEMA, table);
  const hasId = columns.some(({ name, type }) => name === 'id' && type === 'bigint');
  const repairs = columns.flatMap(({ name, type }) => repairsOf(`"${name}"`, name, type));
  if (repairs.length === 0) return;
  // One reading of the table for all columns: almost always there is nothing to repair.
  const [found] = await sql<{ counts: number[] }>(
    `SELECT ARRAY[${repairs.map(({ when }) => `count(*) FILTER (WHERE ${when})`).join(', ')}]::int[] AS counts FROM ${sourceTable(table)}`,
  );
  for (const [at, repair] of repairs.entries()) {
    if (found!.counts[at] === 0) continue;
    if (hasId && repair.code !== null) {
      await applyRule(context, {
        ...{
          code: repair.code,
          table,
          set: `${repair.column} = ${repair.value}`,
          detail: `jsonb_build_object('column', '${repair.name}')`,
        },
        find: `SELECT id FROM ${sourceTable(table)} WHERE ${repair.when}`,
      });
    } else {
      await sql(`UPDATE ${sourceTable(table)} s SET ${repair.column} = ${repair.value} WHERE ${repair.when}`);
    }
  }
}

interface Repair {
  name: string;
  column: string;
  when: string;
  value: string;
  /** Null: it is no fault. */
  code: string | null;
}

function repairsOf(column: string, name: string, type: string): Repair[] {
  if (type === 'timestamp with time zone') {
    const value = `CASE WHEN s.${column} > '${LATEST}' THEN '${LATEST}'::timestamptz END`;
    const when = `(${column} < '${FIRST_TIME}' OR ${column} > '${LATEST}')`;
    return [{ name, column, when, value, code: 'date_out_of_range' }];
  }
  if (type === 'double precision')
    return [{ name, column, when: `${column} IN ${UNBOUNDED}`, value: '0', code: 'number_not_finite' }];
  if (type !== 'json') return [];
  const decoded = `${SOURCE_SCHEMA}.read_json(${column} #>> '{}')`;
  // Restored backups of the bot leave JSON in a JSON string behind.
  const isEncoded = `(${column}::text ~ '^\\s*"\\s*[\\[{]' AND ${decoded} IS NOT NULL)`;
  return [
    { name, column, when: isEncoded, value: decoded, code: 'json_double_encoded' },
    { name, column, when: `trim(${column}::text) = 'null'`, value: 'NULL', code: null },
    // No database text has it.
    {
      name,
      column,
      when: `${column}::text LIKE '%\\\\u0000%'`,
      value: `replace(${column}::text, '\\u0000', '')::json`,
      code: null,
    },
  ];
}
