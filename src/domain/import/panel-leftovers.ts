import type { App } from '../../core/app.ts';
import { inParallel } from '../provisioning/long-runs/drive-run.ts';
import { findLinked } from '../provisioning/panel-user.ts';
import { isParkedPanelUser, listParkedPanelUsers, type ParkedPanelUser } from '../provisioning/parked-panel-users.ts';
import type { PanelUser, PanelUserStatus } from '../provisioning/ports.ts';

/** A panel user of a subscription that an import kept aside, as the panel has it. */
export interface PanelLeftover extends ParkedPanelUser {
  /** `absent`: the panel does not have it any more. */
  status: PanelUserStatus | 'absent';
}

/**
 * Panel users of subscriptions that an import kept aside (spec 07 section 1.4), which go on until their end.
 * @param ids of the subscriptions in the source; null = all
 * @throws PanelError when the panel does not answer
 */
export async function listPanelLeftovers(app: App, ids: readonly number[] | null = null): Promise<PanelLeftover[]> {
  const parked = (await listParkedPanelUsers(app.db)).filter(({ subscriptionId }) => ids?.includes(subscriptionId) ?? true);
  const statuses = new Map<number, PanelLeftover['status']>();
  await inParallel(app, null, parked, async (one) => {
    statuses.set(one.subscriptionId, (await findLeftover(app, one))?.status ?? 'absent');
  });
  return parked.map((one) => ({ ...one, status: statuses.get(one.subscriptionId)! }));
}

/** Switches one off at the panel. @returns as it is there afterwards @throws PanelError */
export async function disablePanelLeftover(app: App, leftover: PanelLeftover): Promise<PanelLeftover> {
  const found = await findLeftover(app, leftover);
  const disabled = found === null ? null : await app.ports.panel.disableUser(found.uuid);
  return { ...leftover, status: disabled?.status ?? 'absent' };
}

/** Null also for one that somebody has here by now. */
async function findLeftover(app: App, { uuid, shortUuid }: ParkedPanelUser): Promise<PanelUser | null> {
  const byLink = () => (shortUuid === null ? null : app.ports.panel.findByShortUuid(shortUuid));
  const found = uuid === null ? await byLink() : await findLinked(app, uuid, shortUuid);
  return found !== null && (await isParkedPanelUser(app.db, found)) ? found : null;
}
