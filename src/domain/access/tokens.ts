import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Actor, TokenActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { countCharacters, firstCharacters } from '../../core/characters.ts';
import { addMs, MINUTE_MS } from '../../core/clock.ts';
import { runOutsideTransaction } from '../../core/db/root-guard.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { refusal, ValidationError } from '../../core/errors.ts';
import { type Random, urlSafeToken } from '../../core/random.ts';
import { readState, writeState } from '../../core/service-state.ts';
import { validationIssue } from '../../core/validation-messages.ts';
import { storeOf } from '../settings/settings-store.ts';
import { parseRange } from './ip-ranges.ts';
import {
  countTokens,
  deleteToken,
  findImportedPrefixes,
  findTokenByHash,
  insertToken,
  listTokens,
  lockDefaultToken,
  lockToken,
  rehashToken,
  replaceTokenText,
  retireToken,
  setTokenActive,
  type TokenChange,
  touchToken,
  updateToken,
  upsertActiveToken,
} from './token-repo.ts';
import { requireAddress, requireWithinLimits, TOKEN_SCOPES } from './token-scopes.ts';
import type { ApiToken } from './types.ts';

/** Stores the id of the default token, so that it is found after a restart with another value in the environment. */
const DEFAULT_TOKEN_STATE = 'access:default-token';
/** `created_by` of default tokens. */
const DEFAULT_TOKEN_MAKER = 'migration';
/** Length of the column of the name. */
const MAX_NAME_LENGTH = 255;

export interface TokenRequest {
  name: string;
  description: string | null;
  expiresAt: Date | null;
  /** `TOKEN_SCOPES`; null or absent = every operation. */
  scopes?: readonly string[] | null;
  /** IP addresses and CIDR ranges; null or absent = from everywhere. */
  allowedAddresses?: readonly string[] | null;
}

/** All API tokens, inactive ones too, newest first (spec 01 section 9). */
export function listApiTokens(app: App): Promise<ApiToken[]> {
  return listTokens(app.db);
}

/**
 * Creates an API token. Its text is returned here only and is not stored.
 * @throws ValidationError 422 for an empty or too long name, a past expiry, an unknown scope, or what is no address
 * @throws AppError 403 `token_beyond_limits` where a token would give more than it has
 */
export async function createApiToken(app: App, actor: Actor, request: TokenRequest): Promise<ApiToken & { token: string }> {
  const now = app.clock.now();
  requireFuture(request.expiresAt, now);
  const valid = validated({ scopes: null, allowedAddresses: null, ...request, now });
  requireWithinLimits(actor, valid);
  const text = newTokenText(app.random);
  const token = await insertToken(app.db, {
    ...valid,
    hash: currentHash(app, text),
    prefix: visiblePrefix(text),
    createdBy: creatorOf(actor),
  });
  app.audit?.record({ resourceId: token.id, before: null, after: auditedFields(token) });
  return { ...token, token: text };
}

function creatorOf(actor: Actor): string {
  if (actor.kind === 'token' || actor.kind === 'system') return actor.name;
  return actor.kind === 'admin' ? String(actor.userId) : actor.kind;
}

/** @throws ValidationError 422 */
function requireFuture(expiresAt: Date | null | undefined, now: Date): void {
  if (expiresAt && expiresAt <= now) throw invalid('expires_at', 'Expiry must lie in the future', expiresAt);
}

/** @throws ValidationError 422 */
function validated(request: TokenChange): TokenChange {
  const { scopes, allowedAddresses } = request;
  const name = request.name.trim();
  if (name === '') throw invalid('name', 'Name must not be empty', request.name);
  if (countCharacters(name) > MAX_NAME_LENGTH) {
    const ctx = { max_length: MAX_NAME_LENGTH };
    throw new ValidationError([validationIssue('string_too_long', ['body', 'name'], request.name, ctx)]);
  }
  const unknown = scopes?.find((scope) => !TOKEN_SCOPES.includes(scope));
  if (unknown !== undefined) throw invalid('scopes', 'Not a scope of an API token', unknown);
  const malformed = allowedAddresses?.find((range) => parseRange(range) === null);
  if (malformed !== undefined) throw invalid('allowed_addresses', 'Not an IP address or a CIDR range', malformed);
  return { ...request, name };
}

/**
 * Changes a token, on every instance with the commit; what is absent stays. Expired tokens may get another end.
 * @throws ValidationError 422; AppError 404 'Token not found'; 409 `default_token_fixed`; 403 `token_beyond_limits`
 */
