import type { SqlRunner } from '../../core/db/db.ts';
import { quote } from '../backups/row-format.ts';
import { SOURCE_SCHEMA } from './load-source.ts';

/** Schema of the prepared rows: tables of ours under their own names, without keys. Dropped at the end of a run. */
export const NEXT_SCHEMA = 'import_next';

/** What the rules of a pass depend on. */
export interface ImportContext {
  sql: SqlRunner;
  snapshotAt: Date;
  /** Of the first pass: what has no time in the source gets it, so that a later pass finds it unchanged. */
  firstSnapshotAt: Date;
  /** Of the source, e.g. 45. */
  revision: number;
  /** Lower case: an address in it is verified only where the source's owner proved it. */
  adminEmails: readonly string[];
  /** Whether the service speaks the words of the other product to its clients (spec 09). */
  hasClientWords: boolean;
}

/** A part of an import: the rules of some tables, then their rows as they will be here. One transaction. */
export interface ImportStep {
  name: string;
  prepare(context: ImportContext): Promise<void>;
}

/** A table of the loaded source, as SQL names it. */
export const sourceTable = (name: string): string => `${SOURCE_SCHEMA}.${quote(name)}`;
/** A table of the prepared rows, as SQL names it. */
export const nextTable = (name: string): string => `${NEXT_SCHEMA}.${quote(name)}`;

/** A text and a time as SQL writes them. */
export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;
export const sqlTime = (time: Date): string => `'${time.toISOString()}'::timestamptz`;

/** Columns whose contents never leave the source but to their own place (spec 07 section 6). */
const SECRETS = [
  ...['password_hash', 'email_verification_token', 'password_reset_token', 'email_change_code', 'token_hash'],
  ...['cabinet_password', 'auto_login_token', 'trojan_password', 'vless_uuid', 'ss_password', 'secret'],
];

/** A loaded row as it is parked. */
export const parkedRow = (alias: string): string => `to_jsonb(${alias}) - '{${SECRETS.join(',')}}'::text[]`;

export interface Rule {
  /** Of spec 07 section 7. */
  code: string;
  table: string;
  /** Column that identifies a row; `id` unless given. */
  key?: string;
  /** A query of the rows: `id` (the key), and what `set` or `detail` name. Reads the loaded source. */
  find: string;
  /** Assignments of the loaded row `s` from the found row `f`; none = the row is listed only. */
  set?: string;
  /** The row is taken out and kept aside. */
  isParked?: boolean;
  /** The row is taken out: another one, which `find` leaves, stands for it. */
  isMerged?: boolean;
  /** Kept aside beside the row that stays: an object of the values that `set` replaces, over the loaded row `s`. */
  parks?: string;
  /** An object for the report, over the found row `f`. */
  detail?: string;
  /** What identifies the row in the report, over the found row `f`; the key unless given. */
  subject?: string;
}

/**
 * Carries a rule for broken data out on the loaded source: every row that it finds gets an issue, and is repaired or parked.
 * @returns how many rows it found
 */
export async function applyRule({ sql }: Pick<ImportContext, 'sql'>, rule: Rule): Promise<number> {
  const { code, table, key = 'id', find, set, isParked = false, isMerged = false, parks, detail = 'NULL::jsonb' } = rule;
  const subject = rule.subject ?? 'f.id::text';
  const from = sourceTable(table);
  const listed = table.replace(/^~/, '');
  const joined = `FROM ${from} s JOIN found f ON s.${quote(key)} = f.id`;
  const park = (row: string) =>
    `, parked AS (INSERT INTO ${nextTable('import_parked')} (run_id, source_table, source_id, reason, is_whole, row)
       SELECT 0, '${listed}', f.id::text, '${code}', ${isParked}, ${row} ${joined})`;
  const remove = `, gone AS (DELETE FROM ${from} s USING found f WHERE s.${quote(key)} = f.id)`;
  const parts = [`WITH found AS MATERIALIZED (${find})`];
  if (isParked) parts.push(park(parkedRow('s')), remove);
  else if (isMerged) parts.push(remove);
  else if (parks) parts.push(park(parks));
  if (set) parts.push(`, changed AS (UPDATE ${from} s SET ${set} FROM found f WHERE s.${quote(key)} = f.id)`);
  parts.push(
    `, listed AS (INSERT INTO ${nextTable('import_issues')} (run_id, code, source_table, subject, detail)
       SELECT 0, '${code}', '${listed}', ${subject}, ${detail} FROM found f RETURNING 1)
     SELECT count(*) AS rows FROM listed`,
  );
  const [done] = await sql<{ rows: number }>(parts.join('\n'));
  return done!.rows;
}

/** Parks the rows whose parent is gone, and says so. */
export function parkOrphans(
  context: ImportContext,
  table: string,
  column: string,
  parent: string,
  code: string,
): Promise<number> {
  return applyRule(context, {
    ...{ code, table, isParked: true },
    find: `SELECT o.id FROM ${sourceTable(table)} o WHERE NOT EXISTS (SELECT 1 FROM ${sourceTable(parent)} p WHERE p.id = o.${quote(column)})`,
  });
}

