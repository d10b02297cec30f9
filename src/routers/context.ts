import type { App } from '../core/app.ts';

/** What the request brought to prove who calls; nothing in it is trusted before a base procedure has checked it. */
export interface Credentials {
  /** `X-API-Key`. */
  readonly apiKey: string | null;
  /** Text behind `Authorization: Bearer`. */
  readonly bearer: string | null;
  /** `X-Messenger-Init-Data`. */
  readonly initData: string | null;
}

/** What binds a sign-in under way to the browser it began in (spec 01 H19). */
export interface Browser {
  /** `Sec-Fetch-Site: same-origin`: a browser says so itself, and such a request always carries our cookies. */
  readonly isSameOrigin: boolean;
  readCookie(name: string): string | null;
  /** Sets an HttpOnly cookie for the whole site, sent along on top-level navigation and same-site requests only. */
  setCookie(name: string, value: string, maxAgeSeconds: number): void;
}

/** One context for REST, tRPC and tests; built from a request by `createContext` in `rest/request-context.ts`. */
export interface Context {
  readonly app: App;
  readonly credentials: Credentials;
  /** Client address after trusted proxies; null when the socket has none. */
  readonly ip: string | null;
  readonly userAgent: string | null;
  /** As it came in, for the audit log; the path is without the query. */
  readonly request: { readonly method: string; readonly path: string };
  readonly browser: Browser;
  readonly requestId: string;
  readonly idempotencyKey: string | null;
  readonly signal: AbortSignal | null;
  /** Filled by the gate for the request log: `token:3`, `user:17`. */
  readonly seen: { actor: string };
}
