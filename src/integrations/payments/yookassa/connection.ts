import { networksOf } from '../wire/client-address.ts';
import { bareUrl, FAKE_NETWORKS, type ProviderAccess } from '../wire/provider-access.ts';

/** What the adapter needs of the settings (spec 03 sections 2.4, 2.5, 10). */
export interface YookassaConnection {
  /** No slash at the end. */
  baseUrl: string;
  shopId: string;
  secretKey: string;
  /** Payments of a test shop are made in test mode, those of any other shop are not. */
  isTestShop: boolean;
  /** Used when the caller names no return URL. */
  returnUrl: string | null;
  /** Receipt contact when the payer has no e-mail. */
  receiptEmail: string | null;
  vatCode: number;
  paymentMode: string;
  paymentSubject: string;
  /** Ask the provider to save the card: `YOOKASSA_RECURRENT_ENABLED` and `YOOKASSA_RECURRENT_REQUIRED`. */
  saveCard: boolean;
  minKopeks: number;
  maxKopeks: number;
  /** Addresses and networks of the installation's reverse proxies. */
  proxies: readonly string[];
  /** Source networks of the provider's notifications. */
  allowedNetworks: readonly string[];
}

export const YOOKASSA_BASE_URL = 'https://api.yookassa.ru/v3';

/** Null while YooKassa has no credentials. */
export function yookassaConnection({
  settings,
  fake,
  proxies,
  callbackNetworks,
}: Omit<ProviderAccess, 'http' | 'now'>): YookassaConnection | null {
  const access = fake();
  const shopId = access ? 'sandbox' : (settings.get('YOOKASSA_SHOP_ID') ?? '');
  const secretKey = access ? access.secret : (settings.get('YOOKASSA_SECRET_KEY') ?? '');
  if (!access && (shopId === '' || secretKey === '')) return null;
  return {
    baseUrl: access ? bareUrl(access.baseUrl) : YOOKASSA_BASE_URL,
    shopId,
    secretKey,
    isTestShop: access !== null || secretKey.startsWith('test_'),
    returnUrl: settings.get('YOOKASSA_RETURN_URL'),
    receiptEmail: settings.get('YOOKASSA_DEFAULT_RECEIPT_EMAIL') ?? (access ? 'receipts@sandbox.local' : null),
    vatCode: settings.get('YOOKASSA_VAT_CODE'),
    paymentMode: settings.get('YOOKASSA_PAYMENT_MODE'),
    paymentSubject: settings.get('YOOKASSA_PAYMENT_SUBJECT'),
    saveCard: settings.get('YOOKASSA_RECURRENT_ENABLED') && settings.get('YOOKASSA_RECURRENT_REQUIRED'),
    minKopeks: settings.get('YOOKASSA_MIN_AMOUNT_KOPEKS'),
    maxKopeks: settings.get('YOOKASSA_MAX_AMOUNT_KOPEKS'),
    proxies: [...proxies, ...networksOf(settings.get('YOOKASSA_TRUSTED_PROXY_NETWORKS'))],
    allowedNetworks: access ? FAKE_NETWORKS : callbackNetworks,
  };
}
