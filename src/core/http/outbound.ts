import { setTimeout as wait } from 'node:timers/promises';
import {
  BrokenCircuitError,
  CircuitState,
  ConsecutiveBreaker,
  circuitBreaker,
  ExponentialBackoff,
  type IPolicy,
  noop,
  Policy,
} from 'cockatiel';
import fetch, { type Response } from 'node-fetch';
import type { Logger } from '../log.ts';
import type { OutboundMetrics, OutboundOutcome } from '../metrics.ts';
import { NO_TRACING, type OpenSpan, type Tracing } from '../telemetry/tracing.ts';
import { assertAllowedUrl, BlockedAddressError, createGuardedLookup, parseHttpUrl, type Resolve } from './address-guard.ts';
import {
  type HttpClient,
  type HttpClientOptions,
  type HttpRequest,
  type HttpResponse,
  OutboundError,
  type OutboundFailure,
} from './http-client.ts';
import { createAgents } from './outbound-agent.ts';
import { proxiedAgents } from './proxy-tunnel.ts';

export interface HttpClientDeps {
  metrics?: OutboundMetrics;
  log?: Logger;
  tracing?: Tracing | undefined;
  /** Waits between attempts; tests pass one that only records. */
  sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Resolver of the address guard; default: that of the system. */
  resolve?: Resolve;
}

const DEFAULTS = {
  connectTimeoutMs: 10_000,
  totalTimeoutMs: 30_000,
  retries: 3,
  breakerThreshold: 5,
  breakerResetMs: 10_000,
  maxResponseBytes: 10 * 1024 * 1024,
  encoding: 'utf-8',
  isRefusal: () => false,
};
const MAX_RETRY_AFTER_MS = 30_000;
const FIRST_BACKOFF_MS = 200;
const MAX_BACKOFF_MS = 5_000;
const USER_AGENT = 'subscription-service';

/**
 * Seconds or HTTP date of `Retry-After` as milliseconds from now, within [0, 30 s].
 * @returns null when the header is absent or not readable
 */
export function retryAfterMs(header: string | undefined, now: number): number | null {
  const text = header?.trim();
  if (!text) return null;
  const ms = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isNaN(ms) ? null : Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS);
}

/** Path for logs: no host, no query, and nothing that may be an id, a name or a token. */
export function pathTemplate(url: URL): string {
  const segments = url.pathname.split('/').map((segment) => (/^(v\d{1,2}|[A-Za-z_.-]{0,40})$/.test(segment) ? segment : ':id'));
  return segments.join('/');
}

function isFailureForBreaker(error: Error): boolean {
  return error instanceof OutboundError && (error.failure === 'timeout' || error.failure === 'network');
}

function outcomeOf(result: HttpResponse | OutboundError): OutboundOutcome {
  if (result instanceof OutboundError) return result.failure;
  if (result.status >= 500) return 'server_error';
  return result.status >= 400 ? 'client_error' : 'ok';
}

/** First `limit` bytes of the body; the rest is not downloaded. */
async function readBody(response: Response, limit: number): Promise<Buffer> {
  const body = response.body;
  if (body === null) return Buffer.alloc(0);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    const bytes = Buffer.from(chunk);
    chunks.push(bytes.subarray(0, limit - size));
    size += bytes.length;
    // Leaving the loop destroys the stream and its connection.
    if (size >= limit) break;
  }
  return Buffer.concat(chunks);
}

/** A character that was cut in half is dropped. */
function decodeBody(bytes: Buffer, limit: number, encoding: string): string {
  return new TextDecoder(encoding).decode(bytes, { stream: bytes.length >= limit });
}

/** Error of the transport without the URL, which may carry a token: node-fetch puts it into its message. */
function reasonOf(error: unknown): Error {
  if (!(error instanceof Error)) return new Error('unknown failure');
  const text = error.message.replace(/^request to .* failed, reason:\s*/s, '').replace(/\bhttps?:\/\/\S+/g, '[url]');
  const reason = new Error(text || error.name);
  return 'code' in error && typeof error.code === 'string' ? Object.assign(reason, { code: error.code }) : reason;
}

/** Options without a default. */
type Optional = 'publicHostsOnly' | 'proxy';

class OutboundHttpClient implements HttpClient {
  readonly #options: Required<Omit<HttpClientOptions, Optional>> & Pick<HttpClientOptions, Optional>;
  readonly #deps: HttpClientDeps;
  readonly #agentFor: ReturnType<typeof createAgents>;
  readonly #breaker: IPolicy;
  readonly #breakerState: () => CircuitState;
  readonly #sleep: NonNullable<HttpClientDeps['sleep']>;

