/** Puts a value into a statement and returns its placeholder. */
export type AddValue = (value: unknown) => string;

/** Collects the values of one statement: `add(value)` is its placeholder, `values` goes to `db.sql`. */
export function statementValues(): { values: unknown[]; add: AddValue } {
  const values: unknown[] = [];
  return { values, add: (value) => `$${values.push(value)}` };
}

/** First pages of these lengths are written out. */
const USUAL_LENGTHS = [10, 20, 25, 50, 100];

/**
 * The bounds of a page as SQL. For parameters the planner assumes a tenth of the table, finds every plan for the given values better than the kept
 * one, and so plans each execution; for a first page of a usual length written out it plans once a connection.
 */
export function pageBounds(add: AddValue, limit: number, offset: number): { limit: string; offset: string } {
  if (offset === 0 && USUAL_LENGTHS.includes(limit)) return { limit: String(limit), offset: '0' };
  return { limit: `${add(limit)}::int`, offset: `${add(offset)}::bigint` };
}

/**
 * The first rows that a condition is true of, as SQL: `with` begins the statement, `contains` is true of a row `r` of theirs. It names them by their
 * place, because not every table has an id; two partitions of a table (spec 08 S9) have rows at the same place.
 */
export function rowBatch(table: string, condition: string, limit: number): { with: string; contains: string } {
  return {
    with: `WITH batch AS MATERIALIZED (SELECT r.tableoid AS part, r.ctid AS place FROM ${table} r WHERE ${condition} LIMIT ${limit})`,
    contains: 'r.ctid = ANY(ARRAY(SELECT place FROM batch)) AND (r.tableoid, r.ctid) IN (SELECT part, place FROM batch)',
  };
}
