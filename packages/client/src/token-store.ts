/** Both tokens of a session. */
export interface TokenPair {
  accessToken: string;
  /** Can be used for one refresh. */
  refreshToken: string;
}

/** Where the tokens are stored between calls: memory, `localStorage`, a cookie of the caller's own server. */
export interface TokenStore {
  get(): TokenPair | null | Promise<TokenPair | null>;
  set(tokens: TokenPair): void | Promise<void>;
  clear(): void | Promise<void>;
  /** Set when several pages share what is stored: they refresh one after another, under a Web Lock of this name. */
  readonly lockName?: string;
}

/** Tokens in memory, until the process or the page ends. */
export function memoryTokenStore(initial: TokenPair | null = null): TokenStore {
  let tokens = initial;
  return {
    get: () => tokens,
    set: (next) => {
      tokens = next;
    },
    clear: () => {
      tokens = null;
    },
  };
}

/** The part of `localStorage` and `sessionStorage` that is needed. */
export interface TextStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

/** Stores the tokens as JSON under one key. Tabs that share the storage share the session. */
export function storageTokenStore(storage: TextStorage, key = 'cabinet.tokens'): TokenStore {
  return {
    get: () => parseTokens(storage.getItem(key)),
    set: (tokens) => storage.setItem(key, JSON.stringify(tokens)),
    clear: () => storage.removeItem(key),
    lockName: `refresh of ${key}`,
  };
}

function parseTokens(text: string | null): TokenPair | null {
  try {
    const value = JSON.parse(text ?? 'null') as Partial<TokenPair> | null;
    return value && typeof value.accessToken === 'string' && typeof value.refreshToken === 'string'
      ? { accessToken: value.accessToken, refreshToken: value.refreshToken }
      : null;
  } catch {
    return null;
  }
}