  constructor(options: HttpClientOptions, deps: HttpClientDeps) {
    const full = { ...DEFAULTS, ...options };
    this.#options = full;
    this.#deps = deps;
    this.#sleep = deps.sleep ?? ((ms, signal) => wait(ms, undefined, { signal }));
    const allowedPrivateHosts = full.publicHostsOnly?.allowedPrivateHosts;
    // A socket to a literal address does not call `lookup`; those are refused by `assertAllowedUrl` before each call.
    const { connectTimeoutMs, proxy } = full;
    const direct = createAgents({
      connectTimeoutMs,
      lookup: allowedPrivateHosts && createGuardedLookup({ allowedPrivateHosts, resolve: deps.resolve }),
    });
    this.#agentFor = proxy ? proxiedAgents(direct, { proxyUrl: proxy, connectTimeoutMs }) : direct;
    if (full.breakerThreshold > 0) {
      const failures = new Policy({
        errorFilter: isFailureForBreaker,
        resultFilter: (result) => {
          const response = result as HttpResponse;
          return response.status >= 500 && !full.isRefusal(response);
        },
      });
      const breaker = circuitBreaker(failures, {
        halfOpenAfter: full.breakerResetMs,
        breaker: new ConsecutiveBreaker(full.breakerThreshold),
      });
      breaker.onBreak(() => deps.log?.warn({ system: full.system, ms: full.breakerResetMs }, 'circuit breaker opened'));
      breaker.onReset(() => deps.log?.info({ system: full.system }, 'circuit breaker closed'));
      this.#breaker = breaker;
      this.#breakerState = () => breaker.state;
    } else {
      this.#breaker = noop;
      this.#breakerState = () => CircuitState.Closed;
    }
  }

  async request(request: HttpRequest): Promise<HttpResponse> {
    const url = this.#checkedUrl(request.url);
    const { tracing = NO_TRACING } = this.#deps;
    if (!tracing.isOn) return this.#attempts(request, url);
    const { system } = this.#options;
    const template = pathTemplate(url);
    const attributes = { 'http.request.method': request.method, 'url.template': template, 'peer.service': system };
    return tracing.inSpan('client', `${request.method} ${system}`, attributes, async (span) => {
      const traceparent = tracing.isSentTo(system) ? tracing.traceparent() : null;
      const traced = traceparent === null ? request : { ...request, headers: { ...request.headers, traceparent } };
      return this.#attempts(traced, url, span);
    });
  }

  async #attempts(request: HttpRequest, url: URL, span: OpenSpan | null = null): Promise<HttpResponse> {
    const isIdempotent = request.idempotent ?? ['GET', 'PUT', 'DELETE'].includes(request.method);
    let backoff = new ExponentialBackoff({ initialDelay: FIRST_BACKOFF_MS, maxDelay: MAX_BACKOFF_MS }).next();
    let last: HttpResponse | OutboundError | null = null;
    const startedAt = performance.now();
    for (let attempt = 1; ; attempt += 1) {
      const result: HttpResponse | OutboundError = await this.#guardedAttempt(request, url, attempt);
      const isRefused = result instanceof OutboundError && result.failure === 'circuit_open';
      // The breaker opened between two attempts: the error of the system says more than that of the breaker.
      last = isRefused && last !== null ? last : result;
      if (isRefused || attempt > this.#options.retries || !isRetryable(result, isIdempotent)) break;
      const asked = result instanceof OutboundError ? null : retryAfterMs(result.headers['retry-after'], Date.now());
      const delayMs = asked ?? backoff.duration;
      // No further attempt for a system that does not answer, itself or behind a gateway that answers 504: a caller may be waiting, and a job runs again
      // anyway. A 429 is a working system that asks to wait, so it is tried again.
      const isFailing = result instanceof OutboundError || result.status >= 500;
      if (isFailing && performance.now() - startedAt + delayMs >= this.#options.totalTimeoutMs) break;
      backoff = backoff.next(undefined);
      if (!(await this.#slept(delayMs, request.signal))) {
        last = this.#failure('aborted');
        break;
      }
    }
    if (last instanceof OutboundError) {
      span?.fail(last.failure);
      throw last;
    }
    span?.set({ 'http.response.status_code': last.status });
    return last;
  }

  #checkedUrl(text: string): URL {
    try {
      const allowed = this.#options.publicHostsOnly?.allowedPrivateHosts;
      return allowed ? assertAllowedUrl(text, allowed) : parseHttpUrl(text);
    } catch (error) {
      this.#deps.metrics?.observeOutbound(this.#options.system, 'blocked', 0);
      throw this.#failure('blocked', error);
    }
  }

  async #slept(ms: number, signal: AbortSignal | undefined): Promise<boolean> {
    try {
      await this.#sleep(ms, signal);
    } catch (error) {
      if (!signal?.aborted) throw error;
    }
    return !signal?.aborted;
  }