/** Names of ours whose column has another name in the source (spec 07 section 3). */
const SOURCE_NAMES: Readonly<Record<string, string>> = {
  messenger_id: 'telegram_id',
  vpnpanel_uuid: 'remnawave_uuid',
  last_vpnpanel_sync: 'last_remnawave_sync',
  vpnpanel_short_uuid: 'remnawave_short_uuid',
  external_charge_id: 'telegram_charge_id',
  messenger_channel: 'telegram_channel',
  actor_messenger_id: 'actor_telegram_id',
};

/** The name that a column of ours has in the source. */
export const sourceColumn = (name: string): string => SOURCE_NAMES[name] ?? name;

/** Booleans that are true where the source holds no value; all others are false then (spec 07 section 3). */
const TRUE_BY_DEFAULT = new Set(['is_active', 'is_enabled', 'is_available', 'is_trial']);

interface TargetColumn {
  name: string;
  type: string;
  nullable: boolean;
  default: string | null;
}

export interface Transfer {
  /** Of ours. */
  table: string;
  /** Of the source; the same name unless given. Its rows are `s`. */
  from?: string;
  /** Joins and conditions behind the source's table. */
  rest?: string;
  /** Values of columns that are not copied as they are, over the row `s`. null = the default of ours. */
  columns?: Readonly<Record<string, string | null>>;
  /** What `created_at` is where the source has none, over the row `s`; the snapshot is last. */
  createdFrom?: readonly string[];
}

/**
 * Makes the rows of one of our tables of those of a source: columns of one name after spec 07 section 3; the others as given.
 * @returns how many rows
 */
export async function transfer(
  context: ImportContext,
  { table, from = table, rest = '', columns = {}, createdFrom = [] }: Transfer,
): Promise<number> {
  const { sql, snapshotAt, firstSnapshotAt } = context;
  const target = await columnsOf(sql, NEXT_SCHEMA, table);
  const known = new Set((await columnsOf(sql, SOURCE_SCHEMA, from)).map(({ name }) => name));
  const created = `coalesce(${['s.created_at', ...createdFrom, sqlTime(firstSnapshotAt)].join(', ')})`;
  const values: [string, string][] = [];
  for (const column of target) {
    const given = columns[column.name];
    if (given === null) continue;
    const name = sourceColumn(column.name);
    if (given !== undefined) values.push([column.name, given]);
    else if (column.name === 'created_at' && known.has('created_at')) values.push(['created_at', cutTime(created)]);
    else if (column.name === 'updated_at' && known.has('updated_at') && known.has('created_at'))
      values.push(['updated_at', cutTime(`coalesce(s.updated_at, ${created})`)]);
    else if (known.has(name)) values.push([column.name, copiedValue(column, `s.${quote(name)}`, sqlTime(firstSnapshotAt))]);
    else if (column.name === 'imported_at') values.push(['imported_at', sqlTime(snapshotAt)]);
  }
  const names = values.map(([name]) => quote(name)).join(', ');
  const [done] = await sql<{ rows: number }>(
    `WITH made AS (INSERT INTO ${nextTable(table)} (${names}) SELECT ${values.map(([, value]) => value).join(', ')}
       FROM ${sourceTable(from)} s ${rest} RETURNING 1) SELECT count(*) AS rows FROM made`,
  );
  return done!.rows;
}

/** Microseconds are cut, as the comparison cuts them; a cast would round. */
export const cutTime = (expression: string): string => `date_trunc('milliseconds', ${expression})`;

function copiedValue({ name, type, nullable, default: given }: TargetColumn, column: string, first: string): string {
  let value = column;
  const length = /^character varying\((\d+)\)$/.exec(type)?.[1];
  if (type.startsWith('timestamp')) value = cutTime(column);
  else if (type === 'jsonb' || type === 'json') value = `${column}::${type}`;
  else if (length) value = `left(${column}, ${length})`;
  if (type === 'boolean') return `coalesce(${value}, ${TRUE_BY_DEFAULT.has(name)})`;
  if (nullable || given === null || given.startsWith('nextval')) return value;
  // The present time would be another one in a later pass.
  return `coalesce(${value}, ${given === 'CURRENT_TIMESTAMP' ? first : given})`;
}

/** Columns of a table by their position. */
export async function columnsOf(sql: SqlRunner, schema: string, table: string): Promise<TargetColumn[]> {
  return sql<TargetColumn>(
    `SELECT a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type, NOT a.attnotnull AS nullable,
       pg_get_expr(d.adbin, d.adrelid) AS "default"
     FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
     WHERE a.attrelid = $1::regclass AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '' ORDER BY a.attnum`,
    [`${schema}.${quote(table)}`],
  );
}
