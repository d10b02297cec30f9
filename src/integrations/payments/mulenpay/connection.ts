import { bareUrl, type ProviderAccess } from '../wire/provider-access.ts';

/** What the adapter needs of the settings (spec 03 sections 2.4, 2.5 and 10). */
export interface MulenpayConnection {
  /** No slash at the end. */
  baseUrl: string;
  apiKey: string;
  /** Signs requests and, where the provider signs them, callbacks. */
  secretKey: string;
  shopId: number;
  language: string;
  /** Codes of the receipt's item. */
  vatCode: number;
  paymentSubject: number;
  paymentMode: number;
  websiteUrl: string | null;
}

const SANDBOX_SHOP_ID = 1;

/** Null while MulenPay has no credentials. */
export function mulenpayConnection({ settings, fake }: Pick<ProviderAccess, 'settings' | 'fake'>): MulenpayConnection | null {
  const access = fake();
  const apiKey = access ? access.secret : (settings.get('MULENPAY_API_KEY') ?? '');
  const secretKey = access ? access.secret : (settings.get('MULENPAY_SECRET_KEY') ?? '');
  const shopId = access ? SANDBOX_SHOP_ID : settings.get('MULENPAY_SHOP_ID');
  if (apiKey === '' || secretKey === '' || shopId === null) return null;
  return {
    baseUrl: bareUrl(access ? access.baseUrl : settings.get('MULENPAY_BASE_URL')),
    apiKey,
    secretKey,
    shopId,
    language: settings.get('MULENPAY_LANGUAGE'),
    vatCode: settings.get('MULENPAY_VAT_CODE'),
    paymentSubject: settings.get('MULENPAY_PAYMENT_SUBJECT'),
    paymentMode: settings.get('MULENPAY_PAYMENT_MODE'),
    websiteUrl: settings.get('MULENPAY_WEBSITE_URL'),
  };
}
