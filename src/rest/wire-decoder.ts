/**
 * Builds the input value of a procedure from an HTTP request. It reads strings as the schema's types and leaves all other
 * checks to zod, which runs once, inside the procedure. Only when the decoder found an error it runs the schema for the
 * remaining errors, so that one 422 names them all. Schemas are never changed: both transports share them.
 */

import { z } from 'zod';
import { camelCase } from '../core/camel-case.ts';
import type { ValidationIssue } from '../core/errors.ts';
import type { StreamedFile, UploadedFile } from '../core/http/uploads.ts';
import { issuesFromZod, type Locate } from '../core/validation-issues.ts';
import { shownInput, validationIssue } from '../core/validation-messages.ts';
import { acceptsAbsence, acceptsNull, innerSchema, objectShape, type Schema } from '../core/zod-structure.ts';
import { type Coercion, CoercionFailure, coercionFor } from './wire-coercion.ts';
import type { WireField, WirePlan, WireSource } from './wire-plan.ts';

/** What the decoder needs of a request. */
export interface WireRequest {
  params: Readonly<Record<string, string | undefined>>;
  query: Readonly<Record<string, string | readonly string[] | undefined>>;
  headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The body as text; undefined or empty when none was sent. */
  text: string | undefined;
  /** Puts the JSON of the body into the names of the interface, where the client has others (spec 09). */
  readBody?: (body: unknown) => unknown;
  /** Fields and file of a `multipart/form-data` body. */
  form?: Readonly<Record<string, string | readonly string[] | UploadedFile | StreamedFile | undefined>>;
}

export type Decoded = { ok: true; input: unknown; body: unknown } | { ok: false; issues: ValidationIssue[] };

export interface WireDecoder {
  /** Never throws. */
  decode(request: WireRequest): Decoded;
  /** Maps zod's refusal of a decoded input to the entries of the 422 answer. */
  explain(error: z.core.$ZodError, decoded: Extract<Decoded, { ok: true }>, request: WireRequest): ValidationIssue[];
}

interface TextField extends WireField {
  coerce: Coercion;
}

type BodyReading = { absent: true } | { absent: false; value: unknown } | { absent: false; issue: ValidationIssue };

const SOURCE_ORDER: Record<string, number> = { path: 0, query: 1, header: 2, cookie: 3, body: 4 };

