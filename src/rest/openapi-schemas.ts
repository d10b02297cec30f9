/**
 * JSON Schemas of zod schemas for the OpenAPI document, with one shared set of named components.
 *
 * zod's own `toJSONSchema` is used directly. A generator on top of it (trpc-to-openapi, zod-openapi) would have to be corrected
 * afterwards in every place that matters here: the first refuses records and unions in a GET and has no hints, the
 * second forces defaulted fields of answers into `required` and closes answers with `additionalProperties: false`.
 */
import { z } from 'zod';
import { FREE_FORM, type Schema } from '../core/zod-structure.ts';

export type JsonSchema = { [key: string]: unknown };

type Side = 'in' | 'out';

export interface SchemaCollector {
  /** As clients send it: what has a default is optional. @param owner names anonymous recursive parts */
  request(schema: Schema, owner: string): JsonSchema;
  /** As the service sends it. */
  response(schema: Schema, owner: string): JsonSchema;
  /** The component that a collected schema refers to, or the schema itself. */
  resolve(schema: JsonSchema): JsonSchema;
  /**
   * Ends the collection: puts the components into the document and gives all references their final names. A schema that differs
   * between requests and answers becomes two components, `Name` and `NameOutput`.
   */
  finish<T extends { components: { schemas: Record<string, JsonSchema> } }>(document: T): T;
}

const REFERENCE = '#/components/schemas/';

export function schemaCollector(): SchemaCollector {
  const parts: Record<Side, Map<string, JsonSchema>> = { in: new Map(), out: new Map() };

  function convert(schema: Schema, side: Side, owner: string): JsonSchema {
    // The wrapper makes a named or recursive schema a reference at its root too.
    const converted = z.toJSONSchema(z.object({ value: schema as z.ZodType }), {
      io: side === 'in' ? 'input' : 'output',
      unrepresentable: 'any',
      override: (context) => adjust(context.zodSchema, context.jsonSchema as JsonSchema, side),
    }) as JsonSchema;
    const rename = (name: string): string => (name.startsWith('__') ? `${owner}${name}` : name);
    const text = JSON.stringify(converted).replace(
      /"\$ref":"#\/\$defs\/([^"]+)"/g,
      (_all, name: string) => `"$ref":"${REFERENCE}${side}:${rename(name)}"`,
    );
    const referenced = JSON.parse(text) as { properties: { value: JsonSchema }; $defs?: Record<string, JsonSchema> };
    for (const [name, part] of Object.entries(referenced.$defs ?? {})) {
      const before = parts[side].get(rename(name));
      if (before !== undefined && JSON.stringify(before) !== JSON.stringify(part)) {
        throw new Error(`Two different schemas are named ${name} (second one in ${owner})`);
      }
      parts[side].set(rename(name), part);
    }
    return referenced.properties.value;
  }

  function resolve(schema: JsonSchema): JsonSchema {
    const target = typeof schema.$ref === 'string' ? schema.$ref.slice(REFERENCE.length) : '';
    const colon = target.indexOf(':');
    if (colon < 0) return schema;
    return parts[target.slice(0, colon) as Side].get(target.slice(colon + 1)) ?? schema;
  }

  return {
    request: (schema, owner) => convert(schema, 'in', owner),
    response: (schema, owner) => convert(schema, 'out', owner),
    resolve,
    finish(document) {
      const existing = new Set(Object.keys(document.components.schemas));
      const split = namesThatDiffer(parts);
      const finalName = (side: Side, name: string): string => (side === 'out' && split.has(name) ? `${name}Output` : name);
      for (const side of ['in', 'out'] as const) {
        for (const [name, part] of parts[side]) {
          if (existing.has(finalName(side, name))) throw new Error(`The schema name ${name} is taken`);
          document.components.schemas[finalName(side, name)] ??= part;
        }
      }
      const text = JSON.stringify(document).replace(
        /"#\/components\/schemas\/(in|out):([^"]+)"/g,
        (_all, side: Side, name: string) => `"${REFERENCE}${finalName(side, name)}"`,
      );
      return JSON.parse(text) as typeof document;
    },
  };
}

/** Names whose two sides differ, themselves or in something that they refer to. */
function namesThatDiffer(parts: Record<Side, Map<string, JsonSchema>>): Set<string> {
  const both = [...parts.in.keys()].filter((name) => parts.out.has(name));
  const neutral = (side: Side, name: string): string =>
    JSON.stringify(parts[side].get(name)).replaceAll(`${REFERENCE}${side}:`, REFERENCE);
  const differ = new Set(both.filter((name) => neutral('in', name) !== neutral('out', name)));
  for (let grown = true; grown; ) {
    grown = false;
    for (const name of both) {
      if (differ.has(name)) continue;
      const text = neutral('in', name);
      if ([...differ].some((other) => text.includes(`"${REFERENCE}${other}"`))) {
        differ.add(name);
        grown = true;
      }
    }
  }
  return differ;
}

/** Formats that need no pattern; zod's expression for them does not help readers or generators. */
const SELF_EXPLAINING_FORMATS = new Set(['date-time', 'date', 'time', 'uuid', 'email', 'uri', 'ipv4', 'ipv6']);

function adjust(zodSchema: Schema, json: JsonSchema, side: Side): void {
  if (json[FREE_FORM] === true) {
    for (const key of Object.keys(json)) if (key !== 'description') delete json[key];
    Object.assign(json, { type: 'object', propertyNames: { type: 'string' }, additionalProperties: {} });
    return;
  }
  // `z.int()` means "a whole number"; the bounds of safe integers are not part of the interface.
  if (json.minimum === Number.MIN_SAFE_INTEGER) delete json.minimum;
  if (json.maximum === Number.MAX_SAFE_INTEGER) delete json.maximum;
  if (zodSchema instanceof z.ZodISODateTime) json.format = 'date-time';
  if (zodSchema instanceof z.ZodDate) Object.assign(json, { type: 'string', format: 'date-time' });
  if (zodSchema instanceof z.ZodBigInt) json.type = 'integer';
  // A value of any type includes null.
  if (zodSchema instanceof z.ZodNullable && isAnything(zodSchema.def.innerType)) delete json.anyOf;
  if (typeof json.format === 'string' && SELF_EXPLAINING_FORMATS.has(json.format)) delete json.pattern;
  if (side === 'out' && zodSchema instanceof z.ZodObject) {
    // A described reference to a component: zod leaves beside it what differs from the component, which was adjusted before.
    if (json.$ref !== undefined) {
      delete json.required;
      delete json.additionalProperties;
      return;
    }
    if (zodSchema.def.catchall === undefined) delete json.additionalProperties;
    const shape = zodSchema.shape as Record<string, Schema>;
    const required = (json.required as string[] | undefined)?.filter((key) => !hasDefault(shape[key]));
    if (required?.length) json.required = required;
    else delete json.required;
  }
}

function isAnything(schema: unknown): boolean {
  return schema instanceof z.ZodUnknown || schema instanceof z.ZodAny;
}

function hasDefault(schema: Schema | undefined): boolean {
  return schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault;
}
