/** Puts a value into a statement and returns its placeholder. */
export type AddValue = (value: unknown) => string;

/** Collects the values of one statement: `add(value)` is its placeholder, `values` goes to `db.sql`. */
export function statementValues(): { values: unknown[]; add: AddValue } {
  const values: unknown[] = [];
  return { values, add: (value) => `$${values.push(value)}` };
}
