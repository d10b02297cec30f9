import { bareUrl, type ProviderAccess } from '../wire/provider-access.ts';

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
  /** CIDR networks of the installation's reverse proxies, besides the private and CDN ranges that are always trusted. */
  trustedProxyNetworks: readonly string[];
  /** Source networks of the provider's notifications. */
  allowedNetworks: readonly string[];
}

export const YOOKASSA_BASE_URL = 'https://api.yookassa.ru/v3';

/** Source networks of the provider's notifications (03a section 0.7). */
export const YOOKASSA_NETWORKS: readonly string[] = [
  '185.71.76.0/27',
  '185.71.77.0/27',
  '77.75.153.0/25',
  '77.75.154.128/25',
  '77.75.156.11/32',
  '77.75.156.35/32',
  '2a02:5180::/32',
];

/** Null while YooKassa is off or has no credentials. */
export function yookassaConnection({ settings, fake }: Pick<ProviderAccess, 'settings' | 'fake'>): YookassaConnection | null {
  const access = fake();
  const shopId = access ? 'sandbox' : (settings.get('YOOKASSA_SHOP_ID') ?? '');
  const secretKey = access ? access.secret : (settings.get('YOOKASSA_SECRET_KEY') ?? '');
  if (!access && (!settings.get('YOOKASSA_ENABLED') || shopId === '' || secretKey === '')) return null;
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
    trustedProxyNetworks: networksOf(settings.get('YOOKASSA_TRUSTED_PROXY_NETWORKS')),
    allowedNetworks: access ? ['127.0.0.0/8', '::1/128'] : YOOKASSA_NETWORKS,
  };
}

function networksOf(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}
