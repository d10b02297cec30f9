import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { isPanelError } from './ports.ts';
import { findSubscriptionOfPanelUser } from './repo.ts';
import { type RemovalMode, requestProvisioning } from './request-provisioning.ts';

/**
 * Deletes or disables a panel user without owner or subscription. One that is already absent is done; one that the panel will not
 * delete is disabled. A panel user that has got a subscription by now is left to the pushes of that,
 * and one more of these is asked for.
 * @param mode left out: what `VPNPANEL_USER_DELETE_MODE` says
 * @throws PanelError when the panel gave no usable answer; the queue repeats
 */
export async function removePanelUser(app: App, panelUuid: string, mode?: RemovalMode): Promise<void> {
  // An earlier try may have been carried out, without an answer, after the push of the purchase: a further push finds out.
  if (await pushHolderOf(app, panelUuid)) return;
  try {
    await remove(app, panelUuid, mode ?? app.settings.get('VPNPANEL_USER_DELETE_MODE'));
  } finally {
    // Bought while the panel was being called: what was switched off, perhaps without an answer, must come back.
    await pushHolderOf(app, panelUuid);
  }
}

/** @returns false when nobody with a subscription holds the panel user */
async function pushHolderOf(app: App, panelUuid: string): Promise<boolean> {
  const subscriptionId = await findSubscriptionOfPanelUser(app.db, panelUuid);
  if (subscriptionId !== null) await inTransaction(app, (t) => requestProvisioning(t, subscriptionId));
  return subscriptionId !== null;
}

async function remove(app: App, panelUuid: string, mode: string): Promise<void> {
  const { panel } = app.ports;
  if (mode === 'delete') {
    try {
      await panel.deleteUser(panelUuid);
      return;
    } catch (error) {
      if (!isPanelError(error) || error.kind !== 'rejected') throw error;
    }
  }
  await panel.disableUser(panelUuid);
}
