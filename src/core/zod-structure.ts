/** Reads the structure of a zod schema: which kind of schema is where. Used for error types, wire coercion and documents. */
import { z } from 'zod';

export type Schema = z.core.$ZodType;

const publishedForms = z.registry<{ published: unknown }>();

/** One component of the contract that is free-form in a part: the typed client and the output check use `schema`, the document `published`. */
export function publishedAs<S extends z.ZodType>(schema: S, published: z.ZodType): S {
  publishedForms.add(schema, { published });
  return schema;
}

export const publishedForm = (schema: Schema): Schema => (publishedForms.get(schema)?.published as Schema) ?? schema;

/**
 * Strips everything that does not change which values come in: optional, nullable, default, readonly, catch, lazy, brands,
 * and of a pipe the side that clients write to.
 */
export function innerSchema(schema: Schema): Schema {
  let current = schema;
  for (let depth = 0; depth < 50; depth++) {
    const next = unwrapOnce(current);
    if (next === undefined) return current;
    current = next;
  }
  return current;
}

function unwrapOnce(schema: Schema): Schema | undefined {
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodNonOptional ||
    schema instanceof z.ZodReadonly ||
    schema instanceof z.ZodCatch ||
    schema instanceof z.ZodLazy
  ) {
    return schema.unwrap();
  }
  // `z.preprocess` is a pipe out of a transform: its target says what it accepts.
  if (schema instanceof z.ZodPipe) return schema.in instanceof z.ZodTransform ? schema.out : schema.in;
  return undefined;
}

/** Is it a number schema that accepts whole numbers only (`z.int()`, `z.number().int()`)? */
export function isIntegerSchema(schema: Schema): boolean {
  const inner = innerSchema(schema);
  return inner instanceof z.ZodNumber && (inner.format?.includes('int') ?? false);
}

/** May the value be left out? A default counts. */
export function acceptsAbsence(schema: Schema): boolean {
  return accepts(schema, undefined);
}

/** May the value be JSON `null`? */
export function acceptsNull(schema: Schema): boolean {
  return accepts(schema, null);
}

/** @returns false where an asynchronous check would have to run */
export function accepts(schema: Schema, value: unknown): boolean {
  try {
    return z.safeParse(schema, value).success;
  } catch {
    return false;
  }
}

/** The schema that a path of a zod issue leads to; undefined when the path leaves what can be followed. */
export function schemaAt(root: Schema, path: readonly PropertyKey[]): Schema | undefined {
  let current: Schema | undefined = innerSchema(root);
  for (const key of path) {
    current = current && childSchema(current, key);
    if (current === undefined) return undefined;
    current = innerSchema(current);
  }
  return current;
}

function childSchema(schema: Schema, key: PropertyKey): Schema | undefined {
  if (schema instanceof z.ZodObject) return (schema.shape as Record<PropertyKey, Schema>)[key];
  if (schema instanceof z.ZodArray) return schema.element as Schema;
  if (schema instanceof z.ZodRecord) return schema.valueType as Schema;
  if (schema instanceof z.ZodTuple) return (schema.def.items[Number(key)] ?? schema.def.rest) || undefined;
  if (schema instanceof z.ZodUnion) return firstDefined(schema.options as readonly Schema[], key);
  if (schema instanceof z.ZodIntersection) return firstDefined([schema.def.left, schema.def.right], key);
  return undefined;
}

function firstDefined(schemas: readonly Schema[], key: PropertyKey): Schema | undefined {
  for (const schema of schemas) {
    const child = childSchema(innerSchema(schema), key);
    if (child !== undefined) return child;
  }
  return undefined;
}

/**
 * The keys of an object schema with their schemas; unions and intersections of objects are merged, the first meaning of a key wins.
 * @returns undefined when the schema is not made of objects
 */
export function objectShape(schema: Schema): Record<string, Schema> | undefined {
  const inner = innerSchema(schema);
  if (inner instanceof z.ZodObject) return inner.shape as Record<string, Schema>;
  const parts =
    inner instanceof z.ZodUnion
      ? (inner.options as readonly Schema[])
      : inner instanceof z.ZodIntersection
        ? [inner.def.left, inner.def.right]
        : undefined;
  if (parts === undefined) return undefined;
  const merged: Record<string, Schema> = {};
  for (const part of parts) {
    const shape = objectShape(part);
    if (shape === undefined) return undefined;
    for (const [key, value] of Object.entries(shape)) merged[key] ??= value;
  }
  return merged;
}

/** Does an object schema keep fields that it does not name (`z.looseObject`, `.catchall(…)`)? */
export function keepsUnknownKeys(schema: Schema): boolean {
  const inner = innerSchema(schema);
  return inner instanceof z.ZodObject && inner.def.catchall !== undefined && !(inner.def.catchall instanceof z.ZodNever);
}
