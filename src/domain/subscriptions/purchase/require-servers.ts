import { refusal } from '../../../core/errors.ts';
import type { Subscription, SubscriptionChanges } from '../types.ts';

export const noServers = refusal('no_servers', 400, {
  code: 'no_servers',
  message: 'No servers are available for this purchase',
});

/** The text where a sale would give no server. */
export const NO_SERVERS = 'No servers are available for this purchase';

/**
 * Refuses a sale after which the subscription would have no server, before any money moves (08 P5).
 * @param subscription before the sale; null = a new one
 * @throws AppError 400 no_servers
 */
export function requireServers(subscription: Pick<Subscription, 'connectedSquads'> | null, changes: SubscriptionChanges): void {
  const squads = changes.connectedSquads ?? subscription?.connectedSquads ?? [];
  if (squads.length === 0) throw noServers({ detail: { code: 'no_servers', message: NO_SERVERS } });
}
