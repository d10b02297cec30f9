import type { HttpClient } from '../../core/http/http-client.ts';
import { OutboundError } from '../../core/http/http-client.ts';
import { createHttpClient, type HttpClientDeps } from '../../core/http/outbound.ts';
import type { WebhookAnswer, WebhookTransport } from '../../domain/webhooks/ports.ts';

const CONNECT_TIMEOUT_MS = 5_000;
const TOTAL_TIMEOUT_MS = 10_000;
/** Enough for the 1000 characters that are stored, in any encoding. */
const MAX_RESPONSE_BYTES = 8 * 1024;

export interface WebhookTransportOptions {
  /** `WEBHOOK_ALLOWED_PRIVATE_HOSTS`. */
  allowedPrivateHosts: readonly string[];
  /** Payloads are unchanged unless given. */
  inClientWords?: WebhookTransport['inClientWords'];
  /** Shorter in tests. */
  totalTimeoutMs?: number;
}

/**
 * Sends webhooks over HTTP: one request a call, addresses checked at connect time, redirects not followed. There is no circuit breaker,
 * because one receiver that is down would stop the deliveries to all others.
 */
export function createWebhookTransport(options: WebhookTransportOptions, deps: HttpClientDeps = {}): WebhookTransport {
  const client = createHttpClient(
    {
      system: 'webhook',
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      totalTimeoutMs: options.totalTimeoutMs ?? TOTAL_TIMEOUT_MS,
      retries: 0,
      breakerThreshold: 0,
      maxResponseBytes: MAX_RESPONSE_BYTES,
      publicHostsOnly: { allowedPrivateHosts: options.allowedPrivateHosts },
    },
    deps,
  );
  return {
    send: ({ url, headers, body }) => sendOnce(client, url, headers, body),
    inClientWords: options.inClientWords ?? ((payload) => payload),
  };
}

async function sendOnce(client: HttpClient, url: string, headers: Record<string, string>, body: string): Promise<WebhookAnswer> {
  try {
    const response = await client.request({ method: 'POST', url, headers, body, idempotent: false });
    return {
      kind: 'answered',
      status: response.status,
      body: response.text,
      retryAfter: response.headers['retry-after'] ?? null,
    };
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    if (error.failure === 'timeout') return { kind: 'timeout' };
    const reason = error.cause instanceof Error ? error.cause.message : error.message;
    return error.failure === 'blocked' ? { kind: 'blocked', reason } : { kind: 'unreachable', reason };
  }
}
