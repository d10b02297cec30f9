import type { App } from '../core/app.ts';
import type { Language } from '../domain/messaging/texts.ts';

/**
 * Credentials of the request; a base procedure checks them before anything relies on them.
 * @public named by the declarations of the client package
 */
export interface Credentials {
  /** `X-API-Key`. */
  readonly apiKey: string | null;
  /** Text after `Authorization: Bearer`. */
  readonly bearer: string | null;
  /** `X-Messenger-Init-Data`. */
  readonly initData: string | null;
}

/** Binds an open sign-in to the browser it began in (spec 01 H19). */
export interface Browser {
  /** `Sec-Fetch-Site: same-origin`, which only the browser can set; such a request always has our cookies. */
  readonly isSameOrigin: boolean;
  readCookie(name: string): string | null;
  /** Sets an HttpOnly cookie for the whole site, sent on top-level navigation and same-site requests only. */
  setCookie(name: string, value: string, maxAgeSeconds: number): void;
}

/** One context for REST, tRPC and tests; built from a request by `createContext` in `rest/request-context.ts`. */
export interface Context {
  readonly app: App;
  readonly credentials: Credentials;
  /** Client address after trusted proxies; null when the socket has none. */
  readonly ip: string | null;
  readonly userAgent: string | null;
  /** The known language that the client prefers by `Accept-Language`; null when it names none. */
  readonly language: Language | null;
  /** As received, for the audit log; the path is without the query. */
  readonly request: { readonly method: string; readonly path: string };
  /** `https://host` as the client addressed the service, after trusted proxies; null for a request without a usable host. */
  readonly baseUrl: string | null;
  /** Whether the request came where the interface has the words of its clients (spec 09). */
  readonly hasClientWords: boolean;
  readonly browser: Browser;
  readonly requestId: string;
  readonly idempotencyKey: string | null;
  readonly signal: AbortSignal | null;
  /** Filled by the gate for the request log: `token:3`, `user:17`. */
  readonly seen: { actor: string };
}
