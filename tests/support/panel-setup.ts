import { onTestFinished } from 'vitest';
import { createMemoryStore } from '../../packages/sandbox/src/panel/panel-state.ts';
import { type SandboxPanelOptions, startSandboxPanel } from '../../packages/sandbox/src/panel/sandbox-panel.ts';
import type { Clock } from '../../src/core/clock.ts';
import type { PanelUserDraft } from '../../src/domain/provisioning/ports.ts';
import type { PanelConnection } from '../../src/integrations/vpnpanel/panel-connection.ts';
import { createVpnPanelAdapter } from '../../src/integrations/vpnpanel/vpnpanel-adapter.ts';
import { createPlainHttpClient } from './plain-http-client.ts';

export const START = new Date('2026-03-01T12:00:00.000Z');
export const NETHERLANDS = '5a11ad00-0000-4000-8000-000000000001';
export const GERMANY = '5a11ad00-0000-4000-8000-000000000002';
export const PARTNERS = 'e87e4a00-0000-4000-8000-000000000001';
export const UNKNOWN_UUID = '9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d';

/** A clock that the test advances. */
export function movableClock(start = START): Clock & { move(ms: number): void } {
  let now = start.getTime();
  return { now: () => new Date(now), move: (ms) => (now += ms) };
}

export function connectionTo(panel: { url: string; apiKey: string }, changes: Partial<PanelConnection> = {}): PanelConnection {
  return {
    baseUrl: panel.url,
    apiKey: panel.apiKey,
    authType: 'api_key',
    username: null,
    password: null,
    caddyToken: null,
    secretKey: null,
    ...changes,
  };
}

/** A fresh sandbox panel with an adapter on it, stopped at the end of the test. */
export async function startPanel(options: Partial<SandboxPanelOptions> = {}) {
  const clock = movableClock();
  const panel = await startSandboxPanel({ state: createMemoryStore(), clock, ...options });
  onTestFinished(() => panel.close());
  const adapter = createVpnPanelAdapter({ http: createPlainHttpClient(), connection: () => connectionTo(panel) });
  return { panel, adapter, clock };
}

export function aDraft(changes: Partial<PanelUserDraft> = {}): PanelUserDraft {
  return {
    username: 'user_100500',
    status: 'ACTIVE',
    expireAt: new Date('2026-04-01T12:00:00.000Z'),
    trafficLimitBytes: 10 * 1024 ** 3,
    trafficResetStrategy: 'MONTH',
    messengerId: 100500,
    email: 'ivan@example.com',
    deviceLimit: 2,
    description: 'Bot user: Ivan @ivan',
    tag: 'PAID',
    squadUuids: [NETHERLANDS],
    ...changes,
  };
}
