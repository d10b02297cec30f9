import type { Actor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { countCharacters, firstCharacters } from '../../core/characters.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { refusal, ValidationError } from '../../core/errors.ts';
import { readState, writeState } from '../../core/service-state.ts';
import { validationIssue } from '../../core/validation-messages.ts';
import {
  countTokens,
  deleteToken,
  insertToken,
  listTokens,
  lockDefaultToken,
  lockToken,
  retireToken,
  setTokenActive,
  upsertActiveToken,
} from './repo.ts';
import { newTokenText, tokenCacheKey, tokenHash, visiblePrefix } from './rules.ts';
import type { ApiToken } from './types.ts';

/** Stores the id of the default token, so that it is found after a restart with another value in the environment. */
const DEFAULT_TOKEN_STATE = 'access:default-token';
/** `created_by` of default tokens (spec 01 section 1.2). */
const DEFAULT_TOKEN_MAKER = 'migration';
/** Length of the column of the name. */
const MAX_NAME_LENGTH = 255;

export interface TokenRequest {
  name: string;
  description: string | null;
  expiresAt: Date | null;
}

/** All API tokens, inactive ones too, newest first (spec 01 section 9). */
export function listApiTokens(app: App): Promise<ApiToken[]> {
  return listTokens(app.db);
}

/**
 * Creates an API token. Its text is returned here only and is not stored.
 * @throws ValidationError 422 for an empty or too long name or a past expiry
 */
export async function createApiToken(app: App, actor: Actor, request: TokenRequest): Promise<ApiToken & { token: string }> {
  const name = request.name.trim();
  const now = app.clock.now();
  if (name === '') throw invalid('name', 'Name must not be empty', request.name);
  if (countCharacters(name) > MAX_NAME_LENGTH) {
    const ctx = { max_length: MAX_NAME_LENGTH };
    throw new ValidationError([validationIssue('string_too_long', ['body', 'name'], request.name, ctx)]);
  }
  if (request.expiresAt && request.expiresAt <= now)
    throw invalid('expires_at', 'Expiry must lie in the future', request.expiresAt);
  const text = newTokenText(app.random);
  const token = await insertToken(app.db, {
    name,
    description: request.description,
    hash: currentHash(app, text),
    prefix: visiblePrefix(text),
    expiresAt: request.expiresAt,
    createdBy: actor.kind === 'token' || actor.kind === 'system' ? actor.name : actor.kind,
    now,
  });
  app.audit?.record({ resourceId: token.id, before: null, after: auditedFields(token) });
  return { ...token, token: text };
}

/** Activates or deactivates a token, on every instance with the commit. Idempotent. @throws AppError 404 'Token not found' */
export async function setApiTokenActive(app: App, _actor: Actor, tokenId: number, isActive: boolean): Promise<ApiToken> {
  return inTransaction(app, async (t) => {
    const locked = await lockToken(t.db, tokenId);
    if (!locked) throw tokenNotFound();
    const token = await setTokenActive(t.db, tokenId, isActive, t.clock.now());
    await t.cache.forget(t, [tokenCacheKey(locked.hash)]);
    t.audit?.record({ before: auditedFields(locked.token), after: auditedFields(token) });
    return token;
  });
}

/** @throws AppError 404 'Token not found' */
export async function deleteApiToken(app: App, _actor: Actor, tokenId: number): Promise<void> {
  await inTransaction(app, async (t) => {
    const locked = await lockToken(t.db, tokenId);
    if (!locked) throw tokenNotFound();
    await deleteToken(t.db, tokenId);
    await t.cache.forget(t, [tokenCacheKey(locked.hash)]);
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
const auditedFields = ({ name, tokenPrefix, isActive, expiresAt }: ApiToken) => ({
  name,
  prefix: tokenPrefix,
  isActive,
  expiresAt,
});

function currentHash(app: App, text: string): string {
  return tokenHash(text, app.settings.get('WEB_API_TOKEN_HASH_ALGORITHM'), app.settings.get('WEB_API_TOKEN_HMAC_SECRET'));
}

export const tokenNotFound = refusal('token_not_found', 404, 'Token not found');

function invalid(field: string, msg: string, input: unknown): ValidationError {
  return new ValidationError([{ loc: ['body', field], type: 'value_error', msg, input }]);
}
