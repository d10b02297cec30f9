import { HOUR_MS, MINUTE_MS } from '../../../core/clock.ts';
import type { PanelUser } from '../../provisioning/ports.ts';
import { isSameSet, squadsOf, wholeGigabytes } from '../../provisioning/sync/rules.ts';
import { isActive, isPast } from '../../subscriptions/rules/status.ts';
import type { Subscription, SubscriptionChanges, SubscriptionStatus } from '../../subscriptions/types.ts';

const BYTES_PER_GB = 1024 ** 3;
/** Older service versions stored local time as UTC: ends that differ by three hours are the same end. */
const ZONE_SHIFT_MS = 3 * HOUR_MS;
const ZONE_SHIFT_SLACK_MS = 5 * MINUTE_MS;
const LIMIT_SLACK_GB = 1;
const USED_SLACK_GB = 0.5;
const USED_STEP_GB = 0.01;

export const gigabytes = (bytes: number): number => Math.round((bytes / BYTES_PER_GB) * 100) / 100;
/** Used traffic as the column stores it: GB with their fraction. */
export const usedGigabytes = (panel: Pick<PanelUser, 'usedTrafficBytes'>): number => panel.usedTrafficBytes / BYTES_PER_GB;

/** Changed fields by their wire names, each with its value before and after as JSON. */
export type FieldChanges = Record<string, { old: unknown; new: unknown }>;

/** One side of changed fields, for the audit log. */
export function valuesOf(changes: FieldChanges, side: 'old' | 'new'): Record<string, unknown> {
  return Object.fromEntries(Object.entries(changes).map(([field, change]) => [field, change[side]]));
}

/** The differences between the service and the panel as texts (spec 01 section 11.3). */
export function differencesOf(subscription: Subscription | null, panel: PanelUser, now: Date): string[] {
  if (!subscription) return [];
  const found: string[] = [];
  const isActiveHere = isActive(subscription, now);
  const isActiveThere = panel.status === 'ACTIVE' && panel.expireAt.getTime() > now.getTime();
  if (isActiveHere !== isActiveThere) found.push(`Status: bot=${subscription.status}, panel=${panel.status}`);
  // A push gives a subscription without access the earliest end.
  const isEndedHere = !isActiveHere && panel.status === 'DISABLED';
  if (!isEndedHere && !isSameEnd(subscription.endDate, panel.expireAt)) {
    found.push(`End date: bot=${subscription.endDate.toISOString()}, panel=${panel.expireAt.toISOString()}`);
  }
  const limitGb = gigabytes(panel.trafficLimitBytes);
  if (Math.abs(subscription.trafficLimitGb - limitGb) > LIMIT_SLACK_GB) {
    found.push(`Traffic limit: bot=${subscription.trafficLimitGb} GB, panel=${limitGb} GB`);
  }
  const usedGb = gigabytes(panel.usedTrafficBytes);
  if (Math.abs(subscription.trafficUsedGb - usedGb) > USED_SLACK_GB) {
    found.push(`Traffic used: bot=${subscription.trafficUsedGb} GB, panel=${usedGb} GB`);
  }
  if (subscription.deviceLimit !== (panel.deviceLimit ?? 0)) {
    found.push(`Device limit: bot=${subscription.deviceLimit}, panel=${panel.deviceLimit ?? 0}`);
  }
  if (!isSameSet(subscription.connectedSquads, squadsOf(panel))) found.push('Squads differ');
  return found;
}

function isSameEnd(ours: Date, theirs: Date): boolean {
  const apart = Math.abs(ours.getTime() - theirs.getTime());
  return apart <= HOUR_MS || Math.abs(apart - ZONE_SHIFT_MS) <= ZONE_SHIFT_SLACK_MS;
}

/**
 * Status of a subscription with the panel user's values: active, expired or disabled; with used up traffic it is
 * `limited`, as in every other synchronisation, until the next reset of traffic.
 */
function statusFromPanel(panel: PanelUser, now: Date): SubscriptionStatus {
  if (isPast({ endDate: panel.expireAt }, now)) return 'expired';
  if (panel.status === 'LIMITED') return 'limited';
  return panel.status === 'ACTIVE' ? 'active' : 'disabled';
}

/** The panel's numbers as columns of a subscription. */
export function fieldsFromPanel(panel: PanelUser, now: Date) {
  return {
    status: statusFromPanel(panel, now),
    endDate: panel.expireAt,
    trafficLimitGb: wholeGigabytes(panel.trafficLimitBytes),
    deviceLimit: panel.deviceLimit || 1,
    connectedSquads: squadsOf(panel),
  } satisfies SubscriptionChanges;
}

/** Links of the panel user; without those that the panel did not give. */
export function linksFromPanel(panel: PanelUser): SubscriptionChanges {
  return {
    ...(panel.shortUuid === '' ? {} : { vpnpanelShortUuid: panel.shortUuid }),
    ...(panel.subscriptionUrl === '' ? {} : { subscriptionUrl: panel.subscriptionUrl }),
    ...(panel.cryptoLink === null ? {} : { subscriptionCryptoLink: panel.cryptoLink }),
  };
}

/** The columns that the panel's values change, and the same fields for the answer. @param wanted.term status and end of `subscription` too */
export function changesFromPanel(
  subscription: Subscription,
  panel: PanelUser,
  wanted: { subscription: boolean; term: boolean; traffic: boolean },
  now: Date,
): { changes: SubscriptionChanges; fieldChanges: FieldChanges } {
  const changes: SubscriptionChanges = {};
  const fieldChanges: FieldChanges = {};
  if (wanted.subscription) {
    const fields = fieldsFromPanel(panel, now);
    if (wanted.term && fields.status !== subscription.status) {
      changes.status = fields.status;
      fieldChanges.status = { old: subscription.status, new: fields.status };
    }
    if (wanted.term && fields.endDate.getTime() !== subscription.endDate.getTime()) {
      changes.endDate = fields.endDate;
      fieldChanges.end_date = { old: subscription.endDate.toISOString(), new: fields.endDate.toISOString() };
    }
    if (fields.trafficLimitGb !== subscription.trafficLimitGb) {
      changes.trafficLimitGb = fields.trafficLimitGb;
      fieldChanges.traffic_limit_gb = { old: subscription.trafficLimitGb, new: fields.trafficLimitGb };
    }
    if (fields.deviceLimit !== subscription.deviceLimit) {
      changes.deviceLimit = fields.deviceLimit;
      fieldChanges.device_limit = { old: subscription.deviceLimit, new: fields.deviceLimit };
    }
    if (!isSameSet(fields.connectedSquads, subscription.connectedSquads)) {
      changes.connectedSquads = fields.connectedSquads;
      fieldChanges.connected_squads = { old: subscription.connectedSquads, new: fields.connectedSquads };
    }
    Object.assign(changes, linksFromPanel(panel));
  }
  const usedGb = usedGigabytes(panel);
  if (wanted.traffic && Math.abs(usedGb - subscription.trafficUsedGb) > USED_STEP_GB) {
    changes.trafficUsedGb = usedGb;
    fieldChanges.traffic_used_gb = { old: subscription.trafficUsedGb, new: gigabytes(panel.usedTrafficBytes) };
  }
  return { changes, fieldChanges };
}
