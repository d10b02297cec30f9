import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../core/clock.ts';
import type { MessengerIdentity, MessengerIdentityPort } from '../../domain/identity/ports.ts';

/** How far the signer's clock may run ahead of ours. */
const MAX_SKEW_SECONDS = 300;

export interface MessengerIdentityOptions {
  clock: Clock;
  /** Read on every check; null while none is set. */
  botToken: () => string | null;
}

/** Checks identity data that the messenger signed with the bot token (spec 01 section 3). */
export function createMessengerIdentityPort({ clock, botToken }: MessengerIdentityOptions): MessengerIdentityPort {
  return {
    verifyInitData: (initData, maxAgeSeconds) => {
      const token = botToken();
      if (!token) return null;
      const pairs = verifiedPairs(initData, token);
      if (!pairs || !isFresh(pairs.get('auth_date'), maxAgeSeconds, clock.now())) return null;
      return identityOf(pairs);
    },
  };
}

/** The signed pairs, or null when the signature is not ours. */
function verifiedPairs(initData: string, token: string): Map<string, string> | null {
  // A Map keeps the last of equal keys, and blank values.
  const pairs = new Map(new URLSearchParams(initData));
  const given = pairs.get('hash');
  pairs.delete('hash');
  if (!given || !/^[0-9a-f]{64}$/i.test(given)) return null;
  const checkString = [...pairs]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}=${value}`)
    .join('\n');
  const key = createHmac('sha256', 'WebAppData').update(token).digest();
  const expected = createHmac('sha256', key).update(checkString).digest();
  return timingSafeEqual(expected, Buffer.from(given, 'hex')) ? pairs : null;
}

function isFresh(authDate: string | undefined, maxAgeSeconds: number, now: Date): boolean {
  if (!authDate || !/^\d{1,12}$/.test(authDate)) return false;
  const ageSeconds = Math.floor(now.getTime() / 1_000) - Number(authDate);
  return ageSeconds >= -MAX_SKEW_SECONDS && ageSeconds <= maxAgeSeconds;
}

function identityOf(pairs: Map<string, string>): MessengerIdentity | null {
  const json = pairs.get('user');
  // Without `user` the pairs themselves are the data.
  const user: unknown = json === undefined ? Object.fromEntries(pairs) : parsed(json);
  if (typeof user !== 'object' || user === null) return null;
  const { id, username, first_name, last_name, language_code } = user as Record<string, unknown>;
  return {
    messengerId: wholeNumber(id),
    username: textOrNull(username),
    firstName: textOrNull(first_name),
    lastName: textOrNull(last_name),
    languageCode: textOrNull(language_code),
  };
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}

function wholeNumber(value: unknown): number | null {
  const number = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) && number !== 0 ? number : null;
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value : null;
}
