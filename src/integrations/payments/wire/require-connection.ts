import { ProviderError } from '../../../domain/payments/ports.ts';

/**
 * The connection that a call to a provider needs.
 * @param problem tells an operator what is missing, e.g. `WATA is not configured`
 * @throws ProviderError `not_configured`
 */
export function requireConnection<Connection>(method: string, connection: Connection | null, problem: string): Connection {
  if (connection === null) throw new ProviderError(method, 'not_configured', problem);
  return connection;
}
