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

/** One context for REST, tRPC and tests; built from a request by `createContext` in `rest/request-context.ts`. */
export interface Context {
  readonly app: App;
  readonly credentials: Credentials;
  /** Client address after trusted proxies; null when the socket has none. */
  readonly ip: string | null;
  readonly userAgent: string | null;
  readonly requestId: string;
  readonly idempotencyKey: string | null;
  readonly signal: AbortSignal | null;
  /** Filled by the gate for the request log: `token:3`, `user:17`. */
  readonly seen: { actor: string };
}