export function compileDecoder(plan: WirePlan): WireDecoder {
  const fields = plan.fields;
  const isText = (field: WireField): boolean =>
    field.source !== 'body' || (plan.body === 'multipart' && field.key !== plan.multipart?.fileKey);
  const textFields: TextField[] = fields.filter(isText).map((field) => ({ ...field, coerce: coercionFor(field.schema) }));
  const bodySchemas = new Map(fields.filter((field) => field.source === 'body').map((field) => [field.key, field.schema]));
  const otherKeys = new Set(fields.filter((field) => field.source !== 'body').map((field) => field.key));
  const whole = plan.body === 'whole' ? fields.find((field) => field.source === 'body') : undefined;
  const wholeTakesAbsence = whole !== undefined && acceptsAbsence(whole.schema);
  const wholeTakesNull = whole !== undefined && acceptsNull(whole.schema);
  const locate = locator(fields, whole?.key);
  const none: Decoded = { ok: true, input: undefined, body: undefined };

  function decode(request: WireRequest): Decoded {
    if (plan.inputs.length === 0) return none;
    const input: Record<string, unknown> = {};
    let issues: ValidationIssue[] | undefined;
    for (const field of textFields) {
      const raw = sourceOf(request, field.source)[field.name];
      if (raw === undefined) continue;
      const value = isWireText(raw) ? field.coerce(raw) : raw;
      if (!(value instanceof CoercionFailure)) {
        input[field.key] = value;
        continue;
      }
      input[field.key] = raw;
      issues ??= [];
      for (const { type, input: given, ctx, index } of value.faults) {
        const loc = index === undefined ? [field.source, field.name] : [field.source, field.name, String(index)];
        issues.push(validationIssue(type, loc, given, ctx));
      }
    }
    const body = decodeBody(request, input);
    if (body.issue !== undefined) issues = [...(issues ?? []), body.issue];
    if (issues === undefined) return { ok: true, input, body: body.value };
    return { ok: false, issues: withRemaining(issues, body.issue !== undefined, input, body.value, request) };
  }

  /** Puts the body's part into `input`. */
  function decodeBody(request: WireRequest, input: Record<string, unknown>): { value?: unknown; issue?: ValidationIssue } {
    if (plan.body === 'none') return {};
    if (plan.body === 'multipart') {
      const file = request.form?.[plan.multipart?.fileKey ?? ''];
      if (file !== undefined && plan.multipart) input[plan.multipart.fileKey] = file;
      return { value: request.form ?? {} };
    }
    const reading = readJson(request.text, request.readBody);
    if ('issue' in reading) return { issue: reading.issue };
    if (whole !== undefined) return wholeBody(reading, input, whole.key);
    if (reading.absent || reading.value === null) {
      return plan.bodyRequired ? { issue: validationIssue('missing', ['body'], null) } : { value: {} };
    }
    const value = reading.value;
    if (typeof value !== 'object' || Array.isArray(value)) return { issue: validationIssue('dict_type', ['body'], value) };
    const fieldsSent = value as Record<string, unknown>;
    for (const [key, schema] of bodySchemas) {
      const sent = Object.hasOwn(value, key) ? key : plan.anySpelling ? otherSpelling(key) : null;
      if (sent === null || !Object.hasOwn(value, sent)) continue;
      input[key] = plan.anySpelling ? respelled(schema, fieldsSent[sent]) : fieldsSent[sent];
    }
    if (plan.passUnknown) passUnknown(value as Record<string, unknown>, input);
    return { value };
  }

  function wholeBody(reading: BodyReading & { issue?: never }, input: Record<string, unknown>, key: string) {
    if (!reading.absent && (reading.value !== null || wholeTakesNull)) {
      input[key] = reading.value;
      return { value: reading.value };
    }
    if (wholeTakesAbsence) return { value: undefined };
    if (!wholeTakesNull) return { issue: validationIssue('missing', ['body'], null) };
    input[key] = null;
    return { value: null };
  }

  function passUnknown(body: Record<string, unknown>, input: Record<string, unknown>): void {
    for (const key of Object.keys(body)) {
      // A body must not set a path or query key, nor the prototype.
      if (key !== '__proto__' && !otherKeys.has(key)) input[key] = body[key];
    }
  }

  /** Adds the schema's errors of the keys that could be read. */
  function withRemaining(
    found: ValidationIssue[],
    isBodyBad: boolean,
    input: unknown,
    body: unknown,
    request: WireRequest,
  ): ValidationIssue[] {
    const known = new Set(found.map((issue) => `${issue.loc[0]}:${issue.loc[1]}`));
    const more = allIssues(plan.inputs, input, locate).filter(
      (issue) => !known.has(`${issue.loc[0]}:${issue.loc[1]}`) && !(isBodyBad && issue.loc[0] === 'body'),
    );
    return ordered([...found, ...withWireInputs(more, body, request)]);
  }

  /** The client gets the value that it sent, not the decoded one. */
  function withWireInputs(issues: ValidationIssue[], body: unknown, request: WireRequest): ValidationIssue[] {
    return issues.map((issue) => {
      const [source, name, index] = issue.loc;
      if (source === undefined || name === undefined) return issue;
      if (issue.type === 'missing' && index === undefined)
        return { ...issue, input: source === 'body' && plan.body !== 'multipart' ? shownInput([], body) : null };
      if (source === 'body') return issue;
      const raw = sourceOf(request, source as WireSource)[name];
      if (raw === undefined) return issue;
      if (index === undefined) return { ...issue, input: shownInput(issue.loc, raw) };
      return { ...issue, input: shownInput(issue.loc, Array.isArray(raw) ? raw[Number(index)] : raw) };
    });
  }

  return {
    decode,
    explain: (error, decoded, request) => {
      // With several input schemas the procedure stops at the first that refuses; the client should get all errors at once.
      const issues =
        plan.inputs.length > 1
          ? allIssues(plan.inputs, decoded.input, locate)
          : issuesFromZod(error, decoded.input, locate, plan.inputs[0]);
      return ordered(withWireInputs(issues, decoded.body, request));
    },
  };
}

/** A list of objects, each with its fields in the spelling of the schema; any other value as it is. */
function respelled(schema: Schema, value: unknown): unknown {
  const list = innerSchema(schema);
  const shape = list instanceof z.ZodArray ? objectShape(innerSchema(list.element as Schema)) : undefined;
  if (shape === undefined || !Array.isArray(value)) return value;
  return value.map((entry: unknown) => {
    if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return entry;
    const fields = { ...entry } as Record<string, unknown>;
    for (const key of Object.keys(shape)) {
      const other = otherSpelling(key);
      if (!Object.hasOwn(fields, key) && Object.hasOwn(fields, other)) fields[key] = fields[other];
    }
    return fields;
  });
}

