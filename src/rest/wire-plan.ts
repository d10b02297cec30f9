/** Where each key of a procedure's input comes from in an HTTP request. Decoder and OpenAPI document are both made from this plan. */
import { z } from 'zod';
import { acceptsAbsence, acceptsNull, innerSchema, keepsUnknownKeys, objectShape, type Schema } from '../core/zod-structure.ts';
import type { OperationMeta, WireHints } from '../routers/operation-meta.ts';

export type WireSource = 'path' | 'query' | 'header' | 'body';

export interface WireField {
  /** Key of the procedure's input. */
  key: string;
  source: WireSource;
  /** Name on the wire: of the path or query parameter, the header (lower case) or the body field. */
  name: string;
  schema: Schema;
}

/** `fields`: a JSON object whose fields are input keys · `whole`: any JSON value, the value of one key · `multipart`: a form with a file. */
type BodyMode = 'none' | 'fields' | 'whole' | 'multipart';

export interface WirePlan {
  /** The procedure's input schemas; several when a base procedure has its own. All get the same value. */
  inputs: readonly Schema[];
  fields: readonly WireField[];
  body: BodyMode;
  /** Whether an absent body is refused even when all of its fields are optional. */
  bodyRequired: boolean;
  /** Fields of a JSON body that no schema names are kept (loose schemas). */
  passUnknown: boolean;
  /** Body fields are accepted in snake_case and in camelCase. */
  anySpelling: boolean;
  multipart: WireHints['multipart'];
}

/** Names of the `{parameters}` of a contract path, in order. */
export function pathParameters(path: string): string[] {
  return [...path.matchAll(/\{([^}]+)\}/g)].map((match) => match[1]!);
}

/**
 * @param inputs `_def.inputs` of the procedure
 * @throws Error at start when the input is not an object, or a parameter or a hint names a key that the input does not have
 */
export function planWire(procedurePath: string, meta: OperationMeta, inputs: readonly Schema[]): WirePlan {
  const openapi = meta.openapi;
  if (openapi === undefined) throw new Error(`${procedurePath} has no meta.openapi`);
  const hints = meta.wire ?? {};
  const shape = mergedShape(procedurePath, inputs);
  const fields: WireField[] = [];
  const taken = new Set<string>();
  const take = (key: string, source: WireSource, name: string): void => {
    const schema = shape[key];
    if (schema === undefined) throw new Error(`${procedurePath}: ${source} ${name} has no input key "${key}"`);
    if (taken.has(key)) throw new Error(`${procedurePath}: input key "${key}" has two sources`);
    taken.add(key);
    fields.push({ key, source, name, schema });
  };

  for (const name of pathParameters(openapi.path)) take(hints.pathKeys?.[name] ?? name, 'path', name);
  for (const [name, key] of Object.entries(hints.headers ?? {})) take(key, 'header', name.toLowerCase());
  for (const key of hints.query ?? []) take(key, 'query', key);
  for (const key of hints.body ?? []) take(key, 'body', key);
  if (hints.wholeBodyKey !== undefined && !taken.has(hints.wholeBodyKey)) take(hints.wholeBodyKey, 'body', hints.wholeBodyKey);
  const rest = openapi.method === 'GET' || openapi.method === 'DELETE' || hints.wholeBodyKey !== undefined ? 'query' : 'body';
  for (const key of Object.keys(shape)) if (!taken.has(key)) take(key, rest, key);

  const body = bodyMode(meta, fields);
  if (hints.multipart && shape[hints.multipart.fileKey] === undefined) {
    throw new Error(`${procedurePath}: no input key "${hints.multipart.fileKey}" for the uploaded file`);
  }
  const whole = body === 'whole' ? shape[hints.wholeBodyKey ?? ''] : undefined;
  return {
    inputs,
    fields,
    body,
    bodyRequired: whole ? !acceptsAbsence(whole) && !acceptsNull(whole) : body === 'fields' && hints.bodyOptional !== true,
    passUnknown: body === 'fields' && inputs.some(keepsUnknownKeys),
    anySpelling: hints.anySpelling === true,
    multipart: hints.multipart,
  };
}

function bodyMode(meta: OperationMeta, fields: readonly WireField[]): BodyMode {
  if (meta.wire?.multipart) return 'multipart';
  if (meta.wire?.wholeBodyKey !== undefined) return 'whole';
  return fields.some((field) => field.source === 'body') ? 'fields' : 'none';
}

function mergedShape(procedurePath: string, inputs: readonly Schema[]): Record<string, Schema> {
  const merged: Record<string, Schema> = {};
  for (const input of inputs) {
    const inner = innerSchema(input);
    if (inner instanceof z.ZodVoid || inner instanceof z.ZodUndefined) continue;
    const shape = objectShape(input);
    if (shape === undefined) throw new Error(`${procedurePath}: the input must be an object schema to be served over REST`);
    // A later schema narrows an earlier one (of a base procedure).
    Object.assign(merged, shape);
  }
  return merged;
}
