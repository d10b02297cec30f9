import type { HttpClient } from '../../core/http/http-client.ts';
import { createHttpClient, type HttpClientDeps } from '../../core/http/outbound.ts';
import type { PublicListPort } from '../../domain/safety/ports.ts';

const MAX_BYTES = 10 * 1024 * 1024;
const TIMEOUT_MS = 10_000;

/** Fetches published lists, without retries, which the caller decides on (spec 01 H25). */
export function createPublicListPort(deps: HttpClientDeps = {}): PublicListPort {
  return publicListPort(
    createHttpClient(
      {
        system: 'public_list',
        connectTimeoutMs: TIMEOUT_MS,
        totalTimeoutMs: TIMEOUT_MS,
        retries: 0,
        breakerThreshold: 0,
        maxResponseBytes: MAX_BYTES,
        publicHostsOnly: { allowedPrivateHosts: [] },
      },
      deps,
    ),
  );
}

/** The port over a client that cuts answers at 10 MB. */
export function publicListPort(client: HttpClient): PublicListPort {
  return {
    fetchText: async (url) => {
      if (!/^https:\/\//i.test(url)) throw new Error('the list must be fetched over https');
      const { status, text } = await client.request({ method: 'GET', url, headers: { accept: 'text/plain' } });
      if (status !== 200) throw new Error(`the list was answered with status ${status}`);
      // The client cuts the answer at the limit; an incomplete list must not be used.
      if (Buffer.byteLength(text) >= MAX_BYTES - 4) throw new Error('the list is longer than 10 MB');
      return text;
    },
  };
}
