/** Makes example values from JSON Schemas for the docs pages. `.meta({ example })` of a zod schema has priority. */
import type { JsonSchema } from './openapi-document.ts';

type Components = Readonly<Record<string, JsonSchema>>;

const MAX_DEPTH = 6;

const BY_FORMAT: Record<string, string> = {
  'date-time': '2026-01-31T12:00:00Z',
  time: '12:00:00Z',
  date: '2026-01-31',
  email: 'user@example.com',
  uri: 'https://example.com/',
  uuid: '0198a2c4-7b1e-7c3a-9d54-3f2b1c0e8a77',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
};

/** The `a` of a pattern that lists words: `^(a|b)$`. */
const FIRST_ALTERNATIVE = /^\^\((?:\?:)?([\w-]+)[|)]/;

/** A plausible value for the schema; the caller checks whether it is valid. */
export function exampleOf(schema: JsonSchema, components: Components, depth = 0): unknown {
  const s = typeof schema.$ref === 'string' ? (components[schema.$ref.split('/').at(-1)!] ?? schema) : schema;
  if (schema.example !== undefined) return schema.example;
  if (s.example !== undefined) return s.example;
  if (Array.isArray(s.examples) && s.examples.length > 0) return s.examples[0];
  if (s.default !== undefined && s.default !== null) return s.default;
  if (s.const !== undefined) return s.const;
  if (Array.isArray(s.enum)) return s.enum[0];
  const choices = (s.anyOf ?? s.oneOf) as JsonSchema[] | undefined;
  if (choices) return exampleOf(choices.find((choice) => choice.type !== 'null') ?? choices[0] ?? {}, components, depth);
  const type = Array.isArray(s.type) ? s.type.find((name) => name !== 'null') : s.type;
  switch (type) {
    case 'object':
      return objectExample(s, components, depth);
    case 'array':
      return arrayExample(s, components, depth);
    case 'string':
      return textExample(s);
    case 'integer':
    case 'number':
      return numberExample(s);
    case 'boolean':
      return true;
    default:
      return type === 'null' ? null : {};
  }
}

function objectExample(s: JsonSchema, components: Components, depth: number): Record<string, unknown> {
  const required = new Set((s.required as string[] | undefined) ?? []);
  const example: Record<string, unknown> = {};
  for (const [name, field] of Object.entries((s.properties as Record<string, JsonSchema> | undefined) ?? {})) {
    if (depth < MAX_DEPTH || required.has(name))
      example[name] = depth < 3 * MAX_DEPTH ? exampleOf(field, components, depth + 1) : null;
  }
  return example;
}

function arrayExample(s: JsonSchema, components: Components, depth: number): unknown[] {
  if (depth >= MAX_DEPTH || typeof s.items !== 'object' || s.items === null) return [];
  const item = exampleOf(s.items as JsonSchema, components, depth + 1);
  return Array.from({ length: Math.max(1, Math.min(Number(s.minItems ?? 1), 10)) }, () => item);
}

function textExample(s: JsonSchema): string {
  const known = BY_FORMAT[String(s.format)];
  if (known !== undefined) return known;
  const word = FIRST_ALTERNATIVE.exec(String(s.pattern ?? ''))?.[1];
  if (word !== undefined) return word;
  const text = 'string'.padEnd(Math.min(Number(s.minLength ?? 0), 1_000), 'x');
  return typeof s.maxLength === 'number' ? text.slice(0, s.maxLength) : text;
}

function numberExample(s: JsonSchema): number {
  const step = Number(s.multipleOf ?? 1);
  const least =
    typeof s.minimum === 'number' ? s.minimum : typeof s.exclusiveMinimum === 'number' ? s.exclusiveMinimum + step : 1;
  const most =
    typeof s.maximum === 'number' ? s.maximum : typeof s.exclusiveMaximum === 'number' ? s.exclusiveMaximum - step : least;
  return Math.ceil(Math.min(least, most) / step) * step;
}
