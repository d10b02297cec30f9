import type { SettingsReader } from '../../../core/app.ts';

/** The account at the tax service. */
export interface NalogoConnection {
  /** No slash at the end. */
  baseUrl: string;
  inn: string;
  password: string;
}

export const NALOGO_BASE_URL = 'https://lknpd.nalog.ru/api/v1';

/** Where the sandbox's fake is; its secret replaces the password. */
export interface NalogoFake {
  baseUrl: string;
  secret: string;
}

export const SANDBOX_INN = '000000000000';

/**
 * Null while receipts are off or have no account.
 * @param fake the sandbox's; null = the real service, by the settings
 */
export function nalogoConnection(settings: SettingsReader, fake: NalogoFake | null): NalogoConnection | null {
  if (!settings.get('NALOGO_ENABLED')) return null;
  if (fake) return { baseUrl: fake.baseUrl, inn: SANDBOX_INN, password: fake.secret };
  const [inn, password] = [settings.get('NALOGO_INN')?.trim() ?? '', settings.get('NALOGO_PASSWORD') ?? ''];
  return inn === '' || password === '' ? null : { baseUrl: NALOGO_BASE_URL, inn, password };
}
