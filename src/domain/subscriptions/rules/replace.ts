import { addDays } from '../../../core/clock.ts';
import type { ServerSquad } from '../../catalog/types.ts';
import type { SubscriptionChanges } from '../types.ts';

export interface ReplaceInput {
  days: number;
  isTrial: boolean;
  /** GB; 0 = unlimited. */
  trafficLimitGb: number;
  deviceLimit: number;
  /** Empty = the first available server. */
  squads: readonly string[];
}

/**
 * A subscription written over by the Web API (spec 02 section 3.4) as changed fields: everything starts anew, only autopay is
 * kept. The tariff and the daily fields go too (hazard H20). Traffic purchases and sent notifications are deleted by the caller.
 * @param squads all servers in their display order
 */
export function replaceSubscription(
  input: ReplaceInput,
  squads: readonly Pick<ServerSquad, 'squadUuid' | 'isAvailable'>[],
  now: Date,
): SubscriptionChanges {
  return {
    status: 'active',
    isTrial: input.isTrial,
    startDate: now,
    endDate: addDays(now, input.days),
    trafficLimitGb: input.trafficLimitGb,
    trafficUsedGb: 0,
    purchasedTrafficGb: 0,
    trafficResetAt: null,
    deviceLimit: input.deviceLimit,
    connectedSquads: squadsOrFirstAvailable(input.squads, squads),
    tariffId: null,
    isDailyPaused: false,
    lastDailyChargeAt: null,
    subscriptionUrl: null,
    subscriptionCryptoLink: null,
    vpnpanelShortUuid: null,
  };
}

/** The given squads without repetition, or the first available server; empty when there is none. */
export function squadsOrFirstAvailable(
  uuids: readonly string[],
  squads: readonly Pick<ServerSquad, 'squadUuid' | 'isAvailable'>[],
): string[] {
  if (uuids.length > 0) return [...new Set(uuids)];
  const first = squads.find((squad) => squad.isAvailable);
  return first === undefined ? [] : [first.squadUuid];
}
