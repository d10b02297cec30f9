import { bareUrl, type ProviderAccess } from '../wire/provider-access.ts';

/** What the adapter needs of the settings (spec 03 sections 2.4, 2.5 and 10). */
export interface Pal24Connection {
  /** No slash at the end. */
  baseUrl: string;
  token: string;
  shopId: string;
  /** Signs postbacks: a token of its own where one is configured, else the API token. */
  signatureToken: string;
  /** Milliseconds that one request may take. */
  timeoutMs: number;
}

/** Null while PAL24 has no credentials. */
export function pal24Connection({ settings, fake }: Pick<ProviderAccess, 'settings' | 'fake'>): Pal24Connection | null {
  const access = fake();
  const token = access ? access.secret : (settings.get('PAL24_API_TOKEN') ?? '');
  const shopId = access ? 'sandbox' : (settings.get('PAL24_SHOP_ID') ?? '');
  if (!access && (token === '' || shopId === '')) return null;
  return {
    baseUrl: bareUrl(access ? access.baseUrl : settings.get('PAL24_BASE_URL')),
    token,
    shopId,
    signatureToken: access ? token : settings.get('PAL24_SIGNATURE_TOKEN') || token,
    timeoutMs: settings.get('PAL24_REQUEST_TIMEOUT') * 1_000,
  };
}
