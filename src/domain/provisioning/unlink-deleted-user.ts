import type { App } from '../../core/app.ts';
import { clearPanelLink } from '../subscription-state/panel-values.ts';
import { unlinkPanelUser } from './repo.ts';
import { unlinkServers } from './sync/absent-repo.ts';

interface DeletedPanelUser {
  userId: number;
  subscriptionId: number;
  /** As the account has it; null = it has only links. */
  panelUuid: string | null;
}

/**
 * Removes what links an account to its panel user, which was deleted there: uuid and links, so that no answer gives a link that no longer
 * works. For a subscription that a push provisions again: squads and server rows stay. In the caller's transaction, which has locked user
 * and subscription.
 */
export async function clearDeletedLink(t: App, { userId, panelUuid }: Omit<DeletedPanelUser, 'subscriptionId'>): Promise<void> {
  if (panelUuid === null) await clearPanelLink(t.db, userId);
  else await unlinkPanelUser(t.db, userId, panelUuid);
}

/** The same with the server rows, for a subscription that is not provisioned again; squads stay. */
export async function unlinkDeletedUser(t: App, deleted: DeletedPanelUser): Promise<void> {
  await clearDeletedLink(t, deleted);
  await unlinkServers(t.db, [deleted.subscriptionId]);
}
