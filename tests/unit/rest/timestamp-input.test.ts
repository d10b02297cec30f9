import { expect, test } from 'vitest';
import { z } from 'zod';
import { compileDecoder } from '../../../src/rest/wire-decoder.ts';
import { planWire } from '../../../src/rest/wire-plan.ts';
import { TimestampInput, utcDate } from '../../../src/routers/shared.schemas.ts';
import { documentOfService, servedRoutes } from '../../support/served-routes.ts';

/** What C2 lists, with the time that is meant. */
const ACCEPTED: [value: string | number, timestamp: string][] = [
  ['2026-01-01T10:00:00Z', '2026-01-01T10:00:00.000Z'],
  ['2026-01-01T10:00:00.25+03:00', '2026-01-01T07:00:00.250Z'],
  ['2026-01-01T10:00:00', '2026-01-01T10:00:00.000Z'],
  ['2026-01-01', '2026-01-01T00:00:00.000Z'],
  ['2024-02-29', '2024-02-29T00:00:00.000Z'],
  ['2026-01-01 10:00:00', '2026-01-01T10:00:00.000Z'],
  ['2026-01-01 10:00:00+03:00', '2026-01-01T07:00:00.000Z'],
  [1767225600, '2026-01-01T00:00:00.000Z'],
  ['1767225600', '2026-01-01T00:00:00.000Z'],
  [1767225600500, '2026-01-01T00:00:00.500Z'],
  ['1767225600500', '2026-01-01T00:00:00.500Z'],
  [1767225600.5, '2026-01-01T00:00:00.500Z'],
  [0, '1970-01-01T00:00:00.000Z'],
  [-1, '1969-12-31T23:59:59.000Z'],
];
const REFUSED: unknown[] = [
  ...[
    '',
    ' ',
    'yesterday',
    '2026-01',
    '2026-02-30',
    '2026-13-01',
    '2026-01-01T',
    '2026-01-01  10:00:00',
    '2026-01-01 10',
    '01.01.2026',
  ],
  ...['2026-01-01T25:00:00', '1e9', '0x10', '1767225600Z', '9999999999999999', ' 2026-01-01', '2026-01-01 '],
  ...[true, [], ['2026-01-01'], {}, 1e17],
];

test.each(ACCEPTED)('08 C2: %j is a timestamp', (value, timestamp) => {
  expect(utcDate(TimestampInput.parse(value)).toISOString()).toBe(timestamp);
});

/** An operation with a timestamp in its query and in its body. */
const plan = planWire(
  'sample',
  { openapi: { method: 'POST', path: '/sample', tags: ['sample'] }, wire: { query: ['since'] } } as never,
  [z.object({ since: TimestampInput.nullish(), until: TimestampInput.nullish() })],
);

/** Spec 10 R1: a text, another type, a number out of the calendar. */
const typeOf = (value: unknown) =>
  typeof value === 'string' ? 'datetime_from_date_parsing' : typeof value === 'number' ? 'datetime_parsing' : 'datetime_type';

test.each(REFUSED)('08 C2, spec 10 R1: %j is refused by its kind, in a body and in a query', (value) => {
  const decoder = compileDecoder(plan);
  const issuesOf = (request: { query: Record<string, string>; text: string }) => {
    const decoded = decoder.decode({ params: {}, headers: {}, ...request });
    if (!decoded.ok) return decoded.issues;
    const { error } = plan.inputs.map((schema) => z.safeParse(schema, decoded.input))[0]!;
    return decoder.explain(error!, decoded, { params: {}, headers: {}, ...request });
  };
  const inBody = issuesOf({ query: {}, text: JSON.stringify({ until: value }) });
  expect(inBody).toMatchObject([{ loc: ['body', 'until'], type: typeOf(value), input: value }]);
  if (typeof value !== 'string') return;
  const inQuery = issuesOf({ query: { since: value }, text: '{}' });
  expect(inQuery).toMatchObject([{ loc: ['query', 'since'], type: 'datetime_from_date_parsing', input: value }]);
});

interface JsonSchema {
  $ref?: string;
  format?: string;
  anyOf?: JsonSchema[];
  properties?: Record<string, JsonSchema>;
  [key: string]: unknown;
}

/** Fields with a timestamp that are not read by `TimestampInput`, each with its reason. There are none. */
const EXCEPTIONS: Readonly<Record<string, string>> = {};

test('08 C2: every parameter and field of a request that the document calls date-time accepts all forms', () => {
  const document = documentOfService as unknown as {
    paths: Record<
      string,
      Record<string, { parameters?: { name: string; in: string; schema: JsonSchema }[]; requestBody?: unknown }>
    >;
    components: { schemas: Record<string, JsonSchema> };
  };
  const resolve = (schema: JsonSchema): JsonSchema =>
    schema.$ref ? document.components.schemas[schema.$ref.split('/').at(-1)!]! : schema;
  const isTimestamp = (schema: JsonSchema): boolean => schema.format === 'date-time' || (schema.anyOf ?? []).some(isTimestamp);
  const seen: string[] = [];
  const strict: string[] = [];
  for (const route of servedRoutes) {
    const operation = document.paths[route.path]![route.method.toLowerCase()]!;
    const check = (source: string, name: string) => {
      const place = `${route.method} ${route.path} ${source} ${name}`;
      seen.push(place);
      const field = route.plan.fields.find((candidate) => candidate.source === source && candidate.name === name);
      const takesAll = ACCEPTED.every(([value]) => field && z.safeParse(field.schema, value).success);
      if (!takesAll && !(place in EXCEPTIONS)) strict.push(place);
    };
    for (const { name, in: source, schema } of operation.parameters ?? []) if (isTimestamp(schema)) check(source, name);
    const body = (operation.requestBody as { content?: Record<string, { schema: JsonSchema }> })?.content?.['application/json'];
    const visit = (schema: JsonSchema, path: string[], depth: number): void => {
      for (const [name, property] of Object.entries(resolve(schema).properties ?? {})) {
        if (isTimestamp(property)) check('body', [...path, name].join('.'));
        else if (depth < 5)
          for (const part of [property, ...(property.anyOf ?? []), property.items as JsonSchema])
            if (part) visit(part, [...path, name], depth + 1);
      }
    };
    if (body) visit(body.schema, [], 0);
  }
  expect(strict).toEqual([]);
  expect(seen.length).toBeGreaterThanOrEqual(25);
});
