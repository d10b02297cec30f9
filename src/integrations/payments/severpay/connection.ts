import { bareUrl, FAKE_NETWORKS, type ProviderAccess } from '../wire/provider-access.ts';

/** What the adapter needs of the settings (spec 03 sections 2.4 and 10). */
export interface SeverpayConnection {
  /** No slash at the end. */
  baseUrl: string;
  /** Merchant id, decimal. */
  mid: string;
  token: string;
  /** ISO 4217, upper case. */
  currency: string;
  minKopeks: number;
  maxKopeks: number;
  lifetimeMinutes: number;
  /** Used when the caller names no return URL. */
  returnUrl: string | null;
  proxies: readonly string[];
  /** Source networks of callbacks; empty = any. */
  allowedNetworks: readonly string[];
}

export const SEVERPAY_BASE_URL = 'https://severpay.io/api/merchant';
const FAKE_MID = '101';
/** The provider's own limits of `lifetime`. */
const LIFETIME_MINUTES = { min: 30, max: 4_320 };

/** Null while SeverPay has no credentials. */
export function severpayConnection(
  access: Pick<ProviderAccess, 'settings' | 'fake' | 'proxies' | 'callbackNetworks'>,
): SeverpayConnection | null {
  const { settings, proxies, callbackNetworks } = access;
  const fake = access.fake();
  const mid = fake ? FAKE_MID : String(settings.get('SEVERPAY_MID') ?? '');
  const token = fake ? fake.secret : (settings.get('SEVERPAY_TOKEN') ?? '').trim();
  if (mid === '' || token === '') return null;
  const { min, max } = LIFETIME_MINUTES;
  return {
    baseUrl: fake ? bareUrl(fake.baseUrl) : SEVERPAY_BASE_URL,
    mid,
    token,
    currency: settings.get('SEVERPAY_CURRENCY').trim().toUpperCase(),
    minKopeks: settings.get('SEVERPAY_MIN_AMOUNT_KOPEKS'),
    maxKopeks: settings.get('SEVERPAY_MAX_AMOUNT_KOPEKS'),
    lifetimeMinutes: Math.min(Math.max(settings.get('SEVERPAY_LIFETIME'), min), max),
    returnUrl: settings.get('SEVERPAY_RETURN_URL'),
    proxies,
    allowedNetworks: fake && callbackNetworks.length > 0 ? FAKE_NETWORKS : callbackNetworks,
  };
}
