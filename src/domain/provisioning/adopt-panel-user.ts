import type { App } from '../../core/app.ts';
import type { PanelUser } from './ports.ts';
import { linkPanelUser } from './repo.ts';
import { requestProvisioning } from './request-provisioning.ts';

/**
 * Links a panel user to a local one, after `mayAdopt` agreed; another holder loses it and gets a push of his own. In the caller's
 * transaction.
 */
export async function adoptPanelUser(t: App, userId: number, panelUser: PanelUser): Promise<void> {
  const bereft = await linkPanelUser(t.db, userId, panelUser, t.clock.now());
  for (const subscriptionId of bereft) await requestProvisioning(t, subscriptionId);
}
