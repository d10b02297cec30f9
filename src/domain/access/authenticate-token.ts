import { timingSafeEqual } from 'node:crypto';
import type { TokenActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { MINUTE_MS } from '../../core/clock.ts';
import { refusal } from '../../core/errors.ts';
import { ensureDefaultToken } from './manage-tokens.ts';
import { findTokenByHash, rehashToken, touchToken } from './repo.ts';
import { hasTokenShape, tokenCacheKey, tokenHash } from './rules.ts';
import type { ApiToken } from './types.ts';

export const apiKeyMissing = refusal('api_key_missing', 401, 'Missing API key');

/** How long a checked token is cached; a revocation clears the cache of every instance with its commit. */
const TRUST_MS = 15_000;

/**
 * Checks an API token (spec 01 section 4.1). Texts without the form of a token are refused before any query; use is recorded at most once a minute.
 * @throws AppError 401 'Missing API key' | 'Invalid or expired API key'
 */
export async function authenticateToken(
  app: App,
  credentials: { apiKey: string | null; bearer: string | null },
  ip: string | null,
): Promise<TokenActor> {
  const text = (credentials.apiKey ?? credentials.bearer ?? '').trim();
  if (text === '') throw apiKeyMissing();
  const isDefault = isDefaultToken(app, text);
  if (!isDefault && !hasTokenShape(text)) throw apiKeyInvalid();
  const algorithm = app.settings.get('WEB_API_TOKEN_HASH_ALGORITHM');
  const secret = app.settings.get('WEB_API_TOKEN_HMAC_SECRET');
  const hash = tokenHash(text, algorithm, secret);
  const token = await app.cache.read(tokenCacheKey(hash), TRUST_MS, async () => {
    const found = await findTokenByHash(app.db, hash);
    if (found) return found;
    if (secret) {
      // Created before the operator set the HMAC secret: found by its plain hash once, then stored under the keyed one.
      const old = await findTokenByHash(app.db, tokenHash(text, algorithm, null));
      if (old) {
        await rehashToken(app.db, old.id, hash);
        return old;
      }
    }
    return isDefault ? ensureDefaultToken(app) : null;
  });
  if (!token || !isUsable(token, app.clock.now())) throw apiKeyInvalid();
  recordUse(app, token, ip);
  return { kind: 'token', tokenId: token.id, name: token.name };
}

function isUsable(token: ApiToken, now: Date): boolean {
  return token.isActive && (token.expiresAt === null || token.expiresAt > now);
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
