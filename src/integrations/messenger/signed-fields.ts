import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { WidgetData } from '../../domain/identity/ports.ts';

/** Tolerance for a signer's clock that is ahead of ours. */
export const MAX_SKEW_SECONDS = 300;

/** `key=value` lines, sorted by key: the text that the messenger signs. */
export function checkString(pairs: Iterable<readonly [string, string]>): string {
  return [...pairs]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}=${value}`)
    .join('\n');
}

/** Compares a signature given in hex with ours, in constant time. */
export function isSignature(key: Buffer, text: string, givenHex: string): boolean {
  if (!/^[0-9a-f]{64}$/i.test(givenHex)) return false;
  return timingSafeEqual(createHmac('sha256', key).update(text).digest(), Buffer.from(givenHex, 'hex'));
}

/** @param authDate unix seconds as text */
export function isFresh(authDate: string | undefined, maxAgeSeconds: number, now: Date): boolean {
  if (!authDate || !/^\d{1,12}$/.test(authDate)) return false;
  const ageSeconds = Math.floor(now.getTime() / 1_000) - Number(authDate);
  return ageSeconds >= -MAX_SKEW_SECONDS && ageSeconds <= maxAgeSeconds;
}

const WIDGET_FIELDS = ['id', 'first_name', 'last_name', 'username', 'photo_url', 'auth_date'] as const;

/** Login widget (spec 01 section 3): the key is the SHA-256 of the bot token, absent fields are not part of the text. */
export function isWidgetGenuine(data: WidgetData, botToken: string, maxAgeSeconds: number, now: Date): boolean {
  const pairs = WIDGET_FIELDS.flatMap((name) => {
    const value = data[name];
    return value === null || value === undefined ? [] : [[name, String(value)] as const];
  });
  const key = createHash('sha256').update(botToken).digest();
  return isSignature(key, checkString(pairs), data.hash) && isFresh(String(data.auth_date), maxAgeSeconds, now);
}
