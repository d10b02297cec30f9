/** Turns zod's issues into the 422 vocabulary of the service (spec 00, Validation failure), so that REST, tRPC and sockets report wrong input alike. */
import { z } from 'zod';
import type { ValidationIssue } from './errors.ts';
import { expectedValues, type ValidationType, validationIssue } from './validation-messages.ts';
import { innerSchema, isIntegerSchema, type Schema, schemaAt } from './zod-structure.ts';

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

/** Returns the place on the wire of a path of the input value: `['limit']` -> `['query', 'limit']`. */
export type Locate = (path: Path) => string[];

interface Place {
  root: unknown;
  locate: Locate;
  /** Path from the root to the schema that the issue refers to (branches of a union report relative paths). */
  base: Path;
  schema: Schema | undefined;
}

/**
 * Maps a failed parse to the entries of a 422 answer.
 * @param root the value that was parsed; `input` of each entry is looked up in it (of a missing field: the object without it)
 * @param schema the schema that refused. Without it a wrong whole number cannot be distinguished from a wrong number,
 *   nor a one-of literal from an enumeration
 */
export function issuesFromZod(error: z.core.$ZodError, root: unknown, locate: Locate, schema?: Schema): ValidationIssue[] {
  return withoutFollowers(error.issues).flatMap((issue) => fromIssue(issue, { root, locate, base: [], schema }));
}

/**
 * A wrong value gets one entry, for the first problem with it: zod checks the length of a list where a text is expected, and the pattern
 * of a text that is too short already. All findings of a schema's own rules (`custom`) are reported.
 */
function withoutFollowers(issues: readonly Issue[]): Issue[] {
  const wrong = new Set<string>();
  return issues.filter((issue) => {
    const place = JSON.stringify(issue.path.map(String));
    if (wrong.has(place)) return false;
    if (issue.code !== 'custom') wrong.add(place);
    return true;
  });
}

function fromIssue(issue: Issue, place: Place): ValidationIssue[] {
  const path = [...place.base, ...issue.path];
  const input = valueAt(place.root, path);
  // Every entry shows the wrong value; for a missing one, the object without it.
  const shown = () => (input === undefined ? (valueAt(place.root, path.slice(0, -1)) ?? null) : input);
  const entry = (type: ValidationType, ctx?: Record<string, unknown>): ValidationIssue[] => [
    validationIssue(type, place.locate(path), shown(), ctx),
  ];
  const schema = place.schema && schemaAt(place.schema, issue.path);
  // A rule of the schema itself (`custom`) may check an absent value on purpose; `z.custom` only declares a type.
  if (input === undefined && path.length > 0 && (issue.code !== 'custom' || schema instanceof z.ZodCustom)) {
    return [validationIssue('missing', place.locate(path), shown())];
  }
  switch (issue.code) {
    case 'invalid_type':
      return entry(...wrongType(issue, input, schema));
    case 'too_small':
      return entry(...tooSmall(issue, input));
    case 'too_big':
      return entry(...tooBig(issue, input));
    case 'not_multiple_of':
      return entry('multiple_of', { multiple_of: Number(issue.divisor) });
    case 'invalid_value':
      return entry(isLiteral(schema, issue.values) ? 'literal_error' : 'enum', { expected: expectedValues(issue.values) });
    case 'invalid_format':
      return entry(...wrongFormat(issue, input));
    case 'invalid_union':
      return fromUnion(issue, { ...place, base: path, schema }, input);
    case 'unrecognized_keys':
      return issue.keys.map((key) =>
        validationIssue('value_error', place.locate([...path, key]), valueAt(input, [key]), {
          error: 'Extra inputs are not permitted',
        }),
      );
    case 'invalid_key':
    case 'invalid_element':
      return entry('value_error', { error: `Value error, ${issue.issues[0]?.message ?? issue.message}` });
    default:
      return entry('value_error', { error: `Value error, ${issue.message}` });
  }
}

type Finding = [ValidationType, Record<string, unknown>?];

function wrongType(issue: z.core.$ZodIssueInvalidType, input: unknown, schema: Schema | undefined): Finding {
  switch (issue.expected as string) {
    case 'int':
      return ['int_from_float'];
    case 'number':
      return [schema && isIntegerSchema(schema) ? 'int_type' : 'float_type'];
    case 'boolean':
      return ['bool_type'];
    case 'string':
      return schema instanceof z.ZodISODateTime
        ? wrongTimestamp(input)
        : schema instanceof z.ZodISODate
          ? ['date_parsing', { error: 'input is not a string' }]
          : ['string_type'];
    case 'date':
      return wrongTimestamp(input);
    case 'array':
    case 'tuple':
    case 'set':
      return ['list_type'];
    case 'object':
    case 'record':
    case 'map':
      return ['dict_type'];
    case 'nonoptional':
      return ['missing'];
    default:
      return input === undefined ? ['missing'] : ['value_error', { error: `Value error, ${issue.message}` }];
  }
}

/** A text may also be a date alone, so its entry names both; a number is read as seconds or milliseconds. */
function wrongTimestamp(input: unknown): Finding {
  if (typeof input === 'string') return ['datetime_from_date_parsing', { error: dateFault(input) }];
  return typeof input === 'number' ? ['datetime_parsing', { error: 'the number is out of range' }] : ['datetime_type'];
}

