import type { PaymentProvider, ProviderCallback } from '../../../domain/payments/ports.ts';
import { requireConnection } from './require-connection.ts';

/**
 * How an adapter reaches the account of its provider. Credentials are enough for callbacks, status requests and refunds, since the payments
 * that are under way when an operator switches the provider off still bring money; only new payments need the switch.
 */
export interface ProviderAccount<Connection> extends Pick<PaymentProvider, 'isConfigured' | 'hasCredentials'> {
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
