/**
 * Keeps secrets out of logs: by key (`password`, `apiKey` …), by registered value and by shape (spec 06 hazard 1).
 * Everything that is logged passes here, including the texts of errors.
 */

export const REDACTED = '[redacted]';

const SECRET_KEY =
  /(password|passwd|passphrase|secret|token|apikey|authorization|cookie|initdata|dsn|privatekey|credential|databaseurl|connectionstring)s?$/;
/** Shorter values (ports, flags, `root`) would blank out unrelated text. */
const MIN_VALUE_LENGTH = 6;
const MAX_DEPTH = 8;
const MAX_ITEMS = 100;
/** More than the depth of any body of the interface. */
const MAX_SHOWN_DEPTH = 32;

/** Bounded, because bodies of clients can have any keys; those of the service are few and come with every line. */
const MAX_KNOWN_KEYS = 2_000;
const MAX_KNOWN_KEY_LENGTH = 100;
const knownKeys = new Map<string, boolean>();

/** Is the value under this name a secret? Spelling does not matter: `api_key`, `apiKey`, `X-Api-Key`. */
export function isSecretKey(key: string): boolean {
  const known = knownKeys.get(key);
  if (known !== undefined) return known;
  const isSecret = SECRET_KEY.test(key.toLowerCase().replace(/[^a-z0-9]/g, ''));
  if (knownKeys.size < MAX_KNOWN_KEYS && key.length <= MAX_KNOWN_KEY_LENGTH) knownKeys.set(key, isSecret);
  return isSecret;
}

/** Identity data as the messenger signs it: the text alone authenticates the user, for a day and longer. */
function isSignedIdentity(name: string, value: unknown): boolean {
  return /^init_?data$/i.test(name) && typeof value === 'string' && /(?:^|&)hash=/.test(value);
}

/**
 * A value of a request as an error may show it: signed identity data is blanked, so that a call refused for another field does not pass
 * the caller's credential to those who read errors. Everything else is shown as sent.
 * @param name name of the field of the value
 */
export function withoutIdentityData(value: unknown, name = '', depth = 0): unknown {
  if (isSignedIdentity(name, value)) return REDACTED;
  if (typeof value !== 'object' || value === null || depth >= MAX_SHOWN_DEPTH) return value;
  if (Array.isArray(value)) {
    const items = value.map((item) => withoutIdentityData(item, '', depth + 1));
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  const entries = Object.entries(value);
  const shown = entries.map(([key, item]) => [key, withoutIdentityData(item, key, depth + 1)] as const);
  return shown.some(([, item], index) => item !== entries[index]![1]) ? Object.fromEntries(shown) : value;
}

const SECRET_NAMES = '(?:password|passwd|passphrase|secret|token|api[_-]?key|authorization|cookie|init_?data|dsn)';
/** `"password":"` with quotes escaped to any depth: a body that was logged as text. */
const QUOTED_NAME = new RegExp(`(?<!\\\\)(\\\\*)"[\\w-]{0,40}${SECRET_NAMES}\\1"\\s*:\\s*\\1"`, 'gi');

/** Shapes of secrets in running text. No leading word boundary: in a JSON line the text before may be the `n` of an escaped newline. */
const PATTERNS: readonly [RegExp, string][] = [
  [/eyJ[\w-]{8,}(?:\.[\w-]*)*/g, REDACTED],
  [/sst_[\w-]{4,}/g, REDACTED],
  [/\d{1,20}:[\w-]{35,}/g, REDACTED],
  [/((?:Bearer|Basic)\s+)[\w.~+/=-]{6,}/gi, `$1${REDACTED}`],
  [/:\/\/[^\s/?#@"\\]+@/g, `://${REDACTED}@`],
  // Query strings and key=value text.
  [new RegExp(`(${SECRET_NAMES}=)(?!\\[redacted)[^\\s&;,"'\\\\]+`, 'gi'), `$1${REDACTED}`],
];

/**
 * True for every text in which one of `PATTERNS` or `QUOTED_NAME` finds something. Most lines are free of all of them, and one pass
 * over the text shows it.
 */
const MAY_SHOW_SECRET = new RegExp(`eyJ|sst_|:(?:\\/\\/|[\\w-]{35})|(?:Bearer|Basic)\\s|${SECRET_NAMES}(?:=|\\\\*"\\s*:)`, 'i');

export interface Redactor {
  /** The text without registered values and without anything that has the shape of a secret. */
  text(text: string): string;
  /** A copy fit for a log line: secret keys blanked, errors turned into plain objects, cycles and excessive depth cut. */
  value(value: unknown): unknown;
  /** Adds secrets that became known later, e.g. a panel key changed through the settings. */
  register(values: Iterable<string>): void;
}

/**
 * Index of the quote that ends a string which began before `from`, where quotes of its depth carry `slashes` backslashes
 * (0, 1, 3, 7 …). A quote with fewer ends an outer string; one with more stands inside the value.
 */
function endOfQuoted(text: string, from: number, slashes: number): number {
  for (let quote = text.indexOf('"', from); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let before = 0;
    while (quote - before > from && text[quote - before - 1] === '\\') before += 1;
    if (before < slashes || before % (2 * (slashes + 1)) === slashes) return quote - Math.min(before, slashes);
  }
  return text.length;
}

function withoutQuotedSecrets(text: string): string {
  let result = '';
  let done = 0;
  for (const match of text.matchAll(QUOTED_NAME)) {
    const start = match.index + match[0].length;
    if (match.index < done) continue;
    result += text.slice(done, start) + REDACTED;
    done = endOfQuoted(text, start, match[1]!.length);
  }
  return done === 0 ? text : result + text.slice(done);
}

function escapeForPattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
}

function errorFields(error: Error): Record<string, unknown> {
  const fields: Record<string, unknown> = { type: error.name, message: error.message, stack: error.stack };
  if (error.cause !== undefined) fields.cause = error.cause;
  if (error instanceof AggregateError) fields.errors = error.errors;
  return { ...fields, ...error };
}

function blank(value: unknown): unknown {
  return value === null || value === undefined || value === '' ? value : REDACTED;
}

/** The value as an object whose fields are logged. */
function fieldsOf(value: object): Record<string, unknown> {
  if (value instanceof Error) return errorFields(value);
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, item]) => [String(key), item]));
  return value as Record<string, unknown>;
}

