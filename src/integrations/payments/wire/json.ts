import { isLosslessNumber, LosslessNumber, parse, stringify } from 'lossless-json';

/** Deepest nesting that a callback or an answer may have (03a section 0.8). */
const MAX_DEPTH = 16;

/** A JSON object whose numbers are kept as their text, so that amounts are read exactly as sent. */
export type WireObject = Readonly<Record<string, unknown>>;

/**
 * Parses a JSON object of a provider. Duplicate keys are refused: two parsers may read such a text differently, which defeats a signature
 * over it (03a section 0.8).
 * @returns null for anything that is not one JSON object, or is nested too deeply
 */
export function parseWireObject(text: string): WireObject | null {
  let value: unknown;
  try {
    value = parse(text, undefined, {
      onDuplicateKey: () => {
        throw new SyntaxError('duplicate key');
      },
    });
  } catch {
    return null;
  }
  return isWireObject(value) && depthOf(value) <= MAX_DEPTH && countMembers(value) === countNames(text) ? value : null;
}

/** Names of members in a JSON text. The parser reports a repeated name only where the values differ. */
function countNames(text: string): number {
  let count = 0;
  for (const [, colon] of text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?/g)) if (colon !== undefined) count += 1;
  return count;
}

function countMembers(value: unknown): number {
  if (isLosslessNumber(value) || typeof value !== 'object' || value === null) return 0;
  let count = Array.isArray(value) ? 0 : Object.keys(value).length;
  for (const child of Object.values(value)) count += countMembers(child);
  return count;
}

function isWireObject(value: unknown): value is WireObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isLosslessNumber(value);
}

/** The object with ordinary numbers, for the record of a payment. */
export function plainJson(object: WireObject): unknown {
  return JSON.parse(stringify(object) ?? 'null');
}

/** A nested object, or null. */
export function objectField(object: WireObject | null, name: string): WireObject | null {
  const value = object && Object.hasOwn(object, name) ? object[name] : undefined;
  return isWireObject(value) ? value : null;
}

/** The objects of a list; an absent list has none. */
export function objectsField(object: WireObject | null, name: string): WireObject[] {
  const value = object && Object.hasOwn(object, name) ? object[name] : undefined;
  return Array.isArray(value) ? value.filter(isWireObject) : [];
}

/** A string, or a number as sent; null for anything else. */
export function textField(object: WireObject | null, name: string): string | null {
  const value = object && Object.hasOwn(object, name) ? object[name] : undefined;
  if (typeof value === 'string') return value;
  return isLosslessNumber(value) ? value.toString() : null;
}

/** True only for the literal. */
export function isTrue(object: WireObject | null, name: string): boolean {
  return object !== null && Object.hasOwn(object, name) && object[name] === true;
}

/** A date of the wire (ISO 8601), or null. */
export function dateField(object: WireObject | null, name: string): Date | null {
  const text = textField(object, name);
  const date = text === null ? null : new Date(text);
  return date && !Number.isNaN(date.getTime()) ? date : null;
}

function depthOf(value: unknown): number {
  if (isLosslessNumber(value) || typeof value !== 'object' || value === null) return 0;
  let deepest = 0;
  for (const child of Object.values(value)) deepest = Math.max(deepest, depthOf(child));
  return deepest + 1;
}

/** A number of a request with exactly this text, for example an amount: no floating point in between (03a section 0.2). */
export function wireNumber(text: string): LosslessNumber {
  return new LosslessNumber(text);
}

/** Compact JSON of a request in the order of its fields. */
export function wireJson(fields: Readonly<Record<string, unknown>>): string {
  return stringify(fields)!;
}
