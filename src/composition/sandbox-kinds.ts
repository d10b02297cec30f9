import type { SettingsReader, SettingTypes } from '../core/app.ts';
import type { Env } from '../core/env.ts';
import type { SettingKey } from '../domain/settings/types.ts';

/** Kinds of outside systems that the sandbox can stand in for. */
export type SandboxKind = 'vpnpanel' | 'payments' | 'messenger' | 'mail';

const KINDS: readonly SandboxKind[] = ['vpnpanel', 'payments', 'messenger', 'mail'];

type KeysOf<V> = { [K in SettingKey]: SettingTypes[K] extends V ? K : never }[SettingKey];

/** The switch of every real payment provider, and the credentials without which it cannot work (spec 03 section 2.4). */
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
  const missing = KINDS.filter((kind) => !isConfigured(kind, settings, env.raw));
  return env.sandbox === 'on' || missing.length === KINDS.length ? missing : [];
}
