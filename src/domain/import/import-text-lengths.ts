import {
  applyRule,
  columnsOf,
  type ImportContext,
  type ImportStep,
  NEXT_SCHEMA,
  sourceColumn,
  sourceTable,
} from './import-step.ts';
import { SOURCE_SCHEMA } from './load-source.ts';

/** Names of columns that something is found by: they are whole or of no use. */
const IDENTIFIER = /(?:^|_)(?:code|slug|token|key|hash|uuid|id|parameter|prefix|email|url|value|notification_type|language)$/;
/** Tables whose rows stay whatever one of their identifiers is: it becomes empty, and is kept aside. */
const NEVER_PARKED: ReadonlySet<string> = new Set(['users', 'subscriptions', 'transactions']);

/** Columns whose rule is another one: a language is cut to its first letters, a colour or a time becomes the default. */
const CUT_ELSEWHERE: ReadonlySet<string> = new Set([
  'users.language',
  'wheel_prizes.color',
  'referral_contests.daily_summary_time',
]);

/** Texts that are longer than our columns (spec 07 section 3): free ones are cut, identifiers never. Before rows are made of them. */
export const textLengthStep: ImportStep = {
  name: 'lengths of texts',
  async prepare(context) {
    const tables = await context.sql<{ name: string }>(
      `SELECT t.relname AS name FROM pg_class t JOIN pg_class s ON s.relname = t.relname AND s.relnamespace = '${SOURCE_SCHEMA}'::regnamespace
       WHERE t.relnamespace = '${NEXT_SCHEMA}'::regnamespace AND t.relkind = 'r' ORDER BY 1`,
    );
    // The keys of settings are translated before they are measured.
    for (const { name } of tables) if (name !== 'system_settings') await fitTable(context, name);
  },
};

interface Limit {
  column: string;
  length: number;
}

async function fitTable(context: ImportContext, table: string): Promise<void> {
  const { sql } = context;
  const given = await columnsOf(sql, SOURCE_SCHEMA, table);
  if (!given.some(({ name }) => name === 'id')) return;
  const texts = new Set(given.flatMap(({ name, type }) => (type === 'text' ? [name] : [])));
  const limits = (await columnsOf(sql, NEXT_SCHEMA, table)).flatMap(({ name, type }): Limit[] => {
    const length = Number(/^character varying\((\d+)\)$/.exec(type)?.[1] ?? Number.NaN);
    const column = sourceColumn(name);
    return texts.has(column) && !Number.isNaN(length) && !CUT_ELSEWHERE.has(`${table}.${column}`) ? [{ column, length }] : [];
  });
  if (limits.length === 0) return;
  // One reading of the table for all columns: almost always every text fits.
  const isLong = ({ column, length }: Limit) => `length(trim("${column}")) > ${length}`;
  const [found] = await sql<{ counts: number[] }>(
    `SELECT ARRAY[${limits.map((limit) => `count(*) FILTER (WHERE ${isLong(limit)})`).join(', ')}]::int[] AS counts FROM ${sourceTable(table)}`,
  );
  for (const [at, limit] of limits.entries()) if (found!.counts[at] !== 0) await fitColumn(context, table, limit, isLong(limit));
}

async function fitColumn(context: ImportContext, table: string, limit: Limit, isLong: string): Promise<void> {
  const { column, length } = limit;
  const isIdentifier = IDENTIFIER.test(column);
  const rule = {
    ...{
      table,
      detail: `jsonb_build_object('column', '${column}')`,
      find: `SELECT id FROM ${sourceTable(table)} WHERE ${isLong}`,
    },
    parks: `jsonb_build_object('id', s.id, '${column}', s."${column}")`,
  };
  if (!isIdentifier) await applyRule(context, { ...rule, code: 'text_cut', set: `"${column}" = left(s."${column}", ${length})` });
  else if (NEVER_PARKED.has(table)) await applyRule(context, { ...rule, code: 'identifier_too_long', set: `"${column}" = NULL` });
  else await applyRule(context, { ...rule, code: 'identifier_too_long', isParked: true });
}