  #failure(failure: OutboundFailure, cause?: unknown): OutboundError {
    const reason = cause === undefined ? undefined : reasonOf(cause);
    const code = reason && 'code' in reason ? ` (${reason.code})` : '';
    return new OutboundError(this.#options.system, failure, `${this.#options.system}: no answer, ${failure}${code}`, reason);
  }

  /** One try behind the breaker, counted and logged. */
  async #guardedAttempt(request: HttpRequest, url: URL, attempt: number): Promise<HttpResponse | OutboundError> {
    const startedAt = performance.now();
    const result = await this.#throughBreaker(request, url);
    const ms = performance.now() - startedAt;
    const { system } = this.#options;
    this.#deps.metrics?.observeOutbound(system, outcomeOf(result), ms / 1000);
    const outcome = result instanceof OutboundError ? { failure: result.failure } : { status: result.status };
    const call = { system, method: request.method, path: pathTemplate(url), ...outcome, ms: Math.round(ms), attempt };
    this.#deps.log?.debug(call, 'outbound call');
    return result;
  }

  async #throughBreaker(request: HttpRequest, url: URL): Promise<HttpResponse | OutboundError> {
    if (request.signal?.aborted) return this.#failure('aborted');
    // One call probes whether the system has recovered; the others must not wait for it.
    if (this.#breakerState() === CircuitState.HalfOpen) return this.#failure('circuit_open');
    try {
      return await this.#breaker.execute(() => this.#send(request, url));
    } catch (error) {
      if (error instanceof OutboundError) return error;
      if (error instanceof BrokenCircuitError) return this.#failure('circuit_open');
      throw error;
    }
  }

  async #send(request: HttpRequest, url: URL): Promise<HttpResponse> {
    const controller = new AbortController();
    let isTimedOut = false;
    const timer = setTimeout(() => {
      isTimedOut = true;
      controller.abort();
    }, request.timeoutMs ?? this.#options.totalTimeoutMs);
    const abort = (): void => controller.abort();
    request.signal?.addEventListener('abort', abort, { once: true });
    try {
      const response = await fetch(url.href, {
        method: request.method,
        headers: { 'user-agent': USER_AGENT, ...request.headers },
        body: typeof request.body === 'object' ? Buffer.from(request.body) : request.body,
        redirect: 'manual',
        agent: this.#agentFor,
        signal: controller.signal,
      });
      const { maxResponseBytes, encoding } = this.#options;
      const bytes = await readBody(response, maxResponseBytes);
      const head = { status: response.status, headers: Object.fromEntries(response.headers) };
      return request.wantsBytes ? { ...head, text: '', bytes } : { ...head, text: decodeBody(bytes, maxResponseBytes, encoding) };
    } catch (error) {
      throw this.#failure(failureOf(error, isTimedOut, request.signal?.aborted === true), error);
    } finally {
      clearTimeout(timer);
      request.signal?.removeEventListener('abort', abort);
    }
  }
}

function failureOf(error: unknown, isTimedOut: boolean, isAborted: boolean): OutboundFailure {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (error instanceof BlockedAddressError || code === 'EBLOCKED') return 'blocked';
  if (isTimedOut || code === 'ECONNECTTIMEOUT' || code === 'ETIMEDOUT') return 'timeout';
  return isAborted ? 'aborted' : 'network';
}

function isRetryable(result: HttpResponse | OutboundError, isIdempotent: boolean): boolean {
  if (result instanceof OutboundError) return isIdempotent && (result.failure === 'timeout' || result.failure === 'network');
  return result.status === 429 || (isIdempotent && result.status >= 500);
}

/**
 * Builds the client of one outside system. Share one per system: the circuit breaker and the kept-alive connections live in it.
 * Each try ends within `totalTimeoutMs`; 429 is tried again after its `Retry-After` (at most 30 s), 5xx and transport errors only
 * when the call is idempotent, with growing random pauses, and only when the next try can begin within `totalTimeoutMs` of the first.
 * Redirects are answers like any other.
 */
export function createHttpClient(options: HttpClientOptions, deps: HttpClientDeps = {}): HttpClient {
  return new OutboundHttpClient(options, deps);
}