export async function changeApiToken(
  app: App,
  actor: Actor,
  tokenId: number,
  change: { [Field in keyof Omit<TokenChange, 'now'>]?: TokenChange[Field] | undefined },
): Promise<ApiToken> {
  return inTransaction(app, async (t) => {
    const { token: before, hashes } = await lockChangeable(t, actor, tokenId);
    const { name, description, expiresAt, scopes, allowedAddresses } = before;
    const now = t.clock.now();
    requireFuture(change.expiresAt, now);
    const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
    const wanted = validated({ name, description, expiresAt, scopes, allowedAddresses, ...given, now });
    requireWithinLimits(actor, wanted);
    const token = await updateToken(t.db, tokenId, wanted);
    await t.cache.forget(t, hashes.map(tokenCacheKey));
    t.audit?.record({ before: auditedFields(before), after: auditedFields(token) });
    return token;
  });
}

/** How long the text before a rotation can stay valid: a week. */
export const MAX_OVERLAP_MINUTES = 10_080;
export const DEFAULT_OVERLAP_MINUTES = 60;

/**
 * Replaces the text of a token; the new one is returned here only. The present text stays valid for so many minutes, one before it no longer.
 * @throws AppError 404 'Token not found'; 409 `default_token_fixed`; 403 `token_beyond_limits`
 */
export async function rotateApiToken(
  app: App,
  actor: Actor,
  tokenId: number,
  overlapMinutes: number,
): Promise<ApiToken & { token: string }> {
  return inTransaction(app, async (t) => {
    const { token: before, hashes } = await lockChangeable(t, actor, tokenId);
    const text = newTokenText(t.random);
    const now = t.clock.now();
    const token = await replaceTokenText(t.db, tokenId, {
      hash: currentHash(t, text),
      prefix: visiblePrefix(text),
      previousUntil: addMs(now, overlapMinutes * MINUTE_MS),
      now,
    });
    await t.cache.forget(t, hashes.map(tokenCacheKey));
    t.audit?.record({ before: auditedFields(before), after: auditedFields(token) });
    return { ...token, token: text };
  });
}

export const defaultTokenFixed = refusal(
  'default_token_fixed',
  409,
  'This is the token of the setting WEB_API_DEFAULT_TOKEN: change it there',
);

interface LockedToken {
  token: ApiToken;
  hashes: string[];
}

async function lockExisting(t: App, tokenId: number): Promise<LockedToken> {
  const locked = await lockToken(t.db, tokenId);
  if (!locked) throw tokenNotFound();
  return locked;
}

async function lockChangeable(t: App, actor: Actor, tokenId: number): Promise<LockedToken> {
  const locked = await lockExisting(t, tokenId);
  const byDefault = await readState<{ tokenId: number }>(t.db, DEFAULT_TOKEN_STATE);
  if (byDefault?.tokenId === tokenId) throw defaultTokenFixed();
  requireWithinLimits(actor, locked.token);
  return locked;
}

/** Activates or deactivates a token, on every instance with the commit. Idempotent. @throws AppError 404 'Token not found'; 403 `token_beyond_limits` */
export async function setApiTokenActive(app: App, actor: Actor, tokenId: number, isActive: boolean): Promise<ApiToken> {
  return inTransaction(app, async (t) => {
    const locked = await lockExisting(t, tokenId);
    requireWithinLimits(actor, locked.token);
    const token = await setTokenActive(t.db, tokenId, isActive, t.clock.now());
    await t.cache.forget(t, locked.hashes.map(tokenCacheKey));
    t.audit?.record({ before: auditedFields(locked.token), after: auditedFields(token) });
    return token;
  });
}

/** @throws AppError 404 'Token not found'; 403 `token_beyond_limits` */
export async function deleteApiToken(app: App, actor: Actor, tokenId: number): Promise<void> {
  await inTransaction(app, async (t) => {
    const locked = await lockExisting(t, tokenId);
    requireWithinLimits(actor, locked.token);
    await deleteToken(t.db, tokenId);
    await t.cache.forget(t, locked.hashes.map(tokenCacheKey));
    t.audit?.record({ before: auditedFields(locked.token), after: null });
  });
}

/**
 * Creates or activates the operator's own token (`WEB_API_DEFAULT_TOKEN`, spec 01 section 9). The token of the former value is
 * deactivated if the service created it, because a value that was changed after a leak must not stay valid. A token that was
 * created by hand is not changed.
 * @returns null when no token is set; the last one then stays active until it is revoked by hand
 */
