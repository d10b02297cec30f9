import { bareUrl, FAKE_NETWORKS, type ProviderAccess } from '../wire/provider-access.ts';

/** What the adapter needs of the settings (spec 03 section 2.4; spec 03a section 9). */
export interface WataConnection {
  /** No slash at the end. */
  baseUrl: string;
  token: string;
  /** Of our terminal; null = as the provider's answers name it. */
  terminalId: string | null;
  /** Milliseconds for one try of a call. */
  timeoutMs: number;
  publicKeyUrl: string;
  /** A key that was read longer ago is read again. */
  publicKeyMaxAgeMs: number;
  isManyTime: boolean;
  /** 10 minutes to 30 days; null = the provider's default, 3 days. */
  linkTtlMinutes: number | null;
  /** Used when the caller names no pages. */
  successUrl: string | null;
  failUrl: string | null;
  minKopeks: number;
  maxKopeks: number;
  /** Addresses and networks of the installation's reverse proxies. */
  proxies: readonly string[];
  /** Addresses and networks that callbacks may come from; empty = any. */
  allowedNetworks: readonly string[];
}

/** The provider's own limits in rubles; a terminal may have narrower ones. */
const PROVIDER_MIN_KOPEKS = 1_000;
export const PROVIDER_MAX_KOPEKS = 99_999_999;
const MIN_TTL_MINUTES = 10;
const MAX_TTL_MINUTES = 30 * 24 * 60;

/** Null while WATA has no token. */
export function wataConnection({
  settings,
  fake,
  proxies,
  callbackNetworks,
}: Omit<ProviderAccess, 'http' | 'now'>): WataConnection | null {
  const access = fake();
  const token = access ? access.secret : (settings.get('WATA_ACCESS_TOKEN') ?? '');
  if (!access && token === '') return null;
  const baseUrl = bareUrl(access ? access.baseUrl : settings.get('WATA_BASE_URL'));
  const ttl = settings.get('WATA_LINK_TTL_MINUTES');
  return {
    baseUrl,
    token,
    terminalId: access ? null : settings.get('WATA_TERMINAL_PUBLIC_ID') || null,
    timeoutMs: settings.get('WATA_REQUEST_TIMEOUT') * 1_000,
    publicKeyUrl: (access ? null : settings.get('WATA_PUBLIC_KEY_URL')) || `${baseUrl}/public-key`,
    publicKeyMaxAgeMs: settings.get('WATA_PUBLIC_KEY_CACHE_SECONDS') * 1_000,
    isManyTime: settings.get('WATA_PAYMENT_TYPE') === 'ManyTime',
    linkTtlMinutes: ttl === null ? null : Math.min(Math.max(ttl, MIN_TTL_MINUTES), MAX_TTL_MINUTES),
    successUrl: settings.get('WATA_SUCCESS_REDIRECT_URL'),
    failUrl: settings.get('WATA_FAIL_REDIRECT_URL'),
    minKopeks: Math.max(settings.get('WATA_MIN_AMOUNT_KOPEKS'), PROVIDER_MIN_KOPEKS),
    maxKopeks: Math.min(settings.get('WATA_MAX_AMOUNT_KOPEKS'), PROVIDER_MAX_KOPEKS),
    proxies,
    allowedNetworks: access && callbackNetworks.length > 0 ? FAKE_NETWORKS : callbackNetworks,
  };
}
