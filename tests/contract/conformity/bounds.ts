/**
 * Bounds as the published document states them, written down by hand and without a look at our schemas, with the cases that follow
 * from each: both sides of every bound, null, a wrong type, absence. The sentences of the refusals are written out here once more,
 * so that a slip in `core/validation-messages` is seen.
 */

/** What a 422 must say about one value; `loc` and `input` follow from the field and the value. */
interface Refusal {
  type: string;
  msg: string;
  ctx?: Record<string, unknown>;
}

export interface ValueCase {
  what: string;
  /** Not own: the field is left out. */
  value?: unknown;
  /** Null: the value is taken. */
  refusal: Refusal | null;
}

export interface Field {
  cases: ValueCase[];
}

interface Presence {
  required?: boolean;
  nullable?: boolean;
}

/** Of timestamps that are accepted: some must be in the future. */
const YEAR = new Date().getUTCFullYear() + 2;

const taken = (what: string, value: unknown): ValueCase => ({ what, value, refusal: null });
const refused = (what: string, value: unknown, type: string, msg: string, ctx?: Record<string, unknown>): ValueCase => ({
  what,
  value,
  refusal: ctx ? { type, msg, ctx } : { type, msg },
});
const characters = (n: number) => `${n} character${n === 1 ? '' : 's'}`;

/** Absence and null, whose wrong type is that of the field. */
function presence({ required = false, nullable = false }: Presence, wrongType: Refusal): ValueCase[] {
  return [
    { what: 'absent', refusal: required ? { type: 'missing', msg: 'Field required' } : null },
    { what: 'null', value: null, refusal: nullable ? null : wrongType },
  ];
}

const NOT_TEXT: Refusal = { type: 'string_type', msg: 'Input should be a valid string' };
const NOT_WHOLE: Refusal = { type: 'int_type', msg: 'Input should be a valid integer' };
const NOT_NUMBER: Refusal = { type: 'float_type', msg: 'Input should be a valid number' };
const NOT_BOOLEAN: Refusal = { type: 'bool_type', msg: 'Input should be a valid boolean' };
const NOT_OBJECT: Refusal = { type: 'dict_type', msg: 'Input should be a valid dictionary' };
const NOT_LIST: Refusal = { type: 'list_type', msg: 'Input should be a valid list' };

interface TextBounds extends Presence {
  min?: number;
  max?: number;
  /** The documented pattern with texts that break it (and are of a good length). */
  pattern?: { source: string; breaks: string[] };
  /** What the field is filled with up to a length; `a` unless stated. */
  fill?: (length: number) => string;
  /** A text that is taken where a filled one would not be. */
  sample?: string;
}

export function text({ min = 0, max, pattern, fill = (n) => 'a'.repeat(n), sample, ...rest }: TextBounds): Field {
  const cases = [...presence(rest, NOT_TEXT)];
  for (const wrong of [7, true, ['a'], { a: 1 }]) cases.push({ what: JSON.stringify(wrong), value: wrong, refusal: NOT_TEXT });
  if (min > 0) {
    if (sample === undefined) cases.push(taken(`${min} long`, fill(min)));
    const short = fill(min - 1);
    cases.push(
      refused(`${min - 1} long`, short, 'string_too_short', `String should have at least ${characters(min)}`, {
        min_length: min,
      }),
    );
  }
  if (max !== undefined) {
    if (sample === undefined) cases.push(taken(`${max} long`, fill(max)));
    const long = fill(max + 1);
    cases.push(
      refused(`${max + 1} long`, long, 'string_too_long', `String should have at most ${characters(max)}`, { max_length: max }),
    );
  }
  if (sample !== undefined) cases.push(taken(sample, sample));
  for (const broken of pattern?.breaks ?? []) {
    const { source } = pattern!;
    cases.push(
      refused(JSON.stringify(broken), broken, 'string_pattern_mismatch', `String should match pattern '${source}'`, {
        pattern: source,
      }),
    );
  }
  return { cases };
}

interface NumberBounds extends Presence {
  ge?: number;
  le?: number;
  /** Values that are taken beside the bounds; without bounds at least one. */
  samples?: number[];
  /** The bounds themselves are not tried because the entity would refuse them for another reason. */
  outsideOnly?: true;
}

function numberCases({ ge, le, samples = [], outsideOnly }: NumberBounds): ValueCase[] {
  const cases = samples.map((value) => taken(String(value), value));
  if (ge !== undefined) {
    if (!outsideOnly) cases.push(taken(String(ge), ge));
    const msg = `Input should be greater than or equal to ${ge}`;
    cases.push(refused(String(ge - 1), ge - 1, 'greater_than_equal', msg, { ge }));
  }
  if (le !== undefined) {
    if (!outsideOnly) cases.push(taken(String(le), le));
    const msg = `Input should be less than or equal to ${le}`;
    cases.push(refused(String(le + 1), le + 1, 'less_than_equal', msg, { le }));
  }
  return cases;
}