const isList = (origin: string): boolean => origin === 'array' || origin === 'set' || origin === 'map' || origin === 'file';

function lengthOf(input: unknown): number {
  return Array.isArray(input) ? input.length : input instanceof Set || input instanceof Map ? input.size : 0;
}

function tooSmall(issue: z.core.$ZodIssueTooSmall, input: unknown): Finding {
  const bound = boundOf(issue.minimum, issue.origin);
  if (issue.origin === 'string') return ['string_too_short', { min_length: bound }];
  if (isList(issue.origin)) return ['too_short', { field_type: 'List', min_length: bound, actual_length: lengthOf(input) }];
  return issue.inclusive ? ['greater_than_equal', { ge: bound }] : ['greater_than', { gt: bound }];
}

function tooBig(issue: z.core.$ZodIssueTooBig, input: unknown): Finding {
  const bound = boundOf(issue.maximum, issue.origin);
  if (issue.origin === 'string') return ['string_too_long', { max_length: bound }];
  if (isList(issue.origin)) return ['too_long', { field_type: 'List', max_length: bound, actual_length: lengthOf(input) }];
  return issue.inclusive ? ['less_than_equal', { le: bound }] : ['less_than', { lt: bound }];
}

/** zod keeps the bound of a date as milliseconds. */
function boundOf(bound: number | bigint, origin: string): number | string {
  return origin === 'date' ? new Date(Number(bound)).toISOString() : Number(bound);
}

function isLiteral(schema: Schema | undefined, values: readonly unknown[]): boolean {
  return schema === undefined ? values.length === 1 : schema instanceof z.ZodLiteral;
}

function wrongFormat(issue: z.core.$ZodIssueInvalidStringFormat, input: unknown): Finding {
  switch (issue.format) {
    case 'regex':
      return ['string_pattern_mismatch', { pattern: patternSource(issue.pattern) }];
    case 'datetime':
      return wrongTimestamp(input);
    case 'date':
      return ['date_parsing', { error: dateFault(input) }];
    case 'uuid':
    case 'guid':
      return ['uuid_parsing', { error: 'invalid length or characters' }];
    case 'url':
      return ['url_parsing', { error: typeof input === 'string' && input === '' ? 'input is empty' : 'invalid or relative URL' }];
    case 'email':
      return ['value_error', { error: `value is not a valid email address: ${emailFault(input)}` }];
    default:
      return ['value_error', { error: `Value error, ${issue.message}` }];
  }
}

const dateFault = (input: unknown): string =>
  typeof input === 'string' && input.length < 'YYYY-MM-DD'.length ? 'input is too short' : 'invalid character or value';

function emailFault(input: unknown): string {
  if (typeof input !== 'string' || !input.includes('@')) return 'An email address must have an @-sign.';
  if (input.startsWith('@')) return 'There must be something before the @-sign.';
  return 'The part after the @-sign or a character in the address is not valid.';
}

/** zod prints the expression as `/source/flags`. */
function patternSource(pattern: string | undefined): string {
  return pattern?.replace(/^\/(.*)\/[a-z]*$/s, '$1') ?? '';
}

/**
 * A union failed in every branch: report the one that the client most likely meant. That is a branch whose outer type fits
 * (it fails further inside, or at a bound); among equals the one with the fewest faults. Literals are joined into one list.
 */
function fromUnion(issue: z.core.$ZodIssueInvalidUnion, place: Place, input: unknown): ValidationIssue[] {
  const branches = issue.errors;
  if (branches.length === 0) {
    const options = 'options' in issue && Array.isArray(issue.options) ? issue.options : [];
    const loc = place.locate(place.base);
    return options.length > 0
      ? [validationIssue('literal_error', loc, input, { expected: expectedValues(options) })]
      : [validationIssue('value_error', loc, input, { error: `Value error, ${issue.message}` })];
  }
  const values = branches.flatMap((branch) =>
    branch[0]?.code === 'invalid_value' && branch[0].path.length === 0 ? branch[0].values : [],
  );
  if (branches.every((branch) => branch[0]?.code === 'invalid_value' && branch[0].path.length === 0)) {
    return [validationIssue('literal_error', place.locate(place.base), input, { expected: expectedValues(values) })];
  }
  let best = 0;
  for (let i = 1; i < branches.length; i++) if (unlikeness(branches[i]!) < unlikeness(branches[best]!)) best = i;
  const union = place.schema && innerSchema(place.schema);
  const schema = union instanceof z.ZodUnion ? (union.options as readonly Schema[])[best] : undefined;
  return branches[best]!.flatMap((inner) => fromIssue(inner, { ...place, schema }));
}

function unlikeness(branch: readonly Issue[]): number {
  const wrongOutside = branch.some((i) => i.path.length === 0 && (i.code === 'invalid_type' || i.code === 'invalid_value'));
  return (wrongOutside ? 1_000 : 0) + branch.length;
}

function valueAt(root: unknown, path: Path): unknown {
  let current = root;
  for (const key of path) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, key)) return undefined;
    current = (current as Record<PropertyKey, unknown>)[key];
  }
  return current;
}
