import type { Model } from '../checks/prisma-schema.ts';
import type { SourceText } from '../checks/source-files.ts';
import { snakeOf } from './mapping-lines.ts';

/** The value of a field that is a zod schema: written out, or one with a name. */
const ZOD_SCHEMA = /^(?:z\b|[A-Z])/;

/**
 * For each field of the schema whose name has several words, is unique to one model and is in exactly one zod schema of the routers:
 * the lines written by hand to pass it on: in the model, in interfaces and types, in the schema, and where an object takes it over from
 * another one (`isPaid: row.is_paid`). A line that gives it another value is a use.
 */
export function countFieldPlaces(files: readonly SourceText[], models: readonly Model[]): Map<string, number> {
  const seen = new Map<string, number>();
  for (const { columns } of models) for (const column of columns.values()) seen.set(column, (seen.get(column) ?? 0) + 1);
  const unique = new Set([...seen].filter(([column, count]) => count === 1 && column.includes('_')).map(([column]) => column));
  const places = new Map<string, number>();
  const schemas = new Map<string, number>();
  for (const { path, text } of files) {
    for (const match of text.matchAll(/^\s*(?:readonly )?(\w+)\??: (.*)$/gm)) {
      const column = snakeOf(match[1]!);
      if (!unique.has(column) || !passesOn(column, match[2]!)) continue;
      places.set(column, (places.get(column) ?? 0) + 1);
      if (path.startsWith('src/routers/') && ZOD_SCHEMA.test(match[2]!)) schemas.set(column, (schemas.get(column) ?? 0) + 1);
    }
  }
  return new Map([...schemas].filter(([, count]) => count === 1).map(([column]) => [column, 1 + places.get(column)!]));
}

/** @param value what stands behind the colon: a type, a zod schema or an expression */
function passesOn(column: string, value: string): boolean {
  if (value.endsWith(';') || value.startsWith('z.')) return true;
  const last = /(\w+)\)*,?(?:\s*\}.*)?$/.exec(value)?.[1];
  return last !== undefined && snakeOf(last) === column;
}

export function median(values: readonly number[]): number | null {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted.length === 0 ? null : sorted[Math.floor((sorted.length - 1) / 2)]!;
}
