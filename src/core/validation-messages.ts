/** Builds single entries of a 422 answer: type, sentence and `ctx` always fit together (spec 00, HTTP, validation failure). */
import type { ValidationIssue } from './errors.ts';
import { withoutIdentityData } from './redaction.ts';

type Context = Record<string, unknown>;

const count = (n: unknown, noun: string): string => `${n} ${noun}${n === 1 ? '' : 's'}`;

/** Sentence per type, with the texts that clients of this interface know. */
const SENTENCES = {
  missing: () => 'Field required',
  string_type: () => 'Input should be a valid string',
  string_too_short: (ctx: Context) => `String should have at least ${count(ctx.min_length, 'character')}`,
  string_too_long: (ctx: Context) => `String should have at most ${count(ctx.max_length, 'character')}`,
  string_pattern_mismatch: (ctx: Context) => `String should match pattern '${ctx.pattern}'`,
  int_type: () => 'Input should be a valid integer',
  int_parsing: () => 'Input should be a valid integer, unable to parse string as an integer',
  int_from_float: () => 'Input should be a valid integer, got a number with a fractional part',
  float_type: () => 'Input should be a valid number',
  float_parsing: () => 'Input should be a valid number, unable to parse string as a number',
  bool_type: () => 'Input should be a valid boolean',
  bool_parsing: () => 'Input should be a valid boolean, unable to interpret input',
  greater_than: (ctx: Context) => `Input should be greater than ${ctx.gt}`,
  greater_than_equal: (ctx: Context) => `Input should be greater than or equal to ${ctx.ge}`,
  less_than: (ctx: Context) => `Input should be less than ${ctx.lt}`,
  less_than_equal: (ctx: Context) => `Input should be less than or equal to ${ctx.le}`,
  multiple_of: (ctx: Context) => `Input should be a multiple of ${ctx.multiple_of}`,
  enum: (ctx: Context) => `Input should be ${ctx.expected}`,
  literal_error: (ctx: Context) => `Input should be ${ctx.expected}`,
  list_type: () => 'Input should be a valid list',
  too_short: (ctx: Context) =>
    `${ctx.field_type} should have at least ${count(ctx.min_length, 'item')} after validation, not ${ctx.actual_length}`,
  too_long: (ctx: Context) =>
    `${ctx.field_type} should have at most ${count(ctx.max_length, 'item')} after validation, not ${ctx.actual_length}`,
  dict_type: () => 'Input should be a valid dictionary',
  datetime_type: () => 'Input should be a valid datetime',
  datetime_from_date_parsing: (ctx: Context) => `Input should be a valid datetime or date, ${ctx.error}`,
  datetime_parsing: (ctx: Context) => `Input should be a valid datetime, ${ctx.error}`,
  date_parsing: (ctx: Context) => `Input should be a valid date in the format YYYY-MM-DD, ${ctx.error}`,
  uuid_parsing: (ctx: Context) => `Input should be a valid UUID, ${ctx.error}`,
  url_parsing: (ctx: Context) => `Input should be a valid URL, ${ctx.error}`,
  value_error: (ctx: Context) => String(ctx.error),
  json_invalid: () => 'JSON decode error',
} as const;

export type ValidationType = keyof typeof SENTENCES;

/** Every `type` that a 422 answer may carry. */
export const VALIDATION_TYPES = Object.keys(SENTENCES) as ValidationType[];

/**
 * One entry of a 422 answer.
 * @param input the client's own value; signed identity data in it is not shown again
 * @param ctx the bound that was broken; the sentence is made from it. A `value_error` shows its `error` as the sentence only.
 */
export function validationIssue(type: ValidationType, loc: string[], input: unknown, ctx?: Context): ValidationIssue {
  const msg = SENTENCES[type](ctx ?? {});
  const shown = shownInput(loc, input);
  if (ctx === undefined || type === 'value_error') return { type, loc, msg, input: shown };
  return { type, loc, msg, input: shown, ctx };
}

/** `input` of an entry about the value at `loc`, fit to be shown. */
export function shownInput(loc: readonly string[], input: unknown): unknown {
  return withoutIdentityData(input, loc.at(-1));
}

/** `'a', 'b' or 'c'`: the allowed values as `ctx.expected` and the sentence write them. */
export function expectedValues(values: readonly unknown[]): string {
  const words = values.map((value) => (typeof value === 'string' ? `'${value}'` : String(value)));
  if (words.length < 2) return words.join('');
  return `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}
