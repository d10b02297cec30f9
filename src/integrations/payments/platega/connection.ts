import { bareUrl, type ProviderAccess } from '../wire/provider-access.ts';

/** What the adapter needs of the settings (spec 03 section 2.4; spec 03a section 8). */
export interface PlategaConnection {
  /** No slash at the end. */
  baseUrl: string;
  /** A UUID; compared in any case of letters. */
  merchantId: string;
  secret: string;
  /** Used when the caller names no pages. */
  returnUrl: string | null;
  failedUrl: string | null;
  minKopeks: number;
  maxKopeks: number;
}

/** The merchant of the sandbox's fake. */
export const SANDBOX_MERCHANT_ID = '5a4db0c5-0000-4000-8000-000000000001';

/** Null while Platega has no credentials. */
export function plategaConnection({ settings, fake }: Pick<ProviderAccess, 'settings' | 'fake'>): PlategaConnection | null {
  const access = fake();
  const merchantId = access ? SANDBOX_MERCHANT_ID : (settings.get('PLATEGA_MERCHANT_ID') ?? '');
  const secret = access ? access.secret : (settings.get('PLATEGA_SECRET') ?? '');
  if (!access && (merchantId === '' || secret === '')) return null;
  const page = (name: string) => {
    const base = settings.get('WEBHOOK_URL');
    return base ? `${bareUrl(base)}/${name}` : null;
  };
  return {
    baseUrl: bareUrl(access ? access.baseUrl : settings.get('PLATEGA_BASE_URL')),
    merchantId,
    secret,
    returnUrl: settings.get('PLATEGA_RETURN_URL') ?? page('payment-success'),
    failedUrl: settings.get('PLATEGA_FAILED_URL') ?? page('payment-failed'),
    minKopeks: settings.get('PLATEGA_MIN_AMOUNT_KOPEKS'),
    maxKopeks: settings.get('PLATEGA_MAX_AMOUNT_KOPEKS'),
  };
}
