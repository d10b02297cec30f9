import { bareUrl, type ProviderAccess } from '../wire/provider-access.ts';

/** What the adapter needs of the settings (spec 03 sections 2.4 and 10). */
export interface CloudpaymentsConnection {
  /** No slash at the end. */
  baseUrl: string;
  publicId: string;
  apiSecret: string;
  /** ISO 4217, upper case. */
  currency: string;
  /** Used when the caller names no return URLs. */
  returnUrl: string | null;
  /** The terminal is a test terminal: its payments have `TestMode`, and are credited. */
  isTestTerminal: boolean;
  /** Orders are made only for payers whose e-mail address is known. */
  requiresEmail: boolean;
  minKopeks: number;
  maxKopeks: number;
  /** Addresses and networks of the installation's reverse proxies. */
  proxies: readonly string[];
  /** Source networks of the notifications; empty = any, since they are signed. */
  allowedNetworks: readonly string[];
}

/** The fake's public id. */
const FAKE_PUBLIC_ID = 'pk_sandbox';

/** Null while CloudPayments has no credentials. */
export function cloudpaymentsConnection({
  settings,
  fake,
  proxies,
  callbackNetworks,
}: Omit<ProviderAccess, 'http' | 'now'>): CloudpaymentsConnection | null {
  const access = fake();
  const publicId = access ? FAKE_PUBLIC_ID : (settings.get('CLOUDPAYMENTS_PUBLIC_ID') ?? '');
  const apiSecret = access ? access.secret : (settings.get('CLOUDPAYMENTS_API_SECRET') ?? '');
  if (!access && (publicId === '' || apiSecret === '')) return null;
  return {
    baseUrl: bareUrl(access ? access.baseUrl : settings.get('CLOUDPAYMENTS_API_URL')),
    publicId,
    apiSecret,
    currency: settings.get('CLOUDPAYMENTS_CURRENCY').trim().toUpperCase(),
    returnUrl: settings.get('CLOUDPAYMENTS_RETURN_URL'),
    isTestTerminal: settings.get('CLOUDPAYMENTS_TEST_MODE'),
    requiresEmail: settings.get('CLOUDPAYMENTS_REQUIRE_EMAIL'),
    minKopeks: settings.get('CLOUDPAYMENTS_MIN_AMOUNT_KOPEKS'),
    maxKopeks: settings.get('CLOUDPAYMENTS_MAX_AMOUNT_KOPEKS'),
    proxies,
    allowedNetworks: callbackNetworks,
  };
}
