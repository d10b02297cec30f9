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

/** Rows of a driver's array mode as objects under the fields' names; all objects of one result have one shape. */
export function toObjects<Row extends object>(fields: readonly { name: string }[], rows: readonly unknown[][]): Row[] {
  const keys = fields.map((field) => fieldOf(field.name));
  const blank: Record<string, unknown> = {};
  for (const key of keys) blank[key] = null;
  return rows.map((values) => {
    const row = { ...blank };
    for (let at = 0; at < keys.length; at++) row[keys[at]!] = values[at];
    return row as Row;
  });
}
