import type { App } from '../../../core/app.ts';
import { presentState } from '../panel-fields.ts';
import { loadPushTarget } from '../repo.ts';
import { trafficLimitBytesFor } from '../rules.ts';
import { isSameSet } from './rules.ts';

/** What a push of the subscription would tell a present panel user now, and of which version of the row that is. */
export interface PanelWish {
  subscriptionId: number;
  version: number;
  userId: number;
  /** The panel user that the owner holds. */
  panelUuid: string | null;
  status: 'ACTIVE' | 'DISABLED';
  /** End to send: for a subscription that is not live, not before one minute from now. */
  expireAt: Date;
  /** End of the row itself. */
  endDate: Date;
  /** GB; 0 = unlimited. */
  trafficLimitGb: number;
  trafficLimitBytes: number;
  squads: string[];
}

/** Reads the wish as every push does, so that a deleted account is never live (spec 06 section 9). Null = no such subscription. */
export async function readPanelWish(app: App, subscriptionId: number): Promise<PanelWish | null> {
  const target = await loadPushTarget(app.db, subscriptionId);
  if (!target) return null;
  return {
    ...presentState(target, app.clock.now()),
    subscriptionId,
    version: target.version,
    userId: target.user.id,
    panelUuid: target.user.panelUuid,
    endDate: target.endDate,
    trafficLimitGb: target.trafficLimitGb,
    trafficLimitBytes: trafficLimitBytesFor(target.trafficLimitGb),
    squads: target.connectedSquads,
  };
}

/** The version tells of our own changes; what the panel itself reported changes the columns without one. */
export function isSameWish(a: PanelWish, b: PanelWish): boolean {
  const isSameRow = a.version === b.version && a.endDate.getTime() === b.endDate.getTime() && isSameSet(a.squads, b.squads);
  const isSameOwner = a.userId === b.userId && a.panelUuid === b.panelUuid;
  return isSameRow && isSameOwner && a.status === b.status && a.trafficLimitBytes === b.trafficLimitBytes;
}
