import type { SettingsReader, SettingTypes } from '../core/app.ts';
import type { Clock } from '../core/clock.ts';
import type { Database } from '../core/db/database.ts';
import type { Env } from '../core/env.ts';
import type { EventBus } from '../core/events/event-bus.ts';
import type { Logger } from '../core/log.ts';
import { systemRandom } from '../core/random.ts';
import type { SettingKey } from '../domain/settings/types.ts';
import { callbackPathOf } from './payment-providers.ts';
import type { SandboxHost } from './sandbox-host.ts';
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

/** Kinds of outside systems that the sandbox can stand in for. */
export type SandboxKind = 'vpnpanel' | 'payments' | 'messenger' | 'mail';

export const SANDBOX_KINDS: readonly SandboxKind[] = ['vpnpanel', 'payments', 'messenger', 'mail'];

type KeysOf<V> = { [K in SettingKey]: SettingTypes[K] extends V ? K : never }[SettingKey];

/** The switch of every real payment provider, and the credentials without which it cannot work. */
const PROVIDERS: readonly (readonly [KeysOf<boolean>, ...SettingKey[]])[] = [
  ['YOOKASSA_ENABLED', 'YOOKASSA_SHOP_ID', 'YOOKASSA_SECRET_KEY'],
  ['CRYPTOBOT_ENABLED', 'CRYPTOBOT_API_TOKEN'],
  ['HELEKET_ENABLED', 'HELEKET_MERCHANT_ID', 'HELEKET_API_KEY'],
  ['MULENPAY_ENABLED', 'MULENPAY_API_KEY', 'MULENPAY_SECRET_KEY', 'MULENPAY_SHOP_ID'],
  ['PAL24_ENABLED', 'PAL24_API_TOKEN', 'PAL24_SHOP_ID'],
  ['PLATEGA_ENABLED', 'PLATEGA_MERCHANT_ID', 'PLATEGA_SECRET'],
  ['WATA_ENABLED', 'WATA_ACCESS_TOKEN'],
  ['FREEKASSA_ENABLED', 'FREEKASSA_SHOP_ID', 'FREEKASSA_SECRET_WORD_2'],
  ['CLOUDPAYMENTS_ENABLED', 'CLOUDPAYMENTS_PUBLIC_ID', 'CLOUDPAYMENTS_API_SECRET'],
  ['KASSA_AI_ENABLED', 'KASSA_AI_SHOP_ID', 'KASSA_AI_API_KEY'],
  ['RIOPAY_ENABLED', 'RIOPAY_API_TOKEN'],
  ['SEVERPAY_ENABLED', 'SEVERPAY_MID', 'SEVERPAY_TOKEN'],
  ['TRIBUTE_ENABLED', 'TRIBUTE_API_KEY'],
];

/** Is a real system of this kind set up? */
function isConfigured(kind: SandboxKind, settings: SettingsReader, environment: Env['raw']): boolean {
  switch (kind) {
    case 'vpnpanel':
      return Boolean(settings.get('VPNPANEL_API_URL') && settings.get('VPNPANEL_API_KEY'));
    case 'payments':
      return PROVIDERS.some(
        ([isOn, ...credentials]) => settings.get(isOn) && credentials.every((key) => Boolean(settings.get(key))),
      );
    case 'messenger':
      // Not the setting: while the messenger is a fake, the setting holds the fake's token.
      return Boolean(environment.BOT_TOKEN);
    case 'mail':
      return Boolean(settings.get('SMTP_HOST') && (settings.get('SMTP_FROM_EMAIL') || settings.get('SMTP_USER')));
  }
}

/**
 * Which kinds are fakes now (spec 00, SANDBOX). `auto`: all, as long as nothing real is set up, because with a fake provider and a
 * real panel, real access would be free. `on`: every kind that is not set up. A real system always has priority over its fake.
 */
export function fakeKinds(env: Env, settings: SettingsReader): SandboxKind[] {
  if (!env.isSandboxAllowed) return [];
  const missing = SANDBOX_KINDS.filter((kind) => !isConfigured(kind, settings, env.raw));
  return env.sandbox === 'on' || missing.length === SANDBOX_KINDS.length ? missing : [];
}