/** @param above the objects that contain the value, the outermost first */
function scrub(value: unknown, above: object[]): unknown {
  if (typeof value === 'string' || typeof value === 'number') return value;
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'function' || typeof value === 'symbol') return undefined;
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  if (value instanceof Uint8Array) return `[${value.byteLength} bytes]`;
  if (value instanceof URL || value instanceof URLSearchParams) return value.toString();
  if (above.includes(value)) return '[circular]';
  if (above.length >= MAX_DEPTH) return '[too deep]';
  above.push(value);
  const copy = scrubParts(value, above);
  above.pop();
  return copy;
}

function scrubParts(value: object, above: object[]): unknown {
  if (!(value instanceof Error) && 'toJSON' in value && typeof value.toJSON === 'function') return scrub(value.toJSON(), above);
  const items = value instanceof Set ? [...value] : value;
  if (Array.isArray(items)) {
    // Raw header lists alternate names and values.
    return items.slice(0, MAX_ITEMS).map((item, index) => {
      const name: unknown = items[index - 1];
      if (index % 2 === 1 && typeof name === 'string' && isSecretKey(name)) return blank(item);
      return scrub(item, above);
    });
  }
  const copy: Record<string, unknown> = {};
  const fields = fieldsOf(value);
  for (const key of Object.keys(fields)) {
    const item = fields[key];
    copy[key] = isSecretKey(key) ? blank(item) : scrub(item, above);
  }
  return copy;
}

/**
 * @param values secrets known at start: API keys, bot token, database password. Those under 6 characters are left to the key rule
 */
export function createRedactor(values: Iterable<string> = []): Redactor {
  const known = new Set<string>();
  let knownPattern: RegExp | null = null;

  function register(added: Iterable<string>): void {
    for (const value of added) {
      if (value.length < MIN_VALUE_LENGTH) continue;
      known.add(value);
      // The same secret as it stands inside a JSON line and inside a URL.
      known.add(JSON.stringify(value).slice(1, -1));
      known.add(encodeURIComponent(value));
    }
    const longestFirst = [...known].sort((a, b) => b.length - a.length);
    knownPattern = longestFirst.length === 0 ? null : new RegExp(longestFirst.map(escapeForPattern).join('|'), 'g');
  }

  function redactText(text: string): string {
    let result = knownPattern === null ? text : text.replace(knownPattern, REDACTED);
    if (!MAY_SHOW_SECRET.test(result)) return result;
    for (const [pattern, replacement] of PATTERNS) result = result.replace(pattern, replacement);
    return withoutQuotedSecrets(result);
  }

  register(values);
  return { text: redactText, value: (value) => scrub(value, []), register };
}

/**
 * Secrets found in an environment: values of variables with a secret's name, and the password of every URL.
 * @param raw `Env.raw`
 */
export function secretValuesIn(raw: Readonly<Record<string, string>>): string[] {
  const found: string[] = [];
  for (const [name, value] of Object.entries(raw)) {
    const address = value.includes('://') && URL.canParse(value) ? new URL(value) : null;
    if (address?.password) found.push(address.password, decodeSafely(address.password));
    const isOpenAddress = address !== null && address.username === '' && address.password === '';
    const isNamedSecret = isSecretKey(name) || /(KEY|PASS)$/.test(name);
    if (isNamedSecret && !/^(\d+|true|false)$/i.test(value) && !isOpenAddress) found.push(value);
  }
  return found.filter((value) => value.length >= MIN_VALUE_LENGTH);
}

function decodeSafely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