/** `tariffId` for `tariff_id` and the other way round. */
function otherSpelling(key: string): string {
  if (key.includes('_')) return camelCase(key);
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function isWireText(raw: string | readonly string[] | UploadedFile | StreamedFile): raw is string | readonly string[] {
  return typeof raw === 'string' || Array.isArray(raw);
}

function sourceOf(
  request: WireRequest,
  source: WireSource,
): Readonly<Record<string, string | readonly string[] | UploadedFile | StreamedFile | undefined>> {
  switch (source) {
    case 'path':
      return request.params;
    case 'query':
      return request.query;
    case 'header':
      return request.headers;
    case 'body':
      return request.form ?? {};
  }
}

function readJson(text: string | undefined, readBody: WireRequest['readBody']): BodyReading {
  if (text === undefined || text === '') return { absent: true };
  try {
    const value: unknown = JSON.parse(withoutHalfPairs(text));
    return { absent: false, value: readBody === undefined ? value : readBody(value) };
  } catch {
    const { position, error } = findJsonFault(text);
    return { absent: false, issue: validationIssue('json_invalid', ['body', String(position)], {}, { error }) };
  }
}

/**
 * Half a surrogate pair can only come as an escape. It is not a character: the database's JSON refuses it, and an answer with one cannot
 * be read by every client. It becomes U+FFFD, as it does in a text column.
 */
function withoutHalfPairs(json: string): string {
  if (!/\\u[dD][89a-fA-F]/.test(json)) return json;
  const escapes = /\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u[dD][89a-fA-F][\da-fA-F]{2}|\\./g;
  return json.replace(escapes, (one) => (/^\\u[dD][89a-fA-F]..$/.test(one) ? '\\ufffd' : one));
}

function locator(fields: readonly WireField[], wholeKey: string | undefined): Locate {
  const prefixes = new Map(fields.map((field) => [field.key, field.key === wholeKey ? ['body'] : [field.source, field.name]]));
  const top = fields.some((field) => field.source === 'body') || fields.length === 0 ? 'body' : fields[0]!.source;
  return (path) => {
    const [first, ...rest] = path.map(String);
    if (first === undefined) return [top];
    return [...(prefixes.get(first) ?? ['body', first]), ...rest];
  };
}

function allIssues(schemas: readonly Schema[], input: unknown, locate: Locate): ValidationIssue[] {
  const seen = new Set<string>();
  return schemas
    .flatMap((schema) => {
      const error = refusalOf(schema, input);
      return error ? issuesFromZod(error, input, locate, schema) : [];
    })
    .filter((issue) => {
      const key = `${issue.type} ${issue.loc.join('/')} ${issue.msg}`;
      return seen.has(key) ? false : Boolean(seen.add(key));
    });
}

function refusalOf(schema: Schema, input: unknown): z.core.$ZodError | undefined {
  try {
    return z.safeParse(schema, input).error;
  } catch {
    return undefined; // a custom check of the schema threw or is asynchronous: there is nothing more to report
  }
}

function ordered(issues: ValidationIssue[]): ValidationIssue[] {
  return issues.sort((a, b) => (SOURCE_ORDER[a.loc[0] ?? ''] ?? 9) - (SOURCE_ORDER[b.loc[0] ?? ''] ?? 9));
}

// Finds the position at which a text is no longer JSON: a 422 `json_invalid` names it, the engine's message does not always.

const SPACE = /[ \t\n\r]*/y;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids exactly these inside a string
const TEXT = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;

interface JsonFault {
  /** Index of the first character that is not allowed there; the length of the text when it ends too early. */
  position: number;
  error: string;
}

/** Call it for a text that `JSON.parse` refused. Works without recursion, so nesting does not matter. */
export function findJsonFault(text: string): JsonFault {
  let at = 0;
  const open: ('{' | '[')[] = [];
  const match = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found === null) return false;
    at += found[0].length;
    return true;
  };
  const fault = (error: string): JsonFault => ({ position: at, error });
  let expect: 'value' | 'value or end' | 'key' | 'key or end' | 'comma or end' = 'value';

  for (;;) {
    match(SPACE);
    const char = text[at];
    if (expect === 'comma or end') {
      const container = open.at(-1);
      if (container === undefined) return fault('Extra data');
      if (char === ',') {
        at++;
        expect = container === '{' ? 'key' : 'value';
      } else if (char === (container === '{' ? '}' : ']')) {
        at++;
        open.pop();
      } else return fault("Expecting ',' delimiter");
    } else if (expect === 'key' || expect === 'key or end') {
      if (char === '}' && expect === 'key or end') {
        at++;
        open.pop();
        expect = 'comma or end';
      } else {
        if (!match(TEXT)) return fault('Expecting property name enclosed in double quotes');
        match(SPACE);
        if (text[at] !== ':') return fault("Expecting ':' delimiter");
        at++;
        expect = 'value';
      }
    } else if (char === ']' && expect === 'value or end') {
      at++;
      open.pop();
      expect = 'comma or end';
    } else if (char === '{' || char === '[') {
      at++;
      open.push(char);
      expect = char === '{' ? 'key or end' : 'value or end';
    } else if (match(TEXT) || match(SCALAR)) {
      expect = 'comma or end';
    } else return fault(char === '"' ? 'Invalid or unterminated string' : 'Expecting value');
  }
}
