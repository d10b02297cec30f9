import fetch from 'node-fetch';
import { type HttpClient, type HttpRequest, OutboundError } from '../../src/core/http/http-client.ts';

/**
 * The smallest client with the guarantees of `HttpClient` that adapters rely on: every status resolves, redirects are not
 * followed, and only idempotent calls (and 429) are sent again. No waiting between tries.
 */
export function createPlainHttpClient(options: { system?: string; retries?: number; timeoutMs?: number } = {}): HttpClient {
  const { system = 'test', retries = 2, timeoutMs = 60_000 } = options;

  async function once(request: HttpRequest) {
    try {
      const response = await fetch(request.url, {
        method: request.method,
        redirect: 'manual',
        signal: AbortSignal.timeout(timeoutMs),
        ...(request.headers ? { headers: request.headers } : {}),
        ...(request.body === undefined ? {} : { body: Buffer.from(request.body) }),
      });
      return { status: response.status, headers: Object.fromEntries(response.headers), text: await response.text() };
    } catch (cause) {
      const isTimeout = cause instanceof Error && /Abort|Timeout/.test(cause.name);
      throw new OutboundError(system, isTimeout ? 'timeout' : 'network', `call to ${system} failed`, cause);
    }
  }

  return {
    async request(request) {
      const isRepeatable = request.idempotent ?? ['GET', 'PUT', 'DELETE'].includes(request.method);
      for (let left = retries; ; left -= 1) {
        try {
          const response = await once(request);
          const isWorthARetry = response.status === 429 || (isRepeatable && response.status >= 500);
          if (!isWorthARetry || left <= 0) return response;
        } catch (error) {
          if (!isRepeatable || left <= 0) throw error;
        }
      }
    },
  };
}
