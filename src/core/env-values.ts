import ipaddr from 'ipaddr.js';
import { z } from 'zod';

/**
 * Types of environment variables. Each reads a text that is not empty and has no spaces around it; a variable that is not set has its
 * default. Messages never repeat the value of a secret.
 */

const TRUE_WORDS: readonly string[] = ['true', '1', 'yes', 'on'];
const FALSE_WORDS = ['false', '0', 'no', 'off'];
const MAX_LONG_INTEGER = 9_000_000_000_000_000_000n;

export const text = (fallback: string) => z.string().default(fallback);

/** A text without a default; null = not set. */
export const optional = (isValid: (value: string) => boolean = () => true, message?: string) =>
  z.string().refine(isValid, message).nullable().default(null);

/** May also be given as `NAME_FILE`. */
export const secret = (isValid?: (value: string) => boolean, message?: string) =>
  optional(isValid, message).meta({ isSecret: true });

const isAddress = (pattern: RegExp) => (value: string) => pattern.test(value) && URL.canParse(value);

export const address = (fallback: string, pattern: RegExp, message: string) =>
  z.string().refine(isAddress(pattern), message).default(fallback);

/** Null = not set. */
export const optionalAddress = (pattern: RegExp, message: string) => optional(isAddress(pattern), message);

/** An address to which paths are added: without a slash at the end. Null = not set. */
export const optionalBase = (pattern: RegExp, message: string) =>
  z.string().overwrite(withoutSlash).refine(isAddress(pattern), message).nullable().default(null);

export const withoutSlash = (value: string): string => value.replace(/\/+$/, '');

export function whole(fallback: number, min: number, max: number, unit?: string) {
  const error = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^-?\d{1,15}$/, error)
    .transform(Number)
    .pipe(z.int().min(min, error).max(max, error))
    .default(fallback)
    .meta(unit === undefined ? {} : { unit });
}

/** A number from 0 to 1. */
export const share = (fallback: number) =>
  z
    .string()
    .regex(/^(0(\.\d+)?|1(\.0+)?)$/, 'must be a number from 0 to 1')
    .transform(Number)
    .pipe(z.number().min(0).max(1))
    .default(fallback);

/** A positive whole number as its text, since it may be above the safe integers; the database has room to count on from it. */
export const longInteger = (fallback: string) =>
  z
    .string()
    .refine(
      (value) => /^[1-9]\d{0,18}$/.test(value) && BigInt(value) <= MAX_LONG_INTEGER,
      `must be a whole number from 1 to ${MAX_LONG_INTEGER}`,
    )
    .default(fallback);

// `z.stringbool` would keep the checks of several variables from running after a wrong word.
const booleanWord = z
  .string()
  .toLowerCase()
  .pipe(z.enum([...TRUE_WORDS, ...FALSE_WORDS], { error: 'must be true or false' }))
  .transform((word) => TRUE_WORDS.includes(word))
  .pipe(z.boolean());

export const flag = (fallback: boolean) => booleanWord.default(fallback);

/** Null = not set: the default depends on other variables. */
export const optionalFlag = () => booleanWord.nullable().default(null);

/** @param synonyms further words, in lower case, and what they mean */
export const choice = <const T extends string>(choices: readonly T[], fallback: NoInfer<T>, synonyms: Record<string, T> = {}) =>
  z
    .string()
    .toLowerCase()
    .transform((word) => (Object.hasOwn(synonyms, word) ? synonyms[word]! : word))
    .pipe(z.enum(choices, { error: `must be one of ${choices.join(', ')}` }))
    .default(fallback as never);

const items = z
  .string()
  .transform((value) => value.split(/[\s,]+/).filter((item) => item !== ''))
  .pipe(z.array(z.string()));

/** Texts separated by commas or spaces. */
export const list = (isValid: (all: string[]) => boolean = () => true, message?: string) =>
  items.refine(isValid, message).default([]).readonly();

/** A word of a client and ours for the same thing. */
export interface WordPair {
  client: string;
  ours: OurWord;
}

const OUR_WORDS = ['messenger', 'vpnpanel'] as const;
type OurWord = (typeof OUR_WORDS)[number];

const WORD_PAIR = /^([a-z][a-z0-9]{2,30})=(messenger|vpnpanel)$/;

/** Pairs `client=ours`, each word at most once. */
export const wordPairs = () =>
  items
    .superRefine(refuseItems((item) => WORD_PAIR.test(item), `not a pair client=${OUR_WORDS.join(' or client=')}`))
    .transform((all): WordPair[] => {
      const found = all.map((item) => WORD_PAIR.exec(item)).filter((match) => match !== null);
      return found.map(([, client = '', ours]) => ({ client, ours: ours as OurWord }));
    })
    .refine(
      (pairs) => new Set(pairs.flatMap(({ client, ours }) => [client, ours])).size === 2 * pairs.length,
      'a word occurs twice',
    )
    .default([])
    .readonly();

/** Addresses and CIDR ranges. */
export const networks = (fallback: readonly string[] = []) =>
  items
    .superRefine(refuseItems((item) => ipaddr.isValid(item) || ipaddr.isValidCIDR(item), 'not an address or a CIDR range'))
    .default([...fallback])
    .readonly();

/** Whole numbers of days from -30 to 30. */
export const days = (fallback: number[]) =>
  items
    .superRefine(
      refuseItems((item) => /^-?\d{1,2}$/.test(item) && Math.abs(Number(item)) <= 30, 'not a number of days from -30 to 30'),
    )
    .transform((all) => all.map(Number))
    .pipe(z.array(z.number()))
    .default(fallback)
    .readonly();

function refuseItems(isValid: (item: string) => boolean, message: string) {
  return (all: string[], context: z.RefinementCtx): void => {
    const bad = all.filter((item) => !isValid(item));
    if (bad.length > 0) context.addIssue(`${message}: ${bad.join(', ')}`);
  };
}

/** `name=value` pairs separated by commas, values URL-encoded, as OpenTelemetry specifies them; a secret. */
export const headerPairs = () =>
  z
    .string()
    .transform((value, context) => {
      const pairs = value.split(',').filter((pair) => pair.trim() !== '');
      const headers = pairs.map(headerOf);
      if (headers.includes(null)) context.addIssue('must be name=value pairs separated by commas');
      return Object.fromEntries(headers.filter((header) => header !== null));
    })
    .pipe(z.record(z.string(), z.string()))
    .default({})
    .readonly()
    .meta({ isSecret: true });

function headerOf(pair: string): [string, string] | null {
  const [name, value] = [pair.slice(0, pair.indexOf('=')).trim(), decoded(pair.slice(pair.indexOf('=') + 1).trim())];
  return /^[\w!#$%&'*+.^`|~-]+$/.test(name) && value !== null && !/[^\t\x20-\x7e]/.test(value) ? [name, value] : null;
}

function decoded(value: string): string | null {
  try {
    return decodeURIComponent(value);
  } catch {
    return null;
  }
}
