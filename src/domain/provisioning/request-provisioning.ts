import type { App } from '../../core/app.ts';
import { raiseVersion } from '../subscription-state/provision-state.ts';
import { recordRemoval } from './sync/treat-absent.ts';

/** What a push has to do besides updating the panel user to the row. Stays requested until a push has done it. */
export interface PanelResets {
  /** Set the used traffic back to zero. */
  resetTraffic?: boolean;
  /** Delete the user's devices. */
  resetDevices?: boolean;
}

/**
 * Requests that the panel user is updated to this subscription: raises the row's version, marks it pending and sends the push job, all
 * in the caller's transaction, so that a sale and its provisioning commit or roll back together (spec 02 H21, spec 06 17.6). Call it
 * after the row was changed. The panel is called after commit; its failure never undoes the sale. An unknown id does nothing.
 */
export async function requestProvisioning(t: App, subscriptionId: number, resets: PanelResets = {}): Promise<void> {
  const { resetTraffic = false, resetDevices = false } = resets;
  const isKnown = await raiseVersion(t.db, subscriptionId, { resetTraffic, resetDevices }, t.clock.now());
  if (isKnown) await sendPush(t, subscriptionId);
}

/** Sends the push job of a subscription whose version was raised by the statement that changed it (`with_push_requested()`). */
export function sendPush(t: App, subscriptionId: number): Promise<void> {
  return t.jobs.send('provisioning.push', { subscriptionId }, { singletonKey: String(subscriptionId) });
}

/** What happens to a panel user without a subscription. */
export type RemovalMode = 'delete' | 'disable';

/**
 * Requests the removal of a panel user that lost its owner or its subscription (account deleted, merged away, subscription deleted). In
 * the caller's transaction (spec 01 H17, H18).
 * @param mode left out: what `VPNPANEL_USER_DELETE_MODE` says at the time of the removal
 */
export async function requestPanelUserRemoval(t: App, panelUuid: string, mode?: RemovalMode): Promise<void> {
  await recordRemoval(t, panelUuid, mode);
  const singletonKey = mode === undefined ? panelUuid : `${mode}:${panelUuid}`;
  await t.jobs.send('provisioning.remove-user', mode === undefined ? { panelUuid } : { panelUuid, mode }, { singletonKey });
}
