import type { ColumnShape } from './types.ts';

/**
 * Rows as JSON, one object a line, written and read by the database itself, so that no number, timestamp or text is converted by JavaScript:
 * bigint and numeric as text, timestamps as ISO 8601 with `Z`, bytes as base64, arrays as arrays, jsonb as JSON, and
 * json, which is a text to the database, as that text.
 */

export const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Types whose JSON the database writes as it reads it. */
const AS_THEY_ARE = /^(?:boolean|smallint|integer|real|double precision|text|character.*|uuid|date)(?:\[\])?$/;
const TIMESTAMP = /^timestamp(?:\((\d)\))? (with|without) time zone$/;
const COLLATED = /^(?:text|character)/;
/** The key of an object that stands for what is in it. */
const ENCLOSED = '$json';

/** The value of a column for `row_to_json`. */
function written({ name, type }: ColumnShape): string {
  const column = quote(name);
  if (AS_THEY_ARE.test(type)) return column;
  if (type === 'bytea') return `translate(encode(${column}, 'base64'), E'\\n', '')`;
  // A JSON null and no value at all would look alike in a row, so the first one is enclosed; and so is what looks enclosed.
  if (type === 'jsonb') {
    return `CASE WHEN ${column} = 'null' OR ${column} ? '${ENCLOSED}' THEN jsonb_build_object('${ENCLOSED}', ${column}) ELSE ${column} END`;
  }
  const timestamp = TIMESTAMP.exec(type);
  // Also `json`, which keeps blanks, repeated keys and escapes that no other type accepts.
  if (!timestamp) return type.endsWith('[]') ? `${column}::text[]` : `${column}::text`;
  const [, digits = '6', zone] = timestamp;
  const fraction = Number(digits) <= 3 ? 'MS' : 'US';
  const utc = zone === 'with' ? `${column} AT TIME ZONE 'UTC'` : column;
  const format = `YYYY-MM-DD"T"HH24:MI:SS.${fraction}${zone === 'with' ? '"Z"' : ''}`;
  const isUsual = `isfinite(${column}) AND ${column} >= '0001-01-02' AND ${column} < '9999-12-31'`;
  return `CASE WHEN ${isUsual} THEN to_char(${utc}, '${format}') ELSE ${column}::text END`;
}

export interface RowSource {
  /** As SQL names it, e.g. `public."users"`. */
  relation: string;
  columns: readonly ColumnShape[];
  primaryKey: readonly string[];
  condition: string;
}

export const publicRelation = (table: string): string => `public.${quote(table)}`;

/** A query of rows by their primary key, with one column `line`. Texts are ordered by their bytes, as in every database. */
export function linesQuery({ relation, columns, primaryKey, condition }: RowSource): string {
  const list = columns.map((column) => `${written(column)} AS ${quote(column.name)}`).join(', ');
  const collated = new Set(columns.filter(({ type }) => COLLATED.test(type)).map(({ name }) => name));
  // Of the table and not of the list, where an id may be a text.
  const order = primaryKey.map((name) => `${relation}.${quote(name)}${collated.has(name) ? ' COLLATE "C"' : ''}`).join(', ');
  return `SELECT row_to_json(r)::text AS line FROM (SELECT ${list} FROM ${relation} WHERE ${condition} ORDER BY ${order}) r`;
}

export type OnConflict = { do: 'fail' } | { do: 'nothing'; key: readonly string[] } | { do: 'update'; key: readonly string[] };

/** Columns of the rows in a JSON array, with their types, for `json_to_recordset`. */
export function rowTypes(columns: readonly ColumnShape[]): string {
  return columns.map(({ name, type }) => `${quote(name)} ${type === 'bytea' || type === 'json' ? 'text' : type}`).join(', ');
}

/** The value of a column from a row `r` of `rowTypes`. */
export function readValue({ name, type }: ColumnShape): string {
  const value = `r.${quote(name)}`;
  if (type === 'bytea') return `decode(${value}, 'base64')`;
  if (type === 'json') return `${value}::json`;
  return type === 'jsonb' ? `CASE WHEN ${value} ? '${ENCLOSED}' THEN ${value} -> '${ENCLOSED}' ELSE ${value} END` : value;
}

/**
 * A statement that inserts a JSON array of rows, its first parameter, and answers how many rows it wrote.
 * @param columns of the table, in the types that it has now; others take their default
 */
export function insertStatement(table: string, columns: readonly ColumnShape[], onConflict: OnConflict): string {
  const names = columns.map(({ name }) => quote(name));
  return `WITH written AS (INSERT INTO ${publicRelation(table)} (${names.join(', ')}) OVERRIDING SYSTEM VALUE
    SELECT ${columns.map(readValue).join(', ')} FROM json_to_recordset($1::json) AS r(${rowTypes(columns)})
    ${conflictClause(names, onConflict)} RETURNING 1) SELECT count(*)::int AS rows FROM written`;
}

function conflictClause(names: readonly string[], onConflict: OnConflict): string {
  if (onConflict.do === 'fail') return '';
  const key = onConflict.key.map(quote);
  const changed = names.filter((name) => !key.includes(name));
  const action =
    onConflict.do === 'nothing' || changed.length === 0
      ? 'NOTHING'
      : `UPDATE SET ${changed.map((name) => `${name} = EXCLUDED.${name}`).join(', ')}`;
  return `ON CONFLICT (${key.join(', ')}) DO ${action}`;
}
