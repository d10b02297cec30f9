import { CabinetError, errorDetailOf } from './cabinet-error.ts';
import type { TokenPair, TokenStore } from './token-store.ts';

/** The part of a sign-in answer that makes a session. */
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

  /** Keeps the tokens of a sign-in answer; every later call uses them. */
  async start(answer: SignInAnswer): Promise<void> {
    await this.#options.store.set({ accessToken: answer.access_token, refreshToken: answer.refresh_token });
    this.#notifyListeners();
  }

  async tokens(): Promise<TokenPair | null> {
    return this.#options.store.get();
  }

  async isSignedIn(): Promise<boolean> {
    return (await this.tokens()) !== null;
  }

  /** Forgets the tokens and tells the service to end the session; a service that cannot be reached does not hold it up. */
  async signOut(): Promise<void> {
    const tokens = await this.tokens();
    await this.#options.store.clear();
    this.#notifyListeners();
    if (tokens) await this.#post('/cabinet/auth/logout', tokens.refreshToken).catch(() => undefined);
  }

  /** Hears every start and end of a session, not its refreshes. @returns stops hearing */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * New tokens in place of a refused access token. Callers that come while a refresh runs share it; callers that come late,
   * with a token that has been replaced already, get the present one.
   * @returns null when there is no session (any more)
   * @throws CabinetError when the service did not answer; the session stays
   */
  refresh(refusedAccessToken: string): Promise<TokenPair | null> {
    this.#refreshing ??= this.#alone(() => this.#refresh(refusedAccessToken)).finally(() => {
      this.#refreshing = null;
    });
    return this.#refreshing;
  }

  /** A refresh token is good for one use, so pages that share a store must not use it at the same time. */
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
    // Signed out, or signed in anew, while the refresh was under way: what it brought belongs to nobody.
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
