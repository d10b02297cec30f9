import type { SettingsReader } from '../core/app.ts';
import type { Env } from '../core/env.ts';

/** Kinds of outside systems that the sandbox can stand in for. */
export type SandboxKind = 'vpnpanel' | 'payments' | 'messenger' | 'mail';

const KINDS: readonly SandboxKind[] = ['vpnpanel', 'payments', 'messenger', 'mail'];

/** Is a real system of this kind set up? */
function isConfigured(kind: SandboxKind, settings: SettingsReader, environment: Env['raw']): boolean {
  switch (kind) {
    case 'vpnpanel':
      return Boolean(settings.get('VPNPANEL_API_URL') && settings.get('VPNPANEL_API_KEY'));
    case 'payments':
      return settings.get('YOOKASSA_ENABLED') && Boolean(settings.get('YOOKASSA_SHOP_ID') && settings.get('YOOKASSA_SECRET_KEY'));
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
