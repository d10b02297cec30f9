import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { VALIDATION_TYPES } from '../../../src/core/validation-messages.ts';
import { CoercionFailure, coercionFor } from '../../../src/rest/wire-coercion.ts';
import { compileDecoder, findJsonFault, type WireRequest } from '../../../src/rest/wire-decoder.ts';
import { planWire } from '../../../src/rest/wire-plan.ts';
import { documented, meta, thingRouter } from './rest-fixture.ts';

const request = (more: Partial<WireRequest> = {}): WireRequest => ({
  params: {},
  query: {},
  headers: {},
  text: undefined,
  ...more,
});

describe('decoder', () => {
  const { routes } = documented(thingRouter);
  const text = fc.oneof(fc.string(), fc.constantFrom('', '0', '-1', '5', '1e400', 'true', 'null', '9'.repeat(400), '\ud800'));
  const values = fc.dictionary(
    fc.constantFrom('limit', 'active', 'ids', 'status', 'ratio', 'since', 'thing_id', 'source', 'times', 'x-count', '__proto__'),
    fc.oneof(text, fc.array(text, { maxLength: 4 })),
  );
  const singles = fc.dictionary(fc.constantFrom('thing_id', 'round_id', 'name'), text);
  const body = fc.oneof(
    fc.constant(undefined),
    fc.string(),
    fc.json(),
    fc.object().map((o) => JSON.stringify(o)),
  );

  it('is total: a value or located issues of the vocabulary, never an exception', () => {
    const property = fc.property(
      fc.constantFrom(...routes),
      singles,
      values,
      values,
      body,
      (route, params, query, headers, raw) => {
        const wire = request({ params, query, headers, text: raw });
        const decoded = route.decoder.decode(wire);
        const [schema] = route.plan.inputs;
        const refusal = decoded.ok && schema ? z.safeParse(schema, decoded.input).error : undefined;
        const issues = decoded.ok ? (refusal ? route.decoder.explain(refusal, decoded, wire) : []) : decoded.issues;
        if (!decoded.ok) expect(issues.length).toBeGreaterThan(0);
        for (const issue of issues) {
          expect(VALIDATION_TYPES).toContain(issue.type);
          expect(['body', 'query', 'path', 'header']).toContain(issue.loc[0]);
          expect(issue.msg).not.toMatch(/undefined/);
        }
      },
    );
    fc.assert(property, { numRuns: 1500 });
  });

  it('gives back whole numbers as written', () => {
    const { decoder } = routes.find((route) => route.procedurePath === 'things.get')!;
    fc.assert(
      fc.property(fc.maxSafeInteger(), (n) => {
        expect(decoder.decode(request({ params: { thing_id: String(n) } }))).toMatchObject({ ok: true, input: { thing_id: n } });
      }),
    );
  });

  it('passes unknown body fields to a loose schema, but not over a path key or into the prototype', () => {
    const loose = z.looseObject({ id: z.int(), a: z.int().optional() });
    const decoder = compileDecoder(planWire('loose', meta('POST', '/loose/{id}'), [loose]));
    const decoded = decoder.decode(request({ params: { id: '1' }, text: '{"id":2,"b":3,"__proto__":{"admin":true}}' }));
    expect(decoded).toMatchObject({ ok: true, input: { id: 1, b: 3 } });
    expect((decoded as { input: { admin?: boolean } }).input.admin).toBeUndefined();
  });

  it('lets a schema that checks asynchronously or throws not break the answer', () => {
    const odd = z.object({
      n: z.int(),
      s: z.string().refine(async () => true),
    });
    const decoder = compileDecoder(planWire('odd', meta('GET', '/odd'), [odd]));
    expect(decoder.decode(request({ query: { n: 'x', s: 'y' } }))).toMatchObject({
      ok: false,
      issues: [{ type: 'int_parsing' }],
    });
  });
});

describe('coercion', () => {
  const read = (schema: z.ZodType, raw: string | string[]) => {
    const value = coercionFor(schema)(raw);
    return value instanceof CoercionFailure ? value.faults.map((fault) => fault.type).join() : value;
  };

  it.each<[string, z.ZodType, string | string[], unknown]>([
    ['negative', z.int(), '-5', -5],
    ['no minus zero', z.int(), '-0', 0],
    ['fraction for a whole number', z.int(), '1.0', 'int_parsing'],
    ['hexadecimal', z.int(), '0x10', 'int_parsing'],
    ['blank', z.int(), ' ', 'int_parsing'],
    ['exponent', z.number(), '1e3', 1000],
    ['infinite', z.number(), 'Infinity', 'float_parsing'],
    ['overflow', z.number(), '1e999', 'float_parsing'],
    ['text stays text', z.string(), '5', '5'],
    ['default inside nullable', z.int().nullable().default(null), '7', 7],
    ['pipe reads its in side', z.int().transform(String), '7', 7],
    ['preprocess reads its target', z.preprocess((v) => v, z.boolean()), 'no', false],
    ['number literals', z.literal([1, 2]), '2', 2],
    ['union of number and boolean', z.union([z.int(), z.boolean()]), 'off', false],
    ['union with text', z.union([z.int(), z.string()]), '5', '5'],
    ['list of one', z.array(z.boolean()), '1', [true]],
    ['list faults', z.array(z.int()), ['1', 'x', 'y'], 'int_parsing,int_parsing'],
    ['bigint', z.bigint(), '12', 12n],
    ['moment without zone is UTC', z.date(), '2026-01-31T12:00:00', new Date('2026-01-31T12:00:00Z')],
    ['no moment', z.date(), 'soon', 'datetime_from_date_parsing'],
  ])('%s', (_name, schema, raw, value) => {
    expect(read(schema, raw)).toEqual(value);
  });
});

describe('findJsonFault', () => {
  it.each<[string, number]>([
    ['', 0],
    ['{', 1],
    ['{"a":1,}', 7],
    ['[1,2', 4],
    ['[1 2]', 3],
    ['{"a" 1}', 5],
    ['nul', 0],
    ['{} x', 3],
    ['["a\nb"]', 1],
    ['01', 1],
    ["{'a':1}", 1],
  ])('%j', (text, position) => {
    expect(() => JSON.parse(text)).toThrow(SyntaxError);
    expect(findJsonFault(text).position).toBe(position);
  });

  it('finds a place inside every broken text, and the break itself when a good text is cut', () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), (json, at) => {
        const cut = json.slice(0, at % (json.length + 1));
        try {
          JSON.parse(cut);
        } catch {
          const { position } = findJsonFault(cut);
          expect(position).toBeGreaterThanOrEqual(0);
          expect(position).toBeLessThanOrEqual(cut.length);
        }
      }),
    );
  });
});
