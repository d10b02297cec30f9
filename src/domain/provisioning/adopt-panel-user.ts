import type { App } from '../../core/app.ts';
import type { PanelUser } from './ports.ts';
import { linkPanelUser } from './repo.ts';
import { requestProvisioning } from './request-provisioning.ts';

/**
 * Links a panel user to a local user, after `mayAdopt` returned true. A user that was linked to it before is unlinked, and that user's
 * subscription is pushed. In the caller's transaction.
 */
export async function adoptPanelUser(t: App, userId: number, panelUser: PanelUser): Promise<void> {
  const unlinked = await linkPanelUser(t.db, userId, panelUser, t.clock.now());
  for (const subscriptionId of unlinked) await requestProvisioning(t, subscriptionId);
}