export async function ensureDefaultToken(app: App): Promise<ApiToken | null> {
  const text = app.settings.get('WEB_API_DEFAULT_TOKEN');
  if (!text) return null;
  const hash = currentHash(app, text);
  return inTransaction(app, async (t) => {
    await lockDefaultToken(t.db);
    const now = t.clock.now();
    const token = await upsertActiveToken(t.db, {
      // A setting may be longer than a token's name; the start must not fail on it (spec 06 section 17, hazard 13).
      name: firstCharacters(t.settings.get('WEB_API_DEFAULT_TOKEN_NAME'), MAX_NAME_LENGTH),
      description: null,
      hash,
      prefix: text.slice(0, 8),
      expiresAt: null,
      createdBy: DEFAULT_TOKEN_MAKER,
      now,
    });
    const former = await readState<{ tokenId: number }>(t.db, DEFAULT_TOKEN_STATE);
    const isOther = former !== null && former.tokenId !== token.id;
    const retired = isOther ? await retireToken(t.db, former.tokenId, DEFAULT_TOKEN_MAKER, now) : null;
    if (former === null || isOther) await writeState(t.db, DEFAULT_TOKEN_STATE, { tokenId: token.id });
    await t.cache.forget(t, [hash, retired ?? hash].map(tokenCacheKey));
    return token;
  });
}

/** Creates a token when the installation has none, for a first start. @returns its text, once */
export async function ensureFirstToken(app: App): Promise<string | null> {
  if ((await countTokens(app.db)) > 0) return null;
  const made = await createApiToken(
    app,
    { kind: 'system', name: 'first start' },
    { name: 'First token', description: null, expiresAt: null },
  );
  return made.token;
}

/** The fields of a token that the audit log stores. */
const auditedFields = ({ name, tokenPrefix, isActive, expiresAt, scopes, allowedAddresses, previousUntil }: ApiToken) => ({
  ...{ name, prefix: tokenPrefix, isActive, expiresAt },
  ...{ scopes, allowedAddresses, previousUntil },
});

function currentHash(app: App, text: string): string {
  return tokenHash(text, app.settings.get('WEB_API_TOKEN_HASH_ALGORITHM'), app.settings.get('WEB_API_TOKEN_HMAC_SECRET'));
}

export const tokenNotFound = refusal('token_not_found', 404, 'Token not found');

function invalid(field: string, msg: string, input: unknown): ValidationError {
  return new ValidationError([{ loc: ['body', field], type: 'value_error', msg, input }]);
}

export const apiKeyMissing = refusal('api_key_missing', 401, 'Missing API key');

/** How long a checked token is cached; a revocation clears the cache of every instance with its commit. */
const TRUST_MS = 15_000;

/**
 * Checks an API token (spec 01 section 4.1). Texts that can be no token are refused before any query; use is recorded at most once a minute.
 * @throws AppError 401 'Missing API key' | 'Invalid or expired API key'; 403 `address_not_allowed`
 */
export async function authenticateToken(
  app: App,
  credentials: { apiKey: string | null; bearer: string | null },
  ip: string | null,
): Promise<TokenActor> {
  const text = (credentials.apiKey ?? credentials.bearer ?? '').trim();
  if (text === '') throw apiKeyMissing();
  const isDefault = isDefaultToken(app, text);
  if (!isDefault && !hasTokenShape(text) && !(await hasImportedPrefix(app, text))) throw apiKeyInvalid();
  const algorithm = app.settings.get('WEB_API_TOKEN_HASH_ALGORITHM');
  const secret = app.settings.get('WEB_API_TOKEN_HMAC_SECRET');
  const hash = tokenHash(text, algorithm, secret);
  const token = await app.cache.read(tokenCacheKey(hash), TRUST_MS, async () => {
    const found = await findTokenByHash(app.db, hash);
    if (found) return found;
    if (secret) {
      // Created before the operator set the HMAC secret: found by its plain hash once, then stored under the keyed one.
      const old = await findTokenByHash(app.db, tokenHash(text, algorithm, null));
      if (old && !old.isPrevious) {
        await rehashToken(app.db, old.id, hash);
        return old;
      }
    }
    const byDefault = isDefault ? await ensureDefaultToken(app) : null;
    return byDefault && { ...byDefault, isPrevious: false };
  });
  if (!token || !isUsable(token, app.clock.now())) throw apiKeyInvalid();
  const { id: tokenId, name, scopes, allowedAddresses, expiresAt } = token;
  requireAddress(allowedAddresses, ip);
  recordUse(app, token, ip);
  return { kind: 'token', tokenId, name, limits: { scopes, allowedAddresses, expiresAt } };
}

