import { quote } from '../backups/row-format.ts';
import { type ImportContext, type ImportStep, literal, nextTable, parkedRow, sourceTable } from './import-step.ts';
import { SOURCE_SCHEMA } from './load-source.ts';
import { columnsRead, hasHome } from './source-revision.ts';

/** What a column without a place holds where it says nothing (spec 07 section 1.3), as text; NULL says nothing in any. */
const SILENT: Readonly<Record<string, readonly string[]>> = {
  'landing_pages.sticky_pay_button': ['f', '0', 'false'],
  'landing_pages.analytics_view_enabled': ['f', '0', 'false'],
  'landing_pages.analytics_click_enabled': ['f', '0', 'false'],
  'payment_method_configs.open_url_direct': ['f', '0', 'false'],
  'broadcast_history.category': ['system'],
  'promocodes.traffic_gb': ['0'],
  'service_rules.order': ['0'],
};

/** Columns that the import reads and that have no place here: a rule reads them, or they order what has no order here. */
const READ_WITHOUT_PLACE: readonly (readonly [table: string, column: string])[] = [
  ['promocodes', 'tariff_id'],
  ['promocodes', 'traffic_gb'],
  ['service_rules', 'order'],
];

/** Columns that say nothing of their row: they are not kept (spec 07 sections 1.3 and 4). */
const DROPPED: ReadonlySet<string> = new Set(['subscriptions.remnawave_short_id']);

const COLUMNS = sourceTable('~columns');

/** Remembers which columns the source has: rules add others to the loaded tables. */
export const sourceColumnsStep: ImportStep = {
  name: 'columns of the source',
  prepare: async ({ sql }) => {
    await sql(
      `CREATE UNLOGGED TABLE ${COLUMNS} AS SELECT c.relname::text AS table_name, a.attname::text AS name, a.attnum AS place
       FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
       WHERE c.relnamespace = '${SOURCE_SCHEMA}'::regnamespace AND c.relkind = 'r'`,
    );
  },
};

/**
 * Keeps aside what has no place (spec 07 sections 1.3 and 4.6): tables that nobody knows and columns that nobody reads included (I50).
 * After all other rules: the columns of a row that is parked are parked with it.
 */
export const homelessStep: ImportStep = {
  name: 'what has no place',
  async prepare(context) {
    const tables = await context.sql<{ name: string; columns: string[] }>(
      `SELECT table_name AS name, array_agg(name ORDER BY place) AS columns FROM ${COLUMNS} GROUP BY 1 ORDER BY 1`,
    );
    const read = new Map<string, Set<string>>();
    for (const [table, column] of columnsRead(Number.POSITIVE_INFINITY)) {
      if (!read.has(table)) read.set(table, new Set());
      read.get(table)!.add(column);
    }
    for (const [table, column] of READ_WITHOUT_PLACE) read.get(table)?.delete(column);
    for (const { name, columns } of tables) {
      if (hasHome(name)) await parkColumns(context, name, columns, read.get(name)!);
      else await parkTable(context, name, columns);
    }
    await parkExtraMedia(context);
  },
};

/** A row without an id is named by its position. */
const identityOf = (columns: readonly string[]) =>
  columns.includes('id') ? 's.id::text' : "'row ' || row_number() OVER (ORDER BY s.ctid)";

async function parkTable({ sql }: ImportContext, table: string, columns: readonly string[]): Promise<void> {
  await sql(
    `INSERT INTO ${nextTable('import_parked')} (run_id, source_table, source_id, reason, is_whole, row)
     SELECT 0, $1, coalesce(${identityOf(columns)}, 'row'), 'table_unknown', true, ${parkedRow('s')} FROM ${sourceTable(table)} s`,
    [table],
  );
}

async function parkColumns(
  { sql }: ImportContext,
  table: string,
  columns: readonly string[],
  read: ReadonlySet<string>,
): Promise<void> {
  const homeless = columns.filter((name) => !read.has(name) && !DROPPED.has(`${table}.${name}`));
  if (homeless.length === 0) return;
  const pairs = homeless.map((name) => `${literal(name)}, ${spokenValue(table, name)}`);
  // A function has a hundred arguments at most.
  const objects: string[] = [];
  for (let at = 0; at < pairs.length; at += 40) objects.push(`jsonb_build_object(${pairs.slice(at, at + 40).join(', ')})`);
  const key = columns.includes('id') ? ['id'] : columns.filter((name) => read.has(name));
  const named = key.map((name) => `${literal(name)}, s.${quote(name)}`).join(', ');
  await sql(
    `INSERT INTO ${nextTable('import_parked')} (run_id, source_table, source_id, reason, is_whole, row)
     SELECT 0, $1, ${identityOf(columns)}, 'column_unknown', false, ${parkedRow('v.spoken')} || jsonb_build_object(${named})
     FROM ${sourceTable(table)} s CROSS JOIN LATERAL (SELECT jsonb_strip_nulls(${objects.join(' || ')}) AS spoken) v WHERE v.spoken <> '{}'`,
    [table],
  );
}

/** The value of a column, or NULL where it says nothing. */
function spokenValue(table: string, name: string): string {
  const silent = SILENT[`${table}.${name}`] ?? [];
  const column = `s.${quote(name)}`;
  return silent.length === 0 ? column : `CASE WHEN ${column}::text NOT IN (${silent.map(literal).join(', ')}) THEN ${column} END`;
}

/** Files of a message beside the one that it has here (spec 07 section 4.5). */
async function parkExtraMedia({ sql }: ImportContext): Promise<void> {
  await sql(
    `INSERT INTO ${nextTable('import_parked')} (run_id, source_table, source_id, reason, is_whole, row)
     SELECT 0, 'ticket_messages', s.id::text, 'column_unknown', false, jsonb_build_object('id', s.id, 'media_items', s.media_items)
     FROM ${sourceTable('ticket_messages')} s JOIN ${nextTable('import_issues')} i
       ON i.source_table = 'ticket_messages' AND i.code = 'ticket_media_extra' AND i.subject = s.id::text`,
  );
}
