import type { ValidationIssue } from '../../core/errors.ts';
import { validationIssue } from '../../core/validation-messages.ts';

const MAX_LINK = 500;

/** What was read of a field of a request: its value, or the entry of the 422 answer. */
export type FieldReading<T> = { value: T } | { issue: ValidationIssue };

/** `-100` and 10 to 13 digits; the prefix may be left out (spec 05 section 13). */
export function readChannelId(raw: string): FieldReading<string> {
  const text = raw.trim();
  const digits = /^(?:-100)?(\d{10,13})$/.exec(text)?.[1];
  if (digits !== undefined) return { value: `-100${digits}` };
  const hint = 'Enter numeric channel ID (e.g. 1234567890) — prefix -100 is added automatically';
  return wrong('channel_id', raw, `Invalid channel_id format: '${text}'. ${hint}`);
}

/**
 * A public link of the messenger: `http` becomes `https`, `@name` the link of the name. At most 500 characters.
 * @param linkBase the messenger's public link host with its scheme, for example `https://t.me`
 */
export function readChannelLink(raw: string, linkBase: string): FieldReading<string> {
  const text = raw.trim();
  const host = new URL(linkBase).host;
  const name = /^@(\w{1,64})$/.exec(text)?.[1];
  const link = name === undefined ? publicLink(text, host) : `https://${host}/${name}`;
  if (link !== null && link.length <= MAX_LINK) return { value: link };
  return wrong('channel_link', raw, `channel_link must be a ${host} URL or @username`);
}

function publicLink(text: string, host: string): string | null {
  if (!/^https?:\/\/\S+$/i.test(text) || !URL.canParse(text)) return null;
  const url = new URL(text);
  if (url.host !== host || url.username || url.password || url.pathname === '/') return null;
  url.protocol = 'https:';
  return url.href;
}

/** Refuses null for a field that cannot be empty. */
export function refuseNull(field: string): { issue: ValidationIssue } {
  return wrong(field, null, `${field} cannot be null`);
}

function wrong(field: string, input: unknown, problem: string): { issue: ValidationIssue } {
  return { issue: validationIssue('value_error', ['body', field], input, { error: `Value error, ${problem}` }) };
}
