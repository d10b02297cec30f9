import type { App } from '../../core/app.ts';
import { PanelError, type PanelUser } from './ports.ts';

/**
 * Compares the status that the panel answered with the desired one, and enables or disables the user where they differ: a PATCH with
 * `DISABLED` changes nothing on a `LIMITED` or `EXPIRED` user, and one that raises the limit makes a `LIMITED` user `ACTIVE` (08 P1).
 * A desired `ACTIVE` accepts `LIMITED` while the traffic is used up, since the panel's own reset ends it.
 * @throws PanelError `unavailable` when the panel has another status afterwards, so that the push is repeated
 */
export async function enforceStatus(app: App, user: PanelUser, wanted: 'ACTIVE' | 'DISABLED'): Promise<PanelUser> {
  const { panel } = app.ports;
  if (isInForce(user, wanted)) return user;
  const changed = mustExist(await (wanted === 'ACTIVE' ? panel.enableUser(user.uuid) : panel.disableUser(user.uuid)));
  if (isInForce(changed, wanted)) return changed;
  throw new PanelError('unavailable', `VPN panel: the user is ${changed.status} and should be ${wanted}`);
}

function isInForce(user: PanelUser, wanted: 'ACTIVE' | 'DISABLED'): boolean {
  return user.status === wanted || (wanted === 'ACTIVE' && user.status === 'LIMITED' && isUsedUp(user));
}

function isUsedUp(user: PanelUser): boolean {
  return user.trafficLimitBytes > 0 && user.usedTrafficBytes >= user.trafficLimitBytes;
}

/** The panel user was deleted between two calls; the next try starts from the look-up. */
export function mustExist(user: PanelUser | null): PanelUser {
  if (user) return user;
  throw new PanelError('unavailable', 'VPN panel: the user was deleted during the change', { status: 404 });
}
