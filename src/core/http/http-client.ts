/** Outbound HTTP as the adapters see it; built by `createHttpClient` in `outbound.ts`, the only file that calls `fetch`. */

export interface HttpRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Absolute URL. */
  url: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** May this call be sent again after a transport error or a 5xx? Defaults to true for GET, PUT and DELETE. 429 is always retried. */
  idempotent?: boolean;
  /** Cancels the call, e.g. when the client of the surrounding request disconnected. */
  signal?: AbortSignal;
  /** Time for one try of this call, where a setting decides it. Default: that of the client. */
  timeoutMs?: number;
  /** The body is a file: it is answered as `bytes`, and `text` is empty. */
  wantsBytes?: boolean;
}

export interface HttpResponse {
  status: number;
  /** Header names in lower case. */
  headers: Record<string, string>;
  /** The body as text, cut at the client's `maxResponseBytes`. */
  text: string;
  /** With `wantsBytes`: the body, cut likewise. */
  bytes?: Buffer;
}

export interface HttpClientOptions {
  /** System name for metrics, logs and the circuit breaker: `vpnpanel`, `messenger`, `yookassa`, `webhook` … */
  system: string;
  /** Time to establish the connection. Default 10 s. */
  connectTimeoutMs?: number;
  /** Time for one try; after a failure a further one begins only within as much of the first. Default 30 s. */
  totalTimeoutMs?: number;
  /** Further tries after the first. Default 3. */
  retries?: number;
  /** Consecutive failures (transport, 5xx) that open the breaker; 0 = no breaker. Default 5. */
  breakerThreshold?: number;
  /** Recognises a 5xx by which the system itself refuses the data of a call: it works, so the breaker does not count it. Default: none. */
  isRefusal?: (response: HttpResponse) => boolean;
  /** How long an open breaker refuses calls without trying. Default 10 s. */
  breakerResetMs?: number;
  /** Longest body read; the rest is cut. Default 10 MiB. */
  maxResponseBytes?: number;
  /** For user-given URLs: refuse private, loopback, link-local, CGNAT, metadata and mapped addresses at connect time. */
  publicHostsOnly?: { allowedPrivateHosts: readonly string[] };
  /**
   * The proxy for the calls of this client, read for each call: a `http:`, `https:`, `socks5:`, `socks5h:` or `socks4:` address; null = none.
   * Not together with `publicHostsOnly`, whose check the proxy's own resolution of names would go around.
   */
  proxy?: () => string | null;
  /** How answers are encoded, as `TextDecoder` names it. Default UTF-8. */
  encoding?: string;
}

export interface HttpClient {
  /** Resolves for every HTTP status; redirects are never followed. @throws OutboundError when no answer came. */
  request(request: HttpRequest): Promise<HttpResponse>;
}

/** Why no answer came. `circuit_open`: not tried, because the system failed too often before. `blocked`: the address is not allowed. */
export type OutboundFailure = 'timeout' | 'network' | 'circuit_open' | 'blocked' | 'aborted';

export class OutboundError extends Error {
  readonly system: string;
  readonly failure: OutboundFailure;

  constructor(system: string, failure: OutboundFailure, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'OutboundError';
    this.system = system;
    this.failure = failure;
  }
}
