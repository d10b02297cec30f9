/** Reads the strings of paths, queries, headers and form fields as the type that a schema wants (spec 00, query values). */
import { z } from 'zod';
import { isWithinCalendar } from '../core/clock.ts';
import type { ValidationType } from '../core/validation-messages.ts';
import { innerSchema, isIntegerSchema, type Schema } from '../core/zod-structure.ts';

export interface CoercionFault {
  type: ValidationType;
  input: unknown;
  ctx?: Record<string, unknown>;
  /** Place in a list. */
  index?: number;
}

/** The string cannot be read as the type. A value, not an exception: the decoder collects them. */
export class CoercionFailure {
  readonly faults: readonly CoercionFault[];

  constructor(faults: readonly CoercionFault[]) {
    this.faults = faults;
  }
}

/** From the received text (several values when a key is repeated) to the value for the schema, or a `CoercionFailure`. */
export type Coercion = (raw: string | readonly string[]) => unknown;

const INTEGER = /^-?\d+$/;
const DECIMAL = /^-?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
const BOOLEAN_WORDS = new Map([
  ['true', true],
  ['1', true],
  ['yes', true],
  ['on', true],
  ['t', true],
  ['y', true],
  ['false', false],
  ['0', false],
  ['no', false],
  ['off', false],
  ['f', false],
  ['n', false],
] satisfies [string, boolean][]);

type Single = (text: string) => unknown;

/**
 * Compiles the reading of one key.
 * Whole numbers beyond 2^53 are passed on as numbers: the schema refuses them with its own bound.
 */
export function coercionFor(schema: Schema): Coercion {
  const inner = innerSchema(schema);
  if (inner instanceof z.ZodArray || inner instanceof z.ZodTuple || inner instanceof z.ZodSet) return listCoercion(inner);
  const single = singleCoercion(inner);
  return (raw) => {
    const text = typeof raw === 'string' ? raw : (raw.at(-1) ?? '');
    return single === undefined ? text : single(text);
  };
}

function listCoercion(schema: z.ZodArray | z.ZodTuple | z.ZodSet): Coercion {
  const element = schema instanceof z.ZodArray ? (schema.element as Schema) : undefined;
  const single = element && singleCoercion(innerSchema(element));
  const isSet = schema instanceof z.ZodSet;
  return (raw) => {
    const texts = typeof raw === 'string' ? [raw] : raw;
    if (single === undefined) return isSet ? new Set(texts) : [...texts];
    const faults: CoercionFault[] = [];
    const values = texts.map((text, index) => {
      const value = single(text);
      if (value instanceof CoercionFailure) faults.push({ ...value.faults[0]!, index });
      return value;
    });
    return faults.length > 0 ? new CoercionFailure(faults) : values;
  };
}

/** undefined: the string is passed on as it is, the schema checks it (strings of all formats, enumerations, dates as text). */
function singleCoercion(inner: Schema): Single | undefined {
  if (inner instanceof z.ZodNumber) return isIntegerSchema(inner) ? readInteger : readDecimal;
  if (inner instanceof z.ZodBoolean) return readBoolean;
  if (inner instanceof z.ZodBigInt) return (text) => (INTEGER.test(text) ? BigInt(text) : failure('int_parsing', text));
  if (inner instanceof z.ZodDate) return readDate;
  if (inner instanceof z.ZodLiteral) return wordCoercion([...inner.values]);
  if (inner instanceof z.ZodEnum) return wordCoercion(inner.options as unknown[]);
  if (inner instanceof z.ZodUnion) return unionCoercion(inner.options as readonly Schema[]);
  return undefined;
}

function failure(type: ValidationType, input: string, ctx?: Record<string, unknown>): CoercionFailure {
  return new CoercionFailure([ctx === undefined ? { type, input } : { type, input, ctx }]);
}

function readInteger(text: string): unknown {
  return INTEGER.test(text) ? Number(text) + 0 : failure('int_parsing', text);
}

function readDecimal(text: string): unknown {
  const value = DECIMAL.test(text) ? Number(text) + 0 : Number.NaN;
  return Number.isFinite(value) ? value : failure('float_parsing', text);
}

function readBoolean(text: string): unknown {
  return BOOLEAN_WORDS.get(text.toLowerCase()) ?? failure('bool_parsing', text);
}

function readDate(text: string): unknown {
  // Without a zone the time is UTC (spec 00, Times); a date alone is read as UTC by JavaScript.
  const zoned = /[Tt ]\d/.test(text) && !/(?:[Zz]|[+-]\d\d:?\d\d)$/.test(text) ? `${text}Z` : text;
  const date = new Date(zoned);
  const isIso = /^\d{4}-\d\d-\d\d/.test(text);
  return isIso && isWithinCalendar(date)
    ? date
    : failure('datetime_from_date_parsing', text, { error: 'invalid character or value' });
}

/** Literals that are not text are compared as text; anything else goes to the schema, whose error lists the allowed values. */
function wordCoercion(values: readonly unknown[]): Single | undefined {
  if (values.every((value) => typeof value === 'string')) return undefined;
  const byText = new Map(values.map((value) => [String(value), value]));
  return (text) => (byText.has(text) ? byText.get(text) : text);
}

/** A union that accepts text gets text; otherwise the first branch that can read the string decides. */
function unionCoercion(options: readonly Schema[]): Single | undefined {
  const singles = options.map((option) => singleCoercion(innerSchema(option)));
  if (singles.includes(undefined)) return undefined;
  return (text) => {
    let first: unknown;
    for (const single of singles) {
      const value = single?.(text);
      if (!(value instanceof CoercionFailure)) return value;
      first ??= value;
    }
    return first;
  };
}
