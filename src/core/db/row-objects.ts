import { camelCase } from '../camel-case.ts';

const MAX_NAMES = 10_000;

/** Bounded, because statements with dynamic aliases can produce any number of column names. */
const names = new Map<string, string>();

/** The Prisma field of a column: `user_id` is `userId`. A name that is not snake_case stays as it is. */
export function fieldOf(column: string): string {
  const known = names.get(column);
  if (known !== undefined) return known;
  const field = camelCase(column);
  if (names.size < MAX_NAMES) names.set(column, field);
  return field;
}

/** What all rows of one result have in common. */
export interface RowShape {
  readonly keys: readonly string[];
  /** Every field with null; copies of it are objects of one shape. */
  readonly blank: Readonly<Record<string, unknown>>;
}

export function rowShape(columns: readonly { readonly name: string }[]): RowShape {
  const keys = columns.map((column) => fieldOf(column.name));
  const blank: Record<string, unknown> = {};
  for (const key of keys) blank[key] = null;
  return { keys, blank };
}

/** Rows of a driver's array mode as objects under the fields' names. */
export function toObjects<Row extends object>(fields: readonly { name: string }[], rows: readonly unknown[][]): Row[] {
  const { keys, blank } = rowShape(fields);
  return rows.map((values) => {
    const row = { ...blank };
    for (let at = 0; at < keys.length; at++) row[keys[at]!] = values[at];
    return row as Row;
  });
}
