import type { ColumnShape } from './types.ts';

/**
 * Rows as JSON, one object a line, written and read by the database itself, so that no number, moment or text is converted by JavaScript
 * (spec 06 section 7): bigint and numeric as text, moments as ISO 8601 with `Z`, bytes as base64, JSON as JSON, arrays as arrays.
 */

export const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Types whose JSON the database writes as it reads it. */
const AS_THEY_ARE = /^(?:boolean|smallint|integer|real|double precision|text|character.*|uuid|date|jsonb?)(?:\[\])?$/;
const MOMENT = /^timestamp(?:\((\d)\))? (with|without) time zone$/;
const isJson = (type: string) => type === 'json' || type === 'jsonb';

/** The value of a column for `row_to_json`. */
function written({ name, type }: ColumnShape): string {
  const column = quote(name);
  if (AS_THEY_ARE.test(type)) return column;
  if (type === 'bytea') return `translate(encode(${column}, 'base64'), E'\\n', '')`;
  const moment = MOMENT.exec(type);
  if (!moment) return type.endsWith('[]') ? `${column}::text[]` : `${column}::text`;
  const [, digits = '6', zone] = moment;
  const fraction = Number(digits) <= 3 ? 'MS' : 'US';
  const utc = zone === 'with' ? `${column} AT TIME ZONE 'UTC'` : column;
  const format = `YYYY-MM-DD"T"HH24:MI:SS.${fraction}${zone === 'with' ? '"Z"' : ''}`;
  return `CASE WHEN isfinite(${column}) THEN to_char(${utc}, '${format}') ELSE ${column}::text END`;
}

/**
 * A query of every row of a table, by primary key, with one column `line`.
 * @param condition on its rows
 */
export function linesQuery(table: string, columns: readonly ColumnShape[], key: readonly string[], condition: string): string {
  const list = columns.map((column) => `${written(column)} AS ${quote(column.name)}`).join(', ');
  // Of the table and not of the list, where an id may be a text.
  const place = `public.${quote(table)}`;
  const order = key.map((name) => `${place}.${quote(name)}`).join(', ');
  // JSON that is stored as text may have line breaks between its parts, where a blank means the same.
  const line = columns.some(({ type }) => type === 'json')
    ? "translate(row_to_json(r)::text, E'\\n\\r', '  ')"
    : 'row_to_json(r)::text';
  return `SELECT ${line} AS line FROM (SELECT ${list} FROM ${place} WHERE ${condition} ORDER BY ${order}) r`;
}

export type OnConflict = { do: 'fail' } | { do: 'nothing'; key: readonly string[] } | { do: 'update'; key: readonly string[] };

/**
 * A statement that inserts a JSON array of rows, its first parameter, and answers how many rows it wrote.
 * @param columns of the table, in the types that it has now; others take their default
 */
export function insertStatement(table: string, columns: readonly ColumnShape[], onConflict: OnConflict): string {
  const names = columns.map(({ name }) => quote(name));
  const typed = columns.map(({ name, type }) => `${quote(name)} ${type === 'bytea' ? 'text' : type}`);
  const values = columns.map(({ name, type, nullable }) => {
    if (type === 'bytea') return `decode(r.${quote(name)}, 'base64')`;
    // A JSON null and no value at all look alike in a row.
    return isJson(type) && !nullable ? `coalesce(r.${quote(name)}, 'null'::${type})` : `r.${quote(name)}`;
  });
  return `WITH written AS (INSERT INTO public.${quote(table)} (${names.join(', ')}) OVERRIDING SYSTEM VALUE
    SELECT ${values.join(', ')} FROM json_to_recordset($1::json) AS r(${typed.join(', ')})
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