/** A whole number of a JSON body. */
export function whole(bounds: NumberBounds): Field {
  return {
    cases: [
      ...presence(bounds, NOT_WHOLE),
      ...['seven', true, [1]].map((value) => ({ what: JSON.stringify(value), value, refusal: NOT_WHOLE })),
      refused('1.5', 1.5, 'int_from_float', 'Input should be a valid integer, got a number with a fractional part'),
      ...numberCases(bounds),
    ],
  };
}

/** A number of a JSON body, with or without fraction. */
export function numeric(bounds: NumberBounds): Field {
  return {
    cases: [
      ...presence(bounds, NOT_NUMBER),
      ...['seven', true].map((value) => ({ what: JSON.stringify(value), value, refusal: NOT_NUMBER })),
      ...numberCases(bounds),
    ],
  };
}

export function flag(rest: Presence): Field {
  return {
    cases: [
      ...presence(rest, NOT_BOOLEAN),
      taken('true', true),
      taken('false', false),
      ...['perhaps', 7, {}].map((value) => ({ what: JSON.stringify(value), value, refusal: NOT_BOOLEAN })),
    ],
  };
}

/** One of a closed list. `tries` are the words to take; all of them unless some need more than themselves. */
export function oneOf(
  words: string[],
  { tries = words, type = 'enum', ...rest }: Presence & { tries?: string[]; type?: 'enum' | 'literal_error' },
): Field {
  const quoted = words.map((word) => `'${word}'`);
  const expected = `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`;
  const wrong: Refusal = { type, msg: `Input should be ${expected}`, ctx: { expected } };
  return {
    cases: [
      ...presence(rest, wrong),
      ...tries.map((word) => taken(word, word)),
      ...['no-such-word', '', words[0]!.toUpperCase(), 7].map((value) => ({
        what: JSON.stringify(value),
        value,
        refusal: wrong,
      })),
    ],
  };
}

export function freeForm(rest: Presence): Field {
  return {
    cases: [
      ...presence(rest, NOT_OBJECT),
      taken('an object', { a: [1, { b: null }] }),
      ...['text', [1], 7].map((value) => ({ what: JSON.stringify(value), value, refusal: NOT_OBJECT })),
    ],
  };
}

/** A list of texts. */
export function texts(sample: string[], rest: Presence): Field {
  return {
    cases: [
      ...presence(rest, NOT_LIST),
      taken('empty', []),
      taken('a list', sample),
      ...['text', 7, {}].map((value) => ({ what: JSON.stringify(value), value, refusal: NOT_LIST })),
    ],
  };
}

export function timestamp(rest: Presence): Field {
  const broken = (error: string): Refusal => ({
    type: 'datetime_from_date_parsing',
    msg: `Input should be a valid datetime or date, ${error}`,
    ctx: { error },
  });
  return {
    cases: [
      ...presence(rest, { type: 'datetime_type', msg: 'Input should be a valid datetime' }),
      taken('with a zone', `${YEAR}-01-31T12:00:00+03:00`),
      taken('without a zone', `${YEAR}-01-31T12:00:00`),
      taken('with a blank', `${YEAR}-01-31 12:00:00`),
      taken('a date alone', `${YEAR}-01-31`),
      taken('seconds', Date.UTC(YEAR, 0, 31, 12) / 1000),
      { what: 'too short', value: 'soon', refusal: broken('input is too short') },
      { what: 'no date', value: `${YEAR}-13-45T12:00:00Z`, refusal: broken('invalid character or value') },
    ],
  };
}

/** A whole number in the address: of a query, or of a path. */
export function queryWhole({ ge, le }: { ge?: number; le?: number }): Field {
  const parse: Refusal = {
    type: 'int_parsing',
    msg: 'Input should be a valid integer, unable to parse string as an integer',
  };
  return {
    cases: [
      { what: 'absent', refusal: null },
      ...['seven', '1.5', '', 'null', 'true'].map((value) => ({ what: JSON.stringify(value), value, refusal: parse })),
      ...numberCases({ ...(ge === undefined ? {} : { ge }), ...(le === undefined ? {} : { le }) }).map((one) => ({
        ...one,
        value: String(one.value),
      })),
    ],
  };
}

/** The field without some of its cases, by their names: where a rule of the operation answers before the bound could be seen. */
export function without(names: string[], field: Field): Field {
  return { cases: field.cases.filter((one) => !names.includes(one.what)) };
}

/** Only the refusals of a field: of a credential, which no made-up value can be. */
export function refusalsOf(field: Field): Field {
  return { cases: field.cases.filter((one) => one.refusal !== null) };
}
