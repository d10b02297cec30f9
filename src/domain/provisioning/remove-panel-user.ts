import type { App } from '../../core/app.ts';
import { addMs, MINUTE_MS } from '../../core/clock.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { enforceStatus } from './panel-status.ts';
import { isPanelError } from './ports.ts';
import { findSubscriptionOfPanelUser } from './repo.ts';
import { type RemovalMode, requestProvisioning } from './request-provisioning.ts';

/**
 * Deletes or disables a panel user without owner or subscription. An absent one is a success; one that the panel refuses to delete is
 * disabled. A panel user that has a subscription by now is not removed: another push of that subscription is requested.
 * @param mode left out: what `VPNPANEL_USER_DELETE_MODE` says
 * @throws PanelError when the panel gave no usable answer; the queue retries
 */
export async function removePanelUser(app: App, panelUuid: string, mode?: RemovalMode): Promise<void> {
  // An earlier try may have been executed, without an answer, after the push of a purchase: a further push repairs that.
  if (await pushLinkedSubscription(app, panelUuid)) return;
  try {
    await remove(app, panelUuid, mode ?? app.settings.get('VPNPANEL_USER_DELETE_MODE'));
  } finally {
    // A subscription bought during the call: the panel user, which may be disabled now, must be enabled again.
    await pushLinkedSubscription(app, panelUuid);
  }
}

/** @returns false when the panel user is linked to no user with a subscription */
async function pushLinkedSubscription(app: App, panelUuid: string): Promise<boolean> {
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
  const disabled = await panel.disableUser(panelUuid);
  const soonest = addMs(app.clock.now(), MINUTE_MS);
  if (disabled === null || disabled.expireAt <= soonest) return;
  // So that the former term does not return when somebody enables the user (08 P1).
  const ended = await panel.updateUser({ uuid: panelUuid, status: 'DISABLED', expireAt: soonest });
  if (ended !== null) await enforceStatus(app, ended, 'DISABLED');
}
