import { bareUrl, FAKE_NETWORKS, type ProviderAccess } from '../wire/provider-access.ts';

/** What the adapter needs of the settings (spec 03 sections 2.4, 2.5 and 10). */
export interface HeleketConnection {
  /** No slash at the end. */
  baseUrl: string;
  merchantId: string;
  /** The payment key; the payout key is another one and is not used. */
  apiKey: string;
  /** Crypto currency that the payer pays in; null = the payer chooses. */
  toCurrency: string | null;
  /** Null = any network of the currency. */
  network: string | null;
  lifetimeSeconds: number;
  /** Added to the sum in crypto currency; negative = a discount. A whole number from -99 to 99. */
  markupPercent: number;
  /** Absolute URL; null = the provider sends no callbacks, and payments are found by asking. */
  callbackUrl: string | null;
  /** Used when the caller names no return URLs. */
  returnUrl: string | null;
  successUrl: string | null;
  /** Addresses and networks of the installation's reverse proxies. */
  proxies: readonly string[];
  /** Source networks of callbacks; empty = any, since callbacks are signed. */
  allowedNetworks: readonly string[];
}

/** Limits of the provider: seconds, percent. */
const LIFETIME = { min: 300, max: 43_200 };
const MAX_MARKUP = 99;

/** Null while Heleket has no credentials. */
export function heleketConnection({
  settings,
  fake,
  proxies,
  callbackNetworks,
}: Omit<ProviderAccess, 'http' | 'now'>): HeleketConnection | null {
  const access = fake();
  const merchantId = access ? 'sandbox' : (settings.get('HELEKET_MERCHANT_ID') ?? '');
  const apiKey = access ? access.secret : (settings.get('HELEKET_API_KEY') ?? '');
  if (!access && (merchantId === '' || apiKey === '')) return null;
  const serviceUrl = settings.get('WEBHOOK_URL');
  return {
    baseUrl: bareUrl(access ? access.baseUrl : settings.get('HELEKET_BASE_URL')),
    merchantId,
    apiKey,
    toCurrency: settings.get('HELEKET_DEFAULT_CURRENCY').trim().toUpperCase() || null,
    network: settings.get('HELEKET_DEFAULT_NETWORK')?.trim() || null,
    lifetimeSeconds: within(settings.get('HELEKET_INVOICE_LIFETIME'), LIFETIME.min, LIFETIME.max),
    markupPercent: within(Math.round(settings.get('HELEKET_MARKUP_PERCENT')), -MAX_MARKUP, MAX_MARKUP),
    callbackUrl:
      settings.get('HELEKET_CALLBACK_URL') ?? (serviceUrl && `${bareUrl(serviceUrl)}${settings.get('HELEKET_WEBHOOK_PATH')}`),
    returnUrl: settings.get('HELEKET_RETURN_URL'),
    successUrl: settings.get('HELEKET_SUCCESS_URL'),
    proxies,
    allowedNetworks: access && callbackNetworks.length > 0 ? FAKE_NETWORKS : callbackNetworks,
  };
}

function within(value: number, min: number, max: number): number {
  return Math.min(Math.max(value, min), max);
}
