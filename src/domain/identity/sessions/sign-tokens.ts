import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import { errors, type JWTPayload, jwtVerify, SignJWT } from 'jose';
import type { UserSession } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { addDays, addMs } from '../../../core/clock.ts';
import { urlSafeToken } from '../../../core/random.ts';
import { isRowId } from '../../../core/row-id.ts';
import { storedSecret } from '../../../core/stored-secret.ts';
import type { AccessClaims, TokenType } from './types.ts';

const ALGORITHM = 'HS256';
const MIN_SECRET_BYTES = 32;
/** Claim: milliseconds since 1970 of the last end of all sessions before this token; absent = there was none. */
const SESSIONS_ENDED = 'sessions_ended';
/** Claim: id of the session; absent in access tokens of an earlier release. */
export const SESSION = 'sid';
/** Claim of OpenID Connect: seconds since 1970 of the last proof of who the user is; absent where that is not known. */
const PROVED = 'auth_time';
/** Claim of RFC 8176: `['mfa']` where a second factor was shown, else absent. */
const METHODS = 'amr';

/** One imported key per secret; a secret changes with a setting only, so there are very few. */
const keys = new Map<string, KeyObject>();

/** Lifetime of an access token in seconds. */
export function accessSeconds(app: App): number {
  return Math.max(1, app.settings.get('CABINET_ACCESS_TOKEN_EXPIRE_MINUTES')) * 60;
}

/** When a refresh token that is issued now expires. */
export function refreshExpiry(app: App): Date {
  return addDays(app.clock.now(), Math.max(1, app.settings.get('CABINET_REFRESH_TOKEN_EXPIRE_DAYS')));
}

/** Signs an access token with the claims of spec 01 section 2.1. */
export async function signAccessToken(app: App, claims: AccessClaims): Promise<string> {
  const body: JWTPayload = {
    type: 'access' satisfies TokenType,
    [SESSION]: claims.sessionId,
    permissions: claims.permissions,
    roles: claims.roles,
    ...(claims.messengerId === null ? {} : { messenger_id: claims.messengerId }),
    ...(claims.roleLevel > 0 ? { role_level: claims.roleLevel } : {}),
    ...(claims.provedAt === null ? {} : { [PROVED]: Math.floor(claims.provedAt.getTime() / 1_000) }),
    ...(claims.hasSecondFactor ? { [METHODS]: ['mfa'] } : {}),
    ...(claims.sessionsEndedAt === null ? {} : { [SESSIONS_ENDED]: claims.sessionsEndedAt.getTime() }),
  };
  return sign(app, claims.userId, body, addMs(app.clock.now(), accessSeconds(app) * 1_000));
}

/** Signs a refresh token; its random `jti` makes every text unique (spec 01 H8). */
export async function signRefreshToken(app: App, userId: number, expiresAt: Date): Promise<string> {
  return sign(app, userId, { type: 'refresh' satisfies TokenType, jti: urlSafeToken(app.random, 16) }, expiresAt);
}

/**
 * Signs a token that signs its user in once (spec 01 section 2.1, H20).
 * @param passwordMark identifies the password; after a change of it the token is void
 */
export async function signAutoLoginToken(app: App, userId: number, passwordMark: string, expiresAt: Date): Promise<string> {
  const claims = { type: 'auto_login' satisfies TokenType, jti: urlSafeToken(app.random, 16), pwd: passwordMark };
  return sign(app, userId, claims, expiresAt);
}

/** @returns the payload of a valid, unexpired token of this type; else null */
export async function verifyToken(app: App, token: string, type: TokenType): Promise<JWTPayload | null> {
  const key = await signingKey(app);
  const known = verified.get(key)?.get(token);
  if (known) return known.type === type && (known.exp ?? 0) * 1_000 > app.clock.now().getTime() ? known : null;
  try {
    const { payload } = await jwtVerify(token, key, {
      algorithms: [ALGORITHM],
      currentDate: app.clock.now(),
      requiredClaims: ['exp'],
    });
    if (payload.type === 'access') remember(key, token, payload);
    return payload.type === type ? payload : null;
  } catch (error) {
    // Any other failure, for example of the database, does not mean that the token is invalid.
    if (error instanceof errors.JOSEError) return null;
    throw error;
  }
}

/**
 * Verified tokens by key: an access token comes with every request, and its signature does not change. The expiry is checked again
 * each time; whether the user may still act is never read from here.
 */
const verified = new WeakMap<KeyObject, Map<string, JWTPayload>>();
const MAX_VERIFIED = 10_000;

function remember(key: KeyObject, token: string, payload: JWTPayload): void {
  const tokens = verified.get(key) ?? new Map<string, JWTPayload>();
  verified.set(key, tokens);
  const oldest = tokens.size >= MAX_VERIFIED ? tokens.keys().next().value : undefined;
  if (oldest !== undefined) tokens.delete(oldest);
  tokens.set(token, payload);
}

/** Whether all sessions of the user were ended after this token's session was admitted (spec 01 H8). */
export function isFromEndedSession(payload: JWTPayload, sessionsEndedAt: Date | null): boolean {
  const known = payload[SESSIONS_ENDED];
  return sessionsEndedAt !== null && (typeof known === 'number' ? known : 0) < sessionsEndedAt.getTime();
}

/** The session that an access token names; null for one of an earlier release. */
export function sessionOf(payload: JWTPayload): UserSession | null {
  const { [SESSION]: id, [PROVED]: provedAt, [METHODS]: methods } = payload;
  if (typeof id !== 'string') return null;
  const hasSecondFactor = Array.isArray(methods) && methods.includes('mfa');
  return { id, provedAt: typeof provedAt === 'number' ? new Date(provedAt * 1_000) : null, hasSecondFactor };
}

/** User id in `sub`; null when it is not an id. */
export function userIdOf(payload: JWTPayload): number | null {
  const { sub } = payload;
  if (typeof sub !== 'string' || !/^[1-9]\d{0,9}$/.test(sub)) return null;
  return isRowId(Number(sub)) ? Number(sub) : null;
}

async function sign(app: App, userId: number, body: JWTPayload, expiresAt: Date): Promise<string> {
  return new SignJWT(body)
    .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' })
    .setSubject(String(userId))
    .setIssuedAt(app.clock.now())
    .setExpirationTime(expiresAt)
    .sign(await signingKey(app));
}

/** A key of 32 bytes for another purpose. @param info names the purpose */
export async function derivedKey(app: App, info: string): Promise<Buffer> {
  return Buffer.from(hkdfSync('sha256', await readSecret(app), '', info, 32));
}

const readSecret = async (app: App): Promise<string> => configuredSecret(app) ?? (await developmentSecret(app));

async function signingKey(app: App): Promise<KeyObject> {
  const secret = await readSecret(app);
  let key = keys.get(secret);
  if (!key) {
    key = createSecretKey(Buffer.from(secret));
    keys.set(secret, key);
  }
  return key;
}

/** The environment, or an override that is long enough to be a key (spec 01 H26). */
function configuredSecret(app: App): string | null {
  const override = app.settings.get('CABINET_JWT_SECRET');
  if (override && Buffer.byteLength(override) >= MIN_SECRET_BYTES) return override;
  return app.env.cabinetJwtSecret;
}

/** In development without a secret one is created once and stored in the database, so that sessions remain valid after a restart. */
async function developmentSecret(app: App): Promise<string> {
  if (app.env.isProduction) throw new Error('CABINET_JWT_SECRET is required in production');
  return storedSecret(app, 'cabinet_jwt_secret');
}
