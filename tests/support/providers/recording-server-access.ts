import { createSettingsStore } from '../../../src/domain/settings/settings-store.ts';
import type { ProviderAccess } from '../../../src/integrations/payments/wire/provider-access.ts';
import type { LoopbackReply, LoopbackRequest } from '../../../src/sandbox/loopback-server.ts';
import { onceHttp, type Recorder, startRecorder } from '../loopback-http.ts';

export interface RecordingServerAccess extends Recorder {
  access: ProviderAccess;
  /** The service's clock; UTC. */
  clock: { now: Date };
}

export const RECORDED_NOW = new Date('2026-03-01T10:00:00.000Z');
export const RECORDED_SECRET = 'recorded-secret';

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
  const log = { warn: () => undefined, error: () => undefined };
  const settings = createSettingsStore({ environment: Object.fromEntries(values), log });
  const clock = { now: RECORDED_NOW };
  const access: ProviderAccess = {
    ...{ http: onceHttp(), settings, proxies: [], callbackNetworks: [] },
    fake: () => (environment === null ? { baseUrl: url, secret: RECORDED_SECRET } : null),
    now: () => clock.now,
    ...{ creditsWithoutApi: false, nextNonce: async () => 1n },
  };
  return { ...recorder, access, clock };
}

export const failure = (status: number, body: object = {}): LoopbackReply => ({
  ...{ status, contentType: 'application/json', body: JSON.stringify(body) },
});
