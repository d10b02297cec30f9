/**
 * JSON that keeps timestamps: a `Date` is stored as `{"$date": "2026-01-01T00:00:00.000Z"}` and comes back as a `Date`, so that a stored
 * answer has the types of the first one. An object of a client that has such a key itself is wrapped and comes back unchanged.
 */

const DATE = '$date';
const LITERAL = '$literal';

/** @throws TypeError for what JSON cannot hold (bigint, cycles) */
export function toStoredJson(value: unknown): string {
  return JSON.stringify(tag(value));
}

/** The reverse of `toStoredJson`, after JSON has been parsed. */
export function fromStoredJson<T>(stored: unknown): T {
  return untag(stored) as T;
}

function tag(value: unknown): unknown {
  if (value instanceof Date) return { [DATE]: value.toISOString() };
  if (Array.isArray(value)) return value.map(tag);
  if (typeof value !== 'object' || value === null) return value;
  const tagged = Object.fromEntries(Object.entries(value).map(([key, item]) => [key, tag(item)]));
  return DATE in tagged || LITERAL in tagged ? { [LITERAL]: tagged } : tagged;
}

function untag(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(untag);
  if (typeof value !== 'object' || value === null) return value;
  const stored = value as Record<string, unknown>;
  if (LITERAL in stored) return untagFields(stored[LITERAL] as Record<string, unknown>);
  if (DATE in stored) return new Date(stored[DATE] as string);
  return untagFields(stored);
}

function untagFields(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([key, item]) => [key, untag(item)]));
}
