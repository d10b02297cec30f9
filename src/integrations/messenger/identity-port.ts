import { createHmac } from 'node:crypto';
import { type Clock, SECOND_MS } from '../../core/clock.ts';
import type { HttpClient } from '../../core/http/http-client.ts';
import type { Logger } from '../../core/log.ts';
import type { InitDataReading, MessengerIdentity, MessengerIdentityPort } from '../../domain/identity/ports.ts';
import { textOrNull } from '../text-or-null.ts';
import { type OidcConnection, readIdToken } from './id-token.ts';
import { JwksCache } from './jwks-cache.ts';
import { checkString, isFresh, isSignature, isWidgetGenuine } from './signed-fields.ts';

/** Default issuer of the messenger's OpenID Connect tokens. */
export const OIDC_ISSUER = 'https://oauth.telegram.org';

/** `{base}/{bot}?start={payload}` opens a bot. */
const LINK_BASE_URL = 'https://t.me';

export interface MessengerIdentityOptions {
  clock: Clock;
  log: Logger;
  /** Fetches the OpenID Connect issuer's keys. */
  http: HttpClient;
  /** Read on every check; null while none is set. */
  botToken: () => string | null;
  /** Without `@`. */
  botUsername: () => string | null;
  /** Null while sign-in by OpenID Connect is off. */
  oidc: () => OidcConnection | null;
}

/** Checks identity data that the messenger signed (spec 01 section 3). */
export function createMessengerIdentityPort(options: MessengerIdentityOptions): MessengerIdentityPort {
  const { clock, log, http, botToken, oidc } = options;
  const keys = new JwksCache({ http, clock, log });
  return {
    readInitData: (initData, maxAgeSeconds) => readInitData(initData, botToken(), maxAgeSeconds, clock.now()),
    verifyInitData: (initData, maxAgeSeconds) => {
      const reading = readInitData(initData, botToken(), maxAgeSeconds, clock.now());
      return reading.fault === null ? reading.identity : null;
    },
    verifyWidget: (data, maxAgeSeconds) => {
      const token = botToken();
      return token !== null && token !== '' && isWidgetGenuine(data, token, maxAgeSeconds, clock.now());
    },
    isOidcEnabled: () => oidc() !== null,
    verifyIdToken: async (idToken) => {
      const connection = oidc();
      return connection && readIdToken(idToken, connection, { keys, clock });
    },
    botUsername: options.botUsername,
    linkBase: () => LINK_BASE_URL,
  };
}

function readInitData(initData: string, token: string | null, maxAgeSeconds: number, now: Date): InitDataReading {
  if (!token) return { fault: 'bot_token_missing' };
  // A Map has the last of equal keys, and empty values.
  const pairs = new Map(new URLSearchParams(initData));
  const given = pairs.get('hash');
  if (!given) return { fault: 'signature_missing' };
  pairs.delete('hash');
  const key = createHmac('sha256', 'WebAppData').update(token).digest();
  if (!isSignature(key, checkString(pairs), given)) return { fault: 'signature_invalid' };
  const authDate = pairs.get('auth_date');
  if (!isFresh(authDate, Number.POSITIVE_INFINITY, now)) return { fault: 'auth_date_invalid' };
  if (!isFresh(authDate, maxAgeSeconds, now)) return { fault: 'too_old' };
  const json = pairs.get('user');
  // Without `user` the pairs themselves are the data.
  const user: unknown = json === undefined ? Object.fromEntries(pairs) : parsed(json);
  if (typeof user !== 'object' || user === null) return { fault: 'user_unreadable' };
  const signedAt = new Date(Number(authDate) * SECOND_MS);
  return { fault: null, identity: { ...identityOf(user), signedAt }, hasUser: json !== undefined };
}

function identityOf(user: object): Omit<MessengerIdentity, 'signedAt'> {
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
