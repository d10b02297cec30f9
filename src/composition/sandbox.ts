import type { SettingsReader } from '../core/app.ts';
import type { Clock } from '../core/clock.ts';
import type { Database } from '../core/db/database.ts';
import type { Env } from '../core/env.ts';
import type { EventBus } from '../core/events/event-bus.ts';
import type { Logger } from '../core/log.ts';
import { systemRandom } from '../core/random.ts';
import { callbackPathOf } from './payment-providers.ts';
import type { SandboxHost } from './sandbox-host.ts';
import { fakeKinds, type SandboxKind } from './sandbox-kinds.ts';
import { SandboxClock, type SandboxSecrets, sandboxSecrets } from './sandbox-store.ts';

/** The fakes of this installation (spec 00, SANDBOX): their host, their keys and their clock. */
export interface Sandbox {
  readonly host: SandboxHost;
  readonly clock: SandboxClock;
  readonly secrets: SandboxSecrets;
  kinds(): SandboxKind[];
  isFake(kind: SandboxKind): boolean;
  close(): Promise<void>;
}

/** @returns null when no fake may ever run here (production, SANDBOX=off, or everything real) */
export async function createSandbox(options: {
  env: Env;
  settings: SettingsReader;
  database: Database;
  bus: EventBus;
  log: Logger;
  /** The time that the sandbox moves forward. */
  clock: Clock;
}): Promise<Sandbox | null> {
  const { env, settings, database, bus, log } = options;
  if (fakeKinds(env, settings).length === 0) return null;
  const clock = new SandboxClock(database, bus, options.clock);
  await clock.start();
  const secrets = await sandboxSecrets(database, systemRandom);
  const panelWebhook = () => {
    const secret = settings.get('VPNPANEL_WEBHOOK_SECRET');
    return settings.get('VPNPANEL_WEBHOOK_ENABLED') && secret ? { path: settings.get('VPNPANEL_WEBHOOK_PATH'), secret } : null;
  };
  // A package of its own, which an installation for production leaves out.
  const { SandboxHost } = await import('./sandbox-host.ts');
  const host = new SandboxHost({
    ...{ database, clock, log, secrets, messengerWebhookPath: '/messenger-webhook', panelWebhook },
    callbackPath: (method) => callbackPathOf(settings, method),
  });
  const kinds = () => fakeKinds(env, settings);
  return {
    host,
    clock,
    secrets,
    kinds,
    isFake: (kind) => kinds().includes(kind),
    close: async () => {
      await host.close();
      clock.stop();
    },
  };
}

/** The service's clock: the sandbox's while there is one. */
export function clockOf(sandbox: Sandbox | null, real: Clock): Clock {
  return sandbox?.clock ?? real;
}
