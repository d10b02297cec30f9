import type { App } from '../../core/app.ts';
import { clearPanelLink } from '../subscription-state/panel-values.ts';
import { unlinkPanelUser } from './repo.ts';
import { unlinkServers } from './sync/absent-repo.ts';

/**
 * Removes what links a subscription to its panel user, which was deleted there: uuid, links and server rows; squads stay. In the caller's
 * transaction, which has locked user and subscription.
 */
export async function unlinkDeletedUser(
  t: App,
  { userId, subscriptionId, panelUuid }: { userId: number; subscriptionId: number; panelUuid: string | null },
): Promise<void> {
  if (panelUuid === null) await clearPanelLink(t.db, userId);
  else await unlinkPanelUser(t.db, userId, panelUuid);
  await unlinkServers(t.db, [subscriptionId]);
}
