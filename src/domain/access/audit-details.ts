import type { App } from '../../core/app.ts';
import { storableText } from '../../core/db/storable-text.ts';
import { createRedactor, isSecretKey, REDACTED, type Redactor } from '../../core/redaction.ts';
import { secretKeys } from '../settings/catalogue/catalogue.ts';

/** Longest text of one field and longest JSON of the whole; an audit row shows what was done, it is not a backup. */
const MAX_TEXT = 2_000;
const MAX_DETAILS = 16_384;
/** Parts that may be left out of details that are too long, the least informative first. */
const OPTIONAL_PARTS = ['request_body', 'query_params', 'before', 'after'] as const;
const SECRET_NAME = /(?:secret|private|access|signing|encryption|session|hmac)_?key$|_pass$|^pass$|_code_verifier$/i;

const secretSettings: ReadonlySet<string> = new Set(secretKeys);
const redactor: Redactor = createRedactor();
const registered = new Set<string>();

/**
 * A copy for the audit log (spec 01 H7): redacts values under a secret's name, the `value` next to a `key` that names a secret setting,
 * every value of a secret setting, and texts in the form of a token; cuts long texts and limits the whole to 16 KiB.
 */
export function auditDetails(app: App, details: Readonly<Record<string, unknown>>): Record<string, unknown> {
  registerSecrets(app);
  const plain = redactor.value(details) as Record<string, unknown>;
  const clean = scrub(plain) as Record<string, unknown>;
  for (const part of OPTIONAL_PARTS) {
    const { length } = JSON.stringify(clean);
    if (length <= MAX_DETAILS) break;
    if (part in clean) clean[part] = `[left out: ${JSON.stringify(clean[part])?.length ?? 0} characters]`;
  }
  return clean;
}

/** Secrets change at run time; the pattern of them is rebuilt only for a new one. */
function registerSecrets(app: App): void {
  for (const key of secretKeys) {
    const value = app.settings.get(key);
    if (typeof value !== 'string' || registered.has(value)) continue;
    registered.add(value);
    redactor.register([value]);
  }
}

function scrub(value: unknown): unknown {
  if (typeof value === 'string') return cleanText(value);
  if (Array.isArray(value)) return value.map(scrub);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  const entries = Object.entries(value);
  const { key } = value as { key?: unknown };
  const namesSecret = typeof key === 'string' && isSecretName(key);
  return Object.fromEntries(
    entries.map(([name, item]) => {
      const isSecret = isSecretName(name) || (namesSecret && name !== 'key');
      return [cleanText(name), isSecret && item !== null && item !== '' ? REDACTED : scrub(item)];
    }),
  );
}

function isSecretName(name: string): boolean {
  return isSecretKey(name) || SECRET_NAME.test(name) || secretSettings.has(name.toUpperCase());
}

/** The database refuses U+0000 and half a surrogate pair in JSON. */
function cleanText(text: string): string {
  const short = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}… [${text.length} characters]` : text;
  return redactor.text(storableText(short));
}
