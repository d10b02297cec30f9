import type { App } from '../../core/app.ts';
import { bumpWish } from './repo.ts';
import { noteRemoval } from './sync/removed-users.ts';

/** What one push has to do besides bringing the panel user in step with the row. Wishes add up until a push has fulfilled them. */
export interface ProvisioningWishes {
  /** Set the used traffic back to zero. */
  resetTraffic?: boolean;
  /** Forget the user's devices. */
  resetDevices?: boolean;
}

/**
 * Says that the panel must be brought in step with this subscription: raises the row's version, marks it pending and sends the
 * push job, all in the caller's transaction, so that a sale and its provisioning stand or fall together (spec 02 H21, spec 06
 * 17.6). Call it after the row was changed. The panel itself is told after commit; its failure never undoes the sale.
 * An unknown id does nothing.
 */
export async function requestProvisioning(t: App, subscriptionId: number, wishes: ProvisioningWishes = {}): Promise<void> {
  const isKnown = await bumpWish(t.db, subscriptionId, {
    resetTraffic: wishes.resetTraffic ?? false,
    resetDevices: wishes.resetDevices ?? false,
    now: t.clock.now(),
  });
  if (isKnown) await t.jobs.send('provisioning.push', { subscriptionId }, { singletonKey: String(subscriptionId) });
}

/** What becomes of a panel user that nobody pays for. */
export type RemovalMode = 'delete' | 'disable';

/**
 * Says that a panel user lost its owner or its subscription (account deleted, merged away, subscription taken back). In the
 * caller's transaction (spec 01 H17, H18).
 * @param mode left out: what `VPNPANEL_USER_DELETE_MODE` says at that time
 */
export async function requestPanelUserRemoval(t: App, panelUuid: string, mode?: RemovalMode): Promise<void> {
  await noteRemoval(t, panelUuid, mode);
  const singletonKey = mode === undefined ? panelUuid : `${mode}:${panelUuid}`;
  await t.jobs.send('provisioning.remove-user', mode === undefined ? { panelUuid } : { panelUuid, mode }, { singletonKey });
}
