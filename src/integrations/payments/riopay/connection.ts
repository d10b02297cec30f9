import { bareUrl, type ProviderAccess } from '../wire/provider-access.ts';

/** What the adapter needs of the settings (spec 03 section 2.4; spec 03a section 13). */
export interface RiopayConnection {
  /** No slash at the end. */
  baseUrl: string;
  token: string;
  /** Key of the callbacks' signatures: the token, unless the provider gave another one. */
  webhookSecret: string;
  /** Where the provider posts its callbacks; null = as its manager entered it. */
  callbackUrl: string | null;
  /** Used when the caller names no pages; the failure page may be missing. */
  successUrl: string | null;
  failUrl: string | null;
  minKopeks: number;
  maxKopeks: number;
}

const RIOPAY_BASE_URL = 'https://api.riopay.online';
/** The longest address that the provider takes. */
const MAX_URL = 2_048;

/** Null while RioPay has no token. */
export function riopayConnection({ settings, fake }: Pick<ProviderAccess, 'settings' | 'fake'>): RiopayConnection | null {
  const access = fake();
  const token = access ? access.secret : (settings.get('RIOPAY_API_TOKEN') ?? '');
  if (!access && token === '') return null;
  const service = settings.get('WEBHOOK_URL');
  const callbackUrl = service ? `${bareUrl(service)}${settings.get('RIOPAY_WEBHOOK_PATH')}` : null;
  return {
    baseUrl: bareUrl(access ? access.baseUrl : RIOPAY_BASE_URL),
    token,
    webhookSecret: access ? access.secret : settings.get('RIOPAY_WEBHOOK_SECRET') || token,
    callbackUrl: callbackUrl !== null && callbackUrl.length <= MAX_URL ? callbackUrl : null,
    successUrl: settings.get('RIOPAY_SUCCESS_URL'),
    failUrl: settings.get('RIOPAY_FAIL_URL'),
    minKopeks: settings.get('RIOPAY_MIN_AMOUNT_KOPEKS'),
    maxKopeks: settings.get('RIOPAY_MAX_AMOUNT_KOPEKS'),
  };
}
