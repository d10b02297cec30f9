import { loadEnv } from '../../../src/core/env.ts';
import type { HttpClient, HttpRequest } from '../../../src/core/http/http-client.ts';
import { createLogger } from '../../../src/core/log.ts';
import type { InvoiceRequest, ProviderCallback } from '../../../src/domain/payments/ports.ts';
import { createSettingsStore } from '../../../src/domain/settings/settings-store.ts';
import type { ProviderAccess } from '../../../src/integrations/payments/wire/provider-access.ts';

/** What the provider answers; a text is a body as it is on the wire, an error that of a lost request. */
type Answer = { status?: number; body: unknown } | Error;

/**
 * What the adapter of a provider gets, with the settings of an environment and without its fake.
 * @param answer called for each request, which `requests` keeps
 */
export function recordedAccess(
  environment: Record<string, string>,
  answer: (request: HttpRequest) => Answer = () => new Error('no request is expected'),
  callbackNetworks: readonly string[] = [],
): { access: ProviderAccess; requests: HttpRequest[] } {
  const requests: HttpRequest[] = [];
  const http: HttpClient = {
    request: async (request) => {
      requests.push(request);
      const given = answer(request);
      if (given instanceof Error) throw given;
      const { status = 200, body } = given;
      return { status, headers: {}, text: typeof body === 'string' ? body : JSON.stringify(body) };
    },
  };
  const log = createLogger({ level: 'silent', format: 'json' });
  const settings = createSettingsStore({ environment: loadEnv(environment).raw, log });
  const now = () => new Date('2026-03-01T10:00:00.000Z');
  let nonce = 1_790_000_000n;
  const unused = { creditsWithoutApi: false, nextNonce: async () => nonce++ };
  return { access: { http, settings, fake: () => null, proxies: [], callbackNetworks, now, ...unused }, requests };
}

/** An invoice of 1000.50 rubles. */
export function anInvoice(change: Partial<InvoiceRequest> = {}): InvoiceRequest {
  return {
    ...{ paymentId: 7, orderId: '0123456789abcdef0123456789abcd', amountKopeks: 100_050, description: 'Service - top-up' },
    ...{ returnUrls: { result: null, success: null, failed: null }, metadata: {}, ...change },
  };
}

/** A callback as the HTTP layer passes it to the adapter. */
export function aCallback(body: string, change: Partial<ProviderCallback> = {}): ProviderCallback {
  return { ...{ method: 'POST', headers: {}, rawBody: Buffer.from(body), query: {}, subpath: '', ip: '127.0.0.1' }, ...change };
}
