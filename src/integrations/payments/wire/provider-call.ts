import type { SettingsReader } from '../../../core/app.ts';
import { type HttpClient, type HttpRequest, type HttpResponse, OutboundError } from '../../../core/http/http-client.ts';
import { type PaymentProvider, type ProviderCallback, ProviderError } from '../../../domain/payments/ports.ts';
import { parseWireObject, type WireObject } from './json.ts';

/**
 * Calls a provider. `idempotent` of the request says whether it may be sent again after a lost answer (03a section 0.6); a request that
 * certainly was not sent is repeated anyway.
 * @returns the answer, whatever its status below 500 is, except 429
 * @throws ProviderError `unavailable` when there is no answer, or one of 429 and 500 to 599
 */
export async function callProvider(http: HttpClient, method: string, request: HttpRequest): Promise<HttpResponse> {
  try {
    const response = await http.request(request);
    if (response.status >= 500 || response.status === 429) {
      throw new ProviderError(method, 'unavailable', `The provider answered ${response.status}`);
    }
    return response;
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    throw new ProviderError(method, 'unavailable', 'The provider did not answer', { cause: error });
  }
}

/**
 * `callProvider` for a provider that answers with a JSON object.
 * @throws ProviderError `rejected` for another status than 2xx, `unavailable` for an answer that is no JSON object
 */
export async function callJson(http: HttpClient, method: string, request: HttpRequest): Promise<WireObject> {
  const { status, text } = await callProvider(http, method, request);
  if (status < 200 || status > 299) throw new ProviderError(method, 'rejected', `The provider answered ${status}`);
  const answer = parseWireObject(text);
  if (!answer) throw new ProviderError(method, 'unavailable', 'The provider answered with something that is no JSON object');
  return answer;
}

/**
 * How an adapter reaches the account of its provider. Credentials are enough for callbacks, status requests and refunds, since the payments
 * that are under way when an operator switches the provider off still bring money; only new payments need the switch.
 */
interface ProviderAccount<Connection> extends Pick<PaymentProvider, 'isConfigured' | 'hasCredentials'> {
  /** Null = a credential is missing. */
  connection: () => Connection | null;
  /** @throws ProviderError `not_configured` */
  required: () => Connection;
  /** For a new payment. @throws ProviderError `not_configured`, also while the provider is off */
  requiredForNew: () => Connection;
  /** For a request on the callback path; a GET asks whether the provider is on, so that it gets none while it is off. */
  connectionFor: (callback: ProviderCallback) => Connection | null;
}

/**
 * @param name of the provider in error texts
 * @param connection read on every call
 * @param isOn read on every call, as in `ProviderAccess`
 */
export function providerAccount<Connection>(
  method: string,
  name: string,
  connection: () => Connection | null,
  isOn: () => boolean,
): ProviderAccount<Connection> {
  const whileOn = () => (isOn() ? connection() : null);
  const problem = `${name} is not configured`;
  return {
    connection,
    required: () => requireConnection(method, connection(), problem),
    requiredForNew: () => requireConnection(method, whileOn(), problem),
    connectionFor: (callback) => (callback.method === 'POST' ? connection() : whileOn()),
    isConfigured: () => whileOn() !== null,
    hasCredentials: () => connection() !== null,
  };
}

/** What every adapter of a payment provider gets. */
export interface ProviderAccess {
  http: HttpClient;
  /** Read on every call, so that a provider that is switched on, or gets another key, works at once. */
  settings: SettingsReader;
  /**
   * Whether the provider is switched on (`<METHOD>_ENABLED`); its fake always is. While it is off it accepts no new payments, and those
   * under way go on (spec 00, Outside effects).
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

/**
 * The connection that a call to a provider needs.
 * @param problem tells an operator what is missing, e.g. `WATA is not configured`
 * @throws ProviderError `not_configured`
 */
export function requireConnection<Connection>(method: string, connection: Connection | null, problem: string): Connection {
  if (connection === null) throw new ProviderError(method, 'not_configured', problem);
  return connection;
}
