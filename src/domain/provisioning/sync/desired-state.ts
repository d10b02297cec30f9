import type { App } from '../../../core/app.ts';
import { presentState } from '../panel-fields.ts';
import { loadPushTarget } from '../repo.ts';
import { trafficLimitBytesFor } from '../rules.ts';
import { isSameSet } from './rules.ts';

/** What a push of the subscription would send for an existing panel user, and the version of the row that it was read from. */
export interface DesiredState {
  subscriptionId: number;
  version: number;
  userId: number;
  /** The panel user that the owner is linked to. */
  panelUuid: string | null;
  status: 'ACTIVE' | 'DISABLED';
  /** End to send: for a subscription that is not live, one minute from now. */
  expireAt: Date;
  /** End of the row itself. */
  endDate: Date;
  /** GB; 0 = unlimited. */
  trafficLimitGb: number;
  trafficLimitBytes: number;
  squads: string[];
}

/** Reads it as every push does, so that a deleted account is never live (spec 06 section 9). Null = no such subscription. */
export async function readDesiredState(app: App, subscriptionId: number): Promise<DesiredState | null> {
  const target = await loadPushTarget(app.db, subscriptionId);
  if (!target) return null;
  return {
    ...presentState(target, app.clock.now()),
    subscriptionId,
    version: target.version,
    userId: target.user.id,
    panelUuid: target.user.vpnpanelUuid,
    endDate: target.endDate,
    trafficLimitGb: target.trafficLimitGb,
    trafficLimitBytes: trafficLimitBytesFor(target.trafficLimitGb),
    squads: target.connectedSquads,
  };
}

/** The version covers changes of the service; what the panel reported changes columns without a new version, so they are compared. */
export function isSameDesiredState(a: DesiredState, b: DesiredState): boolean {
  const isSameRow = a.version === b.version && a.endDate.getTime() === b.endDate.getTime() && isSameSet(a.squads, b.squads);
  const isSameOwner = a.userId === b.userId && a.panelUuid === b.panelUuid;
  return isSameRow && isSameOwner && a.status === b.status && a.trafficLimitBytes === b.trafficLimitBytes;
}
