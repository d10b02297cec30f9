import type { Readable } from 'node:stream';

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

// Answers of a procedure that are not JSON. The procedure's meta says `wire.reply`; REST turns the value into bytes or a redirect.

/** A download (or, with `inline`, something a browser shows in place). */
export interface FileReply {
  kind: 'file';
  /** Name offered to the user; any characters, the header is encoded. */
  filename: string;
  /** Media type, e.g. `application/gzip`. */
  contentType: string;
  body: Buffer | Readable | RangedContent;
  /** Bytes of a stream, when known before. */
  contentLength?: number;
  inline?: boolean;
  /** A request for a range of its bytes is answered with 206; not for a stream. */
  acceptsRanges?: boolean;
  /** Version of the body, quoted: a request that has it already is answered with 304 and no body. */
  etag?: string;
  /** Further headers, e.g. `cache-control`; they are sent with a 304 as well. */
  headers?: Readonly<Record<string, string>>;
}

/** The first and the last byte, counted from 0. */
export interface ByteRange {
  first: number;
  last: number;
}

/** A content of which only what is sent is read. */
export interface RangedContent {
  /** Bytes of the whole. */
  size: number;
  /**
   * Called at most once, after which the stream is read to its end or destroyed. @param range within the content; null = the whole
   * @throws AppError when it cannot be read any more
   */
  open(range: ByteRange | null): Promise<Readable>;
}

/** A 302 to another address. */
export interface RedirectReply {
  kind: 'redirect';
  /** Absolute URL or path. */
  url: string;
}

export function fileReply(reply: Omit<FileReply, 'kind'>): FileReply {
  return { kind: 'file', ...reply };
}

export function redirectReply(url: string): RedirectReply {
  return { kind: 'redirect', url };
}

export function isFileReply(value: unknown): value is FileReply {
  return isKind(value, 'file') && 'body' in value && 'contentType' in value;
}

export function isRedirectReply(value: unknown): value is RedirectReply {
  return isKind(value, 'redirect') && 'url' in value;
}

function isKind(value: unknown, kind: string): value is { kind: string } {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === kind;
}

/** Failures before the first byte of the request: no address, no connection, no tunnel, no accepted certificate. */
const UNSENT_CODES: ReadonlySet<string> = new Set([
  ...['EAI_AGAIN', 'EAI_FAIL', 'EAI_NODATA', 'ENOTFOUND', 'ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL'],
  ...['ECONNECTTIMEOUT', 'EPROXY', 'CERT_HAS_EXPIRED', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ...[
    'SELF_SIGNED_CERT_IN_CHAIN',
    'UNABLE_TO_GET_ISSUER_CERT',
    'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  ],
]);

/**
 * Whether a call that got no answer certainly did not reach the system. After anything else, a reset or a time-out, it may have been
 * carried out.
 */
export function isCertainlyUnsent(error: OutboundError): boolean {
  if (error.failure === 'circuit_open' || error.failure === 'blocked') return true;
  const code = error.cause instanceof Error && 'code' in error.cause ? error.cause.code : undefined;
  return typeof code === 'string' && UNSENT_CODES.has(code);
}
