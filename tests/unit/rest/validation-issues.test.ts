import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { issuesFromZod } from '../../../src/core/validation-issues.ts';

const locate = (path: readonly PropertyKey[]): string[] => ['body', ...path.map(String)];

function issues(schema: z.ZodType, value: unknown) {
  const parsed = schema.safeParse(value);
  if (parsed.success) throw new Error('the schema accepted the value');
  return issuesFromZod(parsed.error, value, locate, schema);
}

const one = (schema: z.ZodType, value: unknown) => {
  const [issue] = issues(z.object({ f: schema }), { f: value });
  return [issue?.type, issue?.msg, issue?.ctx];
};

describe('issuesFromZod', () => {
  it.each<[string, z.ZodType, unknown, string, string, object | undefined]>([
    ['text', z.string(), 5, 'string_type', 'Input should be a valid string', undefined],
    ['null text', z.string(), null, 'string_type', 'Input should be a valid string', undefined],
    ['short text', z.string().min(3), 'a', 'string_too_short', 'String should have at least 3 characters', { min_length: 3 }],
    ['empty text', z.string().min(1), '', 'string_too_short', 'String should have at least 1 character', { min_length: 1 }],
    ['long text', z.string().max(2), 'abc', 'string_too_long', 'String should have at most 2 characters', { max_length: 2 }],
    [
      'pattern',
      z.string().regex(/^a\/b$/i),
      'b',
      'string_pattern_mismatch',
      "String should match pattern '^a\\/b$'",
      { pattern: '^a\\/b$' },
    ],
    ['whole number as text', z.int(), '5', 'int_type', 'Input should be a valid integer', undefined],
    ['optional whole number', z.int().nullable().optional(), 'x', 'int_type', 'Input should be a valid integer', undefined],
    ['older whole number', z.number().int(), [], 'int_type', 'Input should be a valid integer', undefined],
    [
      'fraction',
      z.int(),
      1.5,
      'int_from_float',
      'Input should be a valid integer, got a number with a fractional part',
      undefined,
    ],
    [
      'too exact',
      z.int(),
      2 ** 60,
      'less_than_equal',
      'Input should be less than or equal to 9007199254740991',
      { le: Number.MAX_SAFE_INTEGER },
    ],
    ['number', z.number(), '5', 'float_type', 'Input should be a valid number', undefined],
    ['boolean', z.boolean(), 'yes', 'bool_type', 'Input should be a valid boolean', undefined],
    ['at least', z.int().min(1), 0, 'greater_than_equal', 'Input should be greater than or equal to 1', { ge: 1 }],
    ['more than', z.int().positive(), 0, 'greater_than', 'Input should be greater than 0', { gt: 0 }],
    ['at most', z.int().max(5), 6, 'less_than_equal', 'Input should be less than or equal to 5', { le: 5 }],
    ['less than', z.number().lt(5), 5, 'less_than', 'Input should be less than 5', { lt: 5 }],
    ['step', z.int().multipleOf(5), 3, 'multiple_of', 'Input should be a multiple of 5', { multiple_of: 5 }],
    ['enumeration', z.enum(['a', 'b', 'c']), 'x', 'enum', "Input should be 'a', 'b' or 'c'", { expected: "'a', 'b' or 'c'" }],
    ['one literal', z.literal('a'), 'x', 'literal_error', "Input should be 'a'", { expected: "'a'" }],
    ['literals', z.literal([1, 2]), 3, 'literal_error', 'Input should be 1 or 2', { expected: '1 or 2' }],
    [
      'union of literals',
      z.union([z.literal('a'), z.literal('b')]),
      3,
      'literal_error',
      "Input should be 'a' or 'b'",
      { expected: "'a' or 'b'" },
    ],
    ['list', z.array(z.int()), 'x', 'list_type', 'Input should be a valid list', undefined],
    [
      'short list',
      z.array(z.int()).min(1),
      [],
      'too_short',
      'List should have at least 1 item after validation, not 0',
      { field_type: 'List', min_length: 1, actual_length: 0 },
    ],
    [
      'long list',
      z.array(z.int()).max(2),
      [1, 2, 3],
      'too_long',
      'List should have at most 2 items after validation, not 3',
      { field_type: 'List', max_length: 2, actual_length: 3 },
    ],
    ['object', z.object({}), [], 'dict_type', 'Input should be a valid dictionary', undefined],
    ['map', z.record(z.string(), z.int()), 'x', 'dict_type', 'Input should be a valid dictionary', undefined],
    [
      'time',
      z.iso.datetime(),
      'x',
      'datetime_from_date_parsing',
      'Input should be a valid datetime or date, input is too short',
      { error: 'input is too short' },
    ],
    [
      'time as number',
      z.iso.datetime(),
      5,
      'datetime_parsing',
      'Input should be a valid datetime, the number is out of range',
      { error: 'the number is out of range' },
    ],
    ['spec 10 R1: time as list', z.iso.datetime(), [], 'datetime_type', 'Input should be a valid datetime', undefined],
    [
      'day',
      z.iso.date(),
      '2026-02-30',
      'date_parsing',
      'Input should be a valid date in the format YYYY-MM-DD, invalid character or value',
      { error: 'invalid character or value' },
    ],
    [
      'uuid',
      z.uuid(),
      'x',
      'uuid_parsing',
      'Input should be a valid UUID, invalid length or characters',
      { error: 'invalid length or characters' },
    ],
    [
      'url',
      z.url(),
      'x',
      'url_parsing',
      'Input should be a valid URL, invalid or relative URL',
      { error: 'invalid or relative URL' },
    ],
    [
      'email',
      z.email(),
      'x',
      'value_error',
      'value is not a valid email address: An email address must have an @-sign.',
      undefined,
    ],
    ['own rule', z.string().refine(() => false, 'must rhyme'), 'x', 'value_error', 'Value error, must rhyme', undefined],
  ])('%s', (_name, schema, value, type, msg, ctx) => {
    expect(one(schema, value)).toEqual([type, msg, ctx]);
  });

  it('reports an absent field with the object that misses it, for every kind of schema', () => {
    const kinds = [z.string(), z.int(), z.enum(['a', 'b']), z.array(z.int()), z.union([z.int(), z.string()]), z.iso.datetime()];
    for (const kind of kinds) {
      expect(issues(z.object({ list: z.array(z.object({ f: kind })) }), { list: [{ g: 1 }] })).toEqual([
        { type: 'missing', loc: ['body', 'list', '0', 'f'], msg: 'Field required', input: { g: 1 } },
      ]);
    }
  });

  it('reports a wrong literal text as one, described or not', () => {
    const side = z.literal(['left', 'right']);
    expect(one(side, 'up')[0]).toBe('literal_error');
    expect(one(side.nullish().describe('The side.'), 'up')[0]).toBe('literal_error');
    expect(one(side.describe('The side.'), 'up')[0]).toBe('literal_error');
    expect(one(z.enum(['left', 'right']), 'up')[0]).toBe('enum');
  });

  it('reports the branch of a union that was meant', () => {
    const union = z.union([z.string(), z.object({ kind: z.string(), n: z.int() })]);
    expect(issues(z.object({ f: union }), { f: { kind: 'x', n: 'y' } })).toEqual([
      { type: 'int_type', loc: ['body', 'f', 'n'], msg: 'Input should be a valid integer', input: 'y' },
    ]);
    expect(one(z.union([z.string().min(3), z.int()]), 'a')[0]).toBe('string_too_short');
  });

  it('names the tags of a discriminated union', () => {
    const union = z.discriminatedUnion('t', [z.object({ t: z.literal('a') }), z.object({ t: z.literal('b') })]);
    expect(issues(union, { t: 'c' })).toEqual([
      {
        type: 'literal_error',
        loc: ['body', 't'],
        msg: "Input should be 'a' or 'b'",
        input: 'c',
        ctx: { expected: "'a' or 'b'" },
      },
    ]);
    expect(issues(union, {})[0]).toMatchObject({ type: 'missing', loc: ['body', 't'] });
  });

  it('does not call a rule across fields a missing field', () => {
    const schema = z
      .object({ a: z.int().optional() })
      .refine((v) => v.a !== undefined, { path: ['a'], message: 'a is needed here' });
    expect(issues(schema, {})).toEqual([
      { type: 'value_error', loc: ['body', 'a'], msg: 'Value error, a is needed here', input: {} },
    ]);
  });

  it('names each field that a strict schema does not know', () => {
    expect(issues(z.strictObject({ a: z.int() }), { a: 1, b: 2, c: 3 }).map((i) => [i.loc, i.input])).toEqual([
      [['body', 'b'], 2],
      [['body', 'c'], 3],
    ]);
  });

  it('shows an input with every entry: where a rule misses a value, the object it misses in', () => {
    const gift = z.object({ is_gift: z.boolean(), to: z.string().optional() }).superRefine((body, ctx) => {
      if (body.is_gift && !body.to) ctx.addIssue({ code: 'custom', path: ['to'], message: 'A gift needs a recipient' });
    });
    expect(issues(z.object({ order: gift }), { order: { is_gift: true } })).toEqual([
      {
        type: 'value_error',
        loc: ['body', 'order', 'to'],
        msg: 'Value error, A gift needs a recipient',
        input: { is_gift: true },
      },
    ]);
  });
});
