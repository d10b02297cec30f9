import type { SettingsReader } from '../../../core/app.ts';
import type { HttpClient } from '../../../core/http/http-client.ts';

/** What every adapter of a payment provider gets. */
export interface ProviderAccess {
  http: HttpClient;
  /** Read on every call, so that a provider that is switched on, or gets another key, works at once (spec 03 section 2.4). */
  settings: SettingsReader;
  /**
   * Whether the provider is switched on (`<METHOD>_ENABLED`); its fake always is. While it is off it takes no new payments, and those under way go
   * on (spec 00, Outside effects).
   */
  isOn: () => boolean;
  /** The sandbox's fake of this provider; null = the real one, by the settings. */
  fake: () => FakeAccess | null;
  /** Addresses and networks of the installation's reverse proxies (`TRUSTED_PROXIES`). */
  proxies: readonly string[];
  /** Addresses and networks that callbacks may come from; empty = any. */
  callbackNetworks: readonly string[];
  /** Whether the operator lets callbacks be credited that no API can confirm (`FREEKASSA_CREDIT_WITHOUT_API`). */
  creditsWithoutApi: boolean;
  /**
   * The next nonce of a sequence, for providers that accept growing ones only (03a section 10). A whole number that may be above the safe
   * integers: the last one of other software may be in nanoseconds.
   * @param scope provider, shop and key, without the key itself
   */
  nextNonce: (scope: string) => Promise<bigint>;
  /** Of the service; UTC. */
  now: () => Date;
}

/** Where the fake is, and the one secret that replaces every credential of the provider. */
export interface FakeAccess {
  /** No slash at the end. */
  baseUrl: string;
  secret: string;
}

/** Where the fakes post their callbacks from. */
export const FAKE_NETWORKS: readonly string[] = ['127.0.0.0/8', '::1/128'];

/** The base URL without slashes at its end. */
export function bareUrl(url: string): string {
  return url.replace(/\/+$/, '');
}
