import { createHash, createHmac } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { type Random, urlSafeToken } from '../../core/random.ts';

/** Marks our tokens for secret scanners and for the check below. */
const PREFIX = 'sst_';
const SECRET_BYTES = 48;
const CHECK_LENGTH = 7;

const HASH_ALGORITHMS = new Set(['sha256', 'sha384', 'sha512']);

/** A new token: `sst_`, 48 random bytes in url-safe base64, 7 characters of CRC-32 in base 36. */
export function newTokenText(random: Random): string {
  const body = urlSafeToken(random, SECRET_BYTES);
  return `${PREFIX}${body}${checkOf(body)}`;
}

/** False for a text that is not a token of this service, so that a guess causes no query. */
export function hasTokenShape(text: string): boolean {
  if (!text.startsWith(PREFIX)) return false;
  const body = text.slice(PREFIX.length, -CHECK_LENGTH);
  return body.length === (SECRET_BYTES * 4) / 3 && text.slice(-CHECK_LENGTH) === checkOf(body);
}

/** The stored form of a token: hex of the hash, or of the HMAC with the operator's secret (spec 01 section 4.1). */
export function tokenHash(text: string, algorithm: string, hmacSecret: string | null): string {
  const name = HASH_ALGORITHMS.has(algorithm) ? algorithm : 'sha256';
  const hash = hmacSecret ? createHmac(name, hmacSecret) : createHash(name);
  return hash.update(text).digest('hex');
}

/** Cache key of a checked token; cleared by everything that changes the row. */
export function tokenCacheKey(hash: string): string {
  return `token:${hash}`;
}

/** The beginning of a token, shown in lists. */
export function visiblePrefix(text: string): string {
  return text.slice(0, PREFIX.length + 4);
}

function checkOf(body: string): string {
  return crc32(body).toString(36).padStart(CHECK_LENGTH, '0');
}