/** How long an instance knows the beginnings of imported tokens; they change by an import, during which no instance runs. */
const PREFIXES_MS = MINUTE_MS;

/**
 * Whether a text can be a token of the existing product, which have any form: it begins as one of them does. So a guess causes no query
 * (spec 07 section 6).
 */
async function hasImportedPrefix(app: App, text: string): Promise<boolean> {
  const prefixes = await app.cache.read('token:imported-prefixes', PREFIXES_MS, () =>
    findImportedPrefixes(app.db, app.clock.now()),
  );
  return prefixes.some((prefix) => text.startsWith(prefix));
}

function isUsable({ isActive, isPrevious, previousUntil, expiresAt }: ApiToken & { isPrevious: boolean }, now: Date): boolean {
  return isActive && (expiresAt === null || expiresAt > now) && (!isPrevious || (previousUntil !== null && previousUntil > now));
}

export const apiKeyInvalid = refusal('api_key_invalid', 401, 'Invalid or expired API key');

function isDefaultToken(app: App, text: string): boolean {
  const expected = app.settings.get('WEB_API_DEFAULT_TOKEN');
  if (!expected || expected.length !== text.length) return false;
  const [a, b] = [Buffer.from(expected), Buffer.from(text)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** In the background: the request neither waits for it nor fails with it. */
function recordUse(app: App, token: ApiToken, ip: string | null): void {
  const now = app.clock.now();
  if (token.lastUsedAt && now.getTime() - token.lastUsedAt.getTime() < MINUTE_MS) return;
  token.lastUsedAt = now;
  // Any failure: the use of a token is a convenience; the request has its own answer.
  touchToken(app.db, token.id, ip, now).catch((error: unknown) =>
    app.log.warn({ err: error }, 'the use of an API token was not recorded'),
  );
}

/**
 * Applies changes of the default token's settings without a restart: a new text or name activates its row and
 * deactivates the row of the former text. Every instance does it; a repetition changes nothing. @returns stops following
 */
export function followDefaultToken(app: App): () => void {
  return storeOf(app).onChange(['WEB_API_DEFAULT_TOKEN', 'WEB_API_DEFAULT_TOKEN_NAME'], () =>
    runOutsideTransaction(() => {
      // Any failure: there is no caller; the next start repeats it.
      ensureDefaultToken(app).catch((err: unknown) => app.log.error({ err }, 'the default API token could not be updated'));
    }),
  );
}

/** Marks our tokens for secret scanners and for the check below. */
const PREFIX = 'sst_';
const SECRET_BYTES = 48;
const CHECK_LENGTH = 7;

const HASH_ALGORITHMS = new Set(['sha256', 'sha384', 'sha512']);

/** A new token: `sst_`, 48 random bytes in url-safe base64, 7 characters of CRC-32 in base 36. */
function newTokenText(random: Random): string {
  const body = urlSafeToken(random, SECRET_BYTES);
  return `${PREFIX}${body}${checkOf(body)}`;
}

/** False for a text that is not a token of this service, so that a guess causes no query. */
function hasTokenShape(text: string): boolean {
  if (!text.startsWith(PREFIX)) return false;
  const body = text.slice(PREFIX.length, -CHECK_LENGTH);
  return body.length === (SECRET_BYTES * 4) / 3 && text.slice(-CHECK_LENGTH) === checkOf(body);
}

/** The stored form of a token: hex of the hash, or of the HMAC with the operator's secret. */
function tokenHash(text: string, algorithm: string, hmacSecret: string | null): string {
  const name = HASH_ALGORITHMS.has(algorithm) ? algorithm : 'sha256';
  const hash = hmacSecret ? createHmac(name, hmacSecret) : createHash(name);
  return hash.update(text).digest('hex');
}

/** Cache key of a checked token; cleared by everything that changes the row. */
function tokenCacheKey(hash: string): string {
  return `token:${hash}`;
}

/** The beginning of a token, shown in lists. */
function visiblePrefix(text: string): string {
  return text.slice(0, PREFIX.length + 4);
}

function checkOf(body: string): string {
  return crc32(body).toString(36).padStart(CHECK_LENGTH, '0');
}
