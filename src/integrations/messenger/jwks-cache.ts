import type { JWK } from 'jose';
import { addMs, type Clock, HOUR_MS, SECOND_MS } from '../../core/clock.ts';
import type { HttpClient } from '../../core/http/http-client.ts';
import type { Logger } from '../../core/log.ts';
import { oidcKeysUnavailable } from '../../domain/identity/errors.ts';

/** How long keys are cached. */
const FRESH_MS = HOUR_MS;
/** After an unknown key id or a failed fetch another fetch is made at most this often. */
const PAUSE_MS = 30 * SECOND_MS;

interface KeySet {
  url: string;
  keys: JWK[];
  fetchedAt: Date;
}

/** The public keys of one OpenID Connect issuer, fetched when needed and cached (spec 01 section 3, H25). */
export class JwksCache {
  readonly #deps: { http: HttpClient; clock: Clock; log: Logger };
  #set: KeySet | null = null;
  #triedAt: { url: string; at: Date } | null = null;
  #underWay: Promise<void> | null = null;

  constructor(deps: { http: HttpClient; clock: Clock; log: Logger }) {
    this.#deps = deps;
  }

  /** @returns null for a key id that the issuer does not publish @throws AppError 503 when no keys can be fetched */
  async find(url: string, keyId: string): Promise<JWK | null> {
    const now = this.#deps.clock.now();
    const known = this.#keyOf(url, keyId);
    const isFresh = this.#set?.url === url && addMs(this.#set.fetchedAt, FRESH_MS) > now;
    if (known && isFresh) return known;
    if (this.#mayFetch(url, now)) await this.#refillOnce(url, now);
    if (this.#set?.url !== url) throw oidcKeysUnavailable();
    // After a failed fetch the cached keys stay valid: an outage of the issuer must not stop all sign-ins.
    return this.#keyOf(url, keyId);
  }

  #keyOf(url: string, keyId: string): JWK | null {
    return this.#set?.url === url ? (this.#set.keys.find((key) => key.kid === keyId) ?? null) : null;
  }

  #mayFetch(url: string, now: Date): boolean {
    return this.#underWay !== null || this.#triedAt?.url !== url || addMs(this.#triedAt.at, PAUSE_MS) <= now;
  }

  /** Concurrent callers share one call. */
  async #refillOnce(url: string, now: Date): Promise<void> {
    this.#underWay ??= this.#refill(url, now).finally(() => {
      this.#underWay = null;
    });
    await this.#underWay;
  }

  async #refill(url: string, now: Date): Promise<void> {
    this.#triedAt = { url, at: now };
    try {
      const response = await this.#deps.http.request({ method: 'GET', url, headers: { accept: 'application/json' } });
      if (response.status !== 200) throw new Error(`status ${response.status}`);
      const body: unknown = JSON.parse(response.text);
      const keys = (body as { keys?: unknown } | null)?.keys;
      if (!Array.isArray(keys)) throw new Error('no key set');
      this.#set = { url, keys: keys.filter(isSigningKey), fetchedAt: now };
    } catch (error) {
      this.#deps.log.warn({ err: error }, "the issuer's keys could not be read");
    }
  }
}

function isSigningKey(key: unknown): key is JWK {
  if (typeof key !== 'object' || key === null) return false;
  const { kty, kid, use, alg } = key as Record<string, unknown>;
  return kty === 'RSA' && typeof kid === 'string' && (use ?? 'sig') === 'sig' && (alg ?? 'RS256') === 'RS256';
}
