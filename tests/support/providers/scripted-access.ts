import type { SettingsReader } from '../../../src/core/app.ts';
import { loadEnv } from '../../../src/core/env.ts';
import type { HttpClient, HttpRequest, HttpResponse } from '../../../src/core/http/http-client.ts';
import { createLogger } from '../../../src/core/log.ts';
import { createSettingsStore } from '../../../src/domain/settings/settings-store.ts';
import type { ProviderAccess } from '../../../src/integrations/payments/wire/provider-access.ts';

/** What an adapter gets, with the answers of its provider written down: one for each request, the last one again for all others. */
export function scriptedAccess(
  environment: Record<string, string>,
  answers: readonly (Error | { status?: number; body: unknown })[],
): ProviderAccess & { sent: HttpRequest[]; settings: SettingsReader } {
  const sent: HttpRequest[] = [];
  const request = async (request: HttpRequest): Promise<HttpResponse> => {
    sent.push(request);
    const answer = answers[Math.min(sent.length, answers.length) - 1];
    if (!answer) throw new Error('this test expects no request');
    if (answer instanceof Error) throw answer;
    const text = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);
    return { status: answer.status ?? 200, headers: {}, text };
  };
  const env = loadEnv(environment);
  let nonce = 1_790_000_000n;
  return {
    sent,
    http: { request } satisfies HttpClient,
    settings: createSettingsStore({ environment: env.raw, log: createLogger({ level: 'silent', format: 'json' }) }),
    fake: () => null,
    proxies: [],
    callbackNetworks: [],
    creditsWithoutApi: env.creditsFreekassaWithoutApi,
    nextNonce: async () => nonce++,
    now: () => new Date('2026-10-02T10:00:00.000Z'),
  };
}

/** The JSON body of a request. */
export function bodyOf(request: HttpRequest | undefined): Record<string, unknown> {
  return JSON.parse(String(request?.body));
}
