import { CabinetError, errorDetailOf } from './cabinet-error.ts';
import type { TokenPair, TokenStore } from './token-store.ts';

/** The part of a sign-in answer that a session consists of. */
export interface SignInAnswer {
  access_token: string;
  refresh_token: string;
}

export interface SessionOptions {
  /** Without a slash at its end. */
  baseUrl: string;
  store: TokenStore;
  fetch: typeof fetch;
  timeoutMs: number;
  /** The service no longer accepts the session; the tokens are gone from the store. Not called by `signOut`. */
  onSignedOut?: () => void;
}

interface LockManager {
  request<T>(name: string, work: () => Promise<T>): Promise<T>;
}

/** The tokens of one user: sign-in, one refresh for any number of callers, sign-out. */
export class Session {
  readonly #options: SessionOptions;
  readonly #listeners = new Set<() => void>();
  #refreshing: Promise<TokenPair | null> | null = null;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  /** Stores the tokens of a sign-in answer; every later call uses them. */
  async start(answer: SignInAnswer): Promise<void> {
    await this.#options.store.set({ accessToken: answer.access_token, refreshToken: answer.refresh_token });
    this.#notifyListeners();
  }

  async tokens(): Promise<TokenPair | null> {
    return this.#options.store.get();
  }

  /** Stores another access token of the same session. @returns false when that session has ended, or another one has begun */
  replaceAccessToken(accessToken: string): Promise<boolean> {
    return this.#alone(async () => {
      const tokens = await this.tokens();
      if (tokens === null || claimsOf(tokens.accessToken).sid !== claimsOf(accessToken).sid) return false;
      await this.#options.store.set({ ...tokens, accessToken });
      return true;
    });
  }

  async isSignedIn(): Promise<boolean> {
    return (await this.tokens()) !== null;
  }

  /** Removes the tokens and asks the service to end the session; an unreachable service does not delay this. */
  async signOut(): Promise<void> {
    const tokens = await this.tokens();
    await this.#options.store.clear();
    this.#notifyListeners();
    if (tokens) await this.#post('/cabinet/auth/logout', tokens.refreshToken).catch(() => undefined);
  }

  /** Calls the listener at every start and end of a session, not at refreshes. @returns ends the subscription */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * New tokens in place of a refused access token. Callers during a refresh share it; later callers
   * with a token that has been replaced already get the current one.
   * @returns null when there is no session, or no longer
   * @throws CabinetError when the service did not answer; the session stays
   */
  refresh(refusedAccessToken: string): Promise<TokenPair | null> {
    this.#refreshing ??= this.#alone(() => this.#refresh(refusedAccessToken)).finally(() => {
      this.#refreshing = null;
    });
    return this.#refreshing;
  }

  /** A refresh token can be used once, so pages that share a store must not use it at the same time. */
  #alone<T>(work: () => Promise<T>): Promise<T> {
    const { lockName } = this.#options.store;
    const { locks } = ((globalThis as { navigator?: unknown }).navigator ?? {}) as { locks?: LockManager };
    return locks && lockName !== undefined ? locks.request(lockName, work) : work();
  }

  async #refresh(refusedAccessToken: string): Promise<TokenPair | null> {
    const { store } = this.#options;
    const before = await store.get();
    if (before === null || before.accessToken !== refusedAccessToken) return before;
    const response = await this.#post('/cabinet/auth/refresh', before.refreshToken);
    const answer = (await response.json().catch(() => null)) as (Partial<SignInAnswer> & { detail?: unknown }) | null;
    const now = await store.get();
    // Signed out, or signed in again, during the refresh: its tokens are not stored.
    if (now?.refreshToken !== before.refreshToken) return now;
    if (response.ok && typeof answer?.access_token === 'string' && typeof answer.refresh_token === 'string') {
      const tokens = { accessToken: answer.access_token, refreshToken: answer.refresh_token };
      await store.set(tokens);
      return tokens;
    }
    if (response.status >= 500 || response.status === 429 || response.ok) {
      const detail = errorDetailOf(answer?.detail) ?? 'The session could not be refreshed';
      throw new CabinetError({ status: response.status, code: 'refresh_failed', detail });
    }
    await store.clear();
    this.#notifyListeners();
    this.#options.onSignedOut?.();
    return null;
  }

  async #post(path: string, refreshToken: string): Promise<Response> {
    const { baseUrl, timeoutMs } = this.#options;
    try {
      return await this.#options.fetch(`${baseUrl}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ refresh_token: refreshToken }),
        signal: AbortSignal.timeout(timeoutMs),
      });
    } catch (cause) {
      throw new CabinetError({ status: 0, code: 'network_error', detail: 'The service did not answer', cause });
    }
  }

  #notifyListeners(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** Claims of a JWT; none of a token that cannot be read, which is left to the service. */
export function claimsOf(accessToken: string): Record<string, unknown> {
  try {
    return JSON.parse(atob((accessToken.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/'))) as Record<
      string,
      unknown
    >;
  } catch {
    return {};
  }
}
