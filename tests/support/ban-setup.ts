import type { FastifyInstance } from 'fastify';
import { type BanSandbox, startBanSandbox } from '../../packages/sandbox/src/ban-system/ban-sandbox.ts';
import { createMemoryStore } from '../../packages/sandbox/src/panel/panel-state.ts';
import { type ActorClient, adminClient } from './actors.ts';
import { testServer } from './api.ts';
import { type TestApp, TestClock, testApp } from './test-app.ts';

export const BAN_ROOT = '/cabinet/admin/ban-system';
export const BAN_TOKEN = 'token-of-the-ban-system-0123456789';

export interface BanTest extends TestApp {
  ban: BanSandbox;
  server: FastifyInstance;
  /** Holds every permission on the ban system. */
  admin: ActorClient;
  close(): Promise<void>;
}

/** An app whose ban system is switched on, with the longest answer time; the address is left to the caller. */
export function appWithBans(environment: Record<string, string>, clock = new TestClock()): Promise<TestApp> {
  const settings = { BAN_SYSTEM_ENABLED: 'true', BAN_SYSTEM_API_TOKEN: BAN_TOKEN, BAN_SYSTEM_REQUEST_TIMEOUT: '60' };
  return testApp({ clock, environment: { ...settings, ...environment } });
}

/** A server with a fake ban system of its own. */
export async function startWithBans(): Promise<BanTest> {
  const clock = new TestClock();
  const ban = await startBanSandbox({ store: createMemoryStore(), token: BAN_TOKEN, now: () => clock.now() });
  const t = await appWithBans({ BAN_SYSTEM_API_URL: `${ban.server.url}/` }, clock);
  const server = await testServer(t.app);
  const admin = await adminClient(t.app, server, ['ban_system:*']);
  const close = async () => {
    await server.close();
    await ban.close();
  };
  return { ...t, ban, server, admin, close };
}

/** The fake answers as usual again and has no calls. */
export function resetBans({ ban }: BanTest): void {
  ban.faults.byCall.clear();
  ban.faults.every = null;
  ban.calls.length = 0;
}
