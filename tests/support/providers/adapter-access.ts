import type { LoopbackReply, LoopbackRequest } from '../../../packages/sandbox/src/loopback-server.ts';
import { loadEnv } from '../../../src/core/env.ts';
import type { HttpClient, HttpRequest } from '../../../src/core/http/http-client.ts';
import { createLogger } from '../../../src/core/log.ts';
import type { InvoiceRequest, ProviderCallback } from '../../../src/domain/payments/ports.ts';
import { createSettingsStore } from '../../../src/domain/settings/settings-store.ts';
import type { SettingKey } from '../../../src/domain/settings/types.ts';
import type { ProviderAccess } from '../../../src/integrations/payments/wire/provider-call.ts';
import { onceHttp, type Recorder, startRecorder } from '../loopback-http.ts';

/** The service's clock of an adapter on its own; UTC. */
export const RECORDED_NOW = new Date('2026-03-01T10:00:00.000Z');
export const RECORDED_SECRET = 'recorded-secret';

/** What an adapter gets, with the settings of an environment; on when the environment says so. */
function accessOf(environment: Record<string, string>, http: HttpClient): ProviderAccess {
  const env = loadEnv(environment);
  const settings = createSettingsStore({
    environment: env.raw,
    log: createLogger({ level: 'silent', format: 'json' }),
  });
  const switches = Object.keys(environment).filter((name) => name.endsWith('_ENABLED')) as SettingKey[];
  let nonce = 1_790_000_000n;
  return {
    http,
    settings,
    proxies: [],
    callbackNetworks: [],
    creditsWithoutApi: env.creditsFreekassaWithoutApi,
    isOn: () => switches.length > 0 && switches.every((name) => settings.get(name) === true),
    fake: () => null,
    nextNonce: async () => nonce++,
    now: () => RECORDED_NOW,
  };
}

/** What the provider answers; a text is a body as it is on the wire, an error that of a lost request. */
type Answer = { status?: number; body: unknown } | Error;

/**
 * What the adapter of a provider gets, with the settings of an environment and without its fake.
 * @param answer called for each request, which `requests` keeps; of a list one for each, the last one again for all others
 */
export function recordedAccess(
  environment: Record<string, string>,
  answer: readonly Answer[] | ((request: HttpRequest) => Answer) = [],
  callbackNetworks: readonly string[] = [],
): { access: ProviderAccess; requests: HttpRequest[] } {
  const requests: HttpRequest[] = [];
  const listed = (answers: readonly Answer[]) => answers[Math.min(requests.length, answers.length) - 1];
  const http: HttpClient = {
    request: async (request) => {
      requests.push(request);
      const given = (typeof answer === 'function' ? answer(request) : listed(answer)) ?? new Error('no request is expected');
      if (given instanceof Error) throw given;
      const { status = 200, body } = given;
      return { status, headers: {}, text: typeof body === 'string' ? body : JSON.stringify(body) };
    },
  };
  return { access: { ...accessOf(environment, http), callbackNetworks }, requests };
}

export interface RecordingServerAccess extends Recorder {
  access: ProviderAccess;
  clock: { now: Date };
}

/**
 * What an adapter of a provider gets, with a recording server in the provider's place.
 * @param answer an object is sent as JSON with status 200
 * @param environment settings of the provider; with any, these count and not the sandbox's secret. `{url}` in a value = the recording server
 */
export async function recordingServerAccess(
  answer: (request: LoopbackRequest, count: number) => LoopbackReply | object,
  environment: Record<string, string> | null = null,
): Promise<RecordingServerAccess> {
  const recorder = await startRecorder((request, count) => {
    const made = answer(request, count);
    return 'contentType' in made ? made : { status: 200, contentType: 'application/json', body: JSON.stringify(made) };
  });
  const { url } = recorder.server;
  const values = Object.entries(environment ?? {}).map(([key, value]) => [key, value.replace('{url}', url)] as const);
  const clock = { now: RECORDED_NOW };
  const base = accessOf(Object.fromEntries(values), onceHttp());
  const access: ProviderAccess = {
    ...base,
    isOn: () => environment === null || base.isOn(),
    fake: () => (environment === null ? { baseUrl: url, secret: RECORDED_SECRET } : null),
    now: () => clock.now,
  };
  return { ...recorder, access, clock };
}

export const failure = (status: number, body: object = {}): LoopbackReply => ({
  status,
  contentType: 'application/json',
  body: JSON.stringify(body),
});

/** The JSON body of a request. */
export function bodyOf(request: HttpRequest | undefined): Record<string, unknown> {
  return JSON.parse(String(request?.body));
}

/** An invoice of 1000.50 rubles. */
export function anInvoice(change: Partial<InvoiceRequest> = {}): InvoiceRequest {
  return {
    paymentId: 7,
    orderId: '0123456789abcdef0123456789abcd',
    amountKopeks: 100_050,
    description: 'Service - top-up',
    returnUrls: { result: null, success: null, failed: null },
    metadata: {},
    ...change,
  };
}

/** A callback as the HTTP layer passes it to the adapter. */
export function aCallback(body: string, change: Partial<ProviderCallback> = {}): ProviderCallback {
  return { method: 'POST', headers: {}, rawBody: Buffer.from(body), query: {}, subpath: '', ip: '127.0.0.1', ...change };
}
