/** Pure rules of what the panel's word changes here (spec 06 section 10). */
import { addDays, SECOND_MS } from '../../../core/clock.ts';
import type { PanelUser } from '../ports.ts';
import type { PanelColumns, SyncedSubscription } from './types.ts';

const BYTES_PER_GB = 1024 ** 3;
/** A subscription that the panel itself reported on so lately is as the panel has it (guard W). */
export const WEBHOOK_GUARD_MS = 60 * SECOND_MS;
const END_SLACK_MS = 60 * SECOND_MS;
const USED_STEP_GB = 0.01;
const NEW_USER_DAYS = 30;

/** At most this share of the accounts that could be found at the panel may be taken for absent in one run (spec 06 section 17, hazard 4). */
const MAX_ABSENT_SHARE = 0.1;

/** One is always allowed: each is looked up at the panel by itself before anything happens to it. */
export function isTooManyAbsent(absent: number, known: number): boolean {
  return absent > Math.max(1, Math.floor(known * MAX_ABSENT_SHARE));
}

/**
 * Is what stands here newer than what was read? Then the panel's word waits for the next run: a change that the panel has not taken
 * yet, one that it took after the page was read, or a report of its own that came later or less than a minute ago (spec 06 section 17, hazard 7).
 */
export function isNewerHere(
  held: Pick<SyncedSubscription, 'isPushDue' | 'requestedAt' | 'provisionedAt' | 'lastWebhookUpdateAt'>,
  readAt: Date,
  now: Date,
): boolean {
  const isLater = (moment: Date | null) => moment !== null && moment > readAt;
  if (held.isPushDue || isLater(held.requestedAt) || isLater(held.provisionedAt) || isLater(held.lastWebhookUpdateAt))
    return true;
  return held.lastWebhookUpdateAt !== null && now.getTime() - held.lastWebhookUpdateAt.getTime() < WEBHOOK_GUARD_MS;
}

export function squadsOf(panel: Pick<PanelUser, 'squads'>): string[] {
  return panel.squads.map((squad) => squad.uuid);
}

export function isSameSet(a: readonly string[], b: readonly string[]): boolean {
  const inA = new Set(a);
  return inA.size === new Set(b).size && b.every((item) => inA.has(item));
}

/** A limit in whole GB. 0 means unlimited on both sides, so a limit below one GB is the smallest there is, and never none. */
export const wholeGigabytes = (bytes: number): number => (bytes > 0 ? Math.max(1, Math.floor(bytes / BYTES_PER_GB)) : 0);

/** The largest number that an integer column holds: a limit of a few exabytes must not stop a run. */
const MAX_INT = 2_147_483_647;
const limitGb = (panel: PanelUser): number => Math.min(wholeGigabytes(panel.trafficLimitBytes), MAX_INT);
const deviceLimit = (panel: PanelUser): number =>
  Math.min(panel.deviceLimit && panel.deviceLimit > 0 ? panel.deviceLimit : 1, MAX_INT);
const endOf = (panel: PanelUser, now: Date): Date =>
  Number.isNaN(panel.expireAt.getTime()) ? addDays(now, NEW_USER_DAYS) : panel.expireAt;

/** Is this panel user at work, or would be but for its used up traffic? An unreadable end counts as one to come. */
export function isLive(panel: Pick<PanelUser, 'status' | 'expireAt'>, now: Date): boolean {
  return (panel.status === 'ACTIVE' || panel.status === 'LIMITED') && !(panel.expireAt <= now);
}

/** `limited` as an update of the next run would make it: a run that finds nothing new changes nothing. */
const NEW_STATUS = { ACTIVE: 'active', LIMITED: 'limited', DISABLED: 'disabled', EXPIRED: 'disabled' } as const;

/** A subscription of the panel's terms, paid. */
export function newFromPanel(panel: PanelUser, now: Date): PanelColumns {
  const endDate = endOf(panel, now);
  return {
    status: endDate <= now ? 'expired' : NEW_STATUS[panel.status],
    endDate,
    trafficLimitGb: limitGb(panel),
    trafficUsedGb: panel.usedTrafficBytes / BYTES_PER_GB,
    deviceLimit: deviceLimit(panel),
    squads: squadsOf(panel),
    shortUuid: panel.shortUuid || null,
    subscriptionUrl: panel.subscriptionUrl || null,
    cryptoLink: panel.cryptoLink,
  };
}

/**
 * What the columns are after the panel's word; null when nothing changes.
 * @param expectedDeviceLimit what a push would send, when that is not the row's own number
 */
export function updatedFromPanel(
  held: SyncedSubscription,
  panel: PanelUser,
  now: Date,
  expectedDeviceLimit: number | null,
): PanelColumns | null {
  const isDeviceLimitAsSent = expectedDeviceLimit !== null && panel.deviceLimit === expectedDeviceLimit;
  const usedGb = panel.usedTrafficBytes / BYTES_PER_GB;
  const subscriptionUrl = panel.subscriptionUrl || held.subscriptionUrl;
  const squads = squadsOf(panel);
  const wanted: PanelColumns = {
    status: statusAfter(held, panel, now),
    endDate: endAfter(held, panel),
    trafficLimitGb: limitGb(panel),
    trafficUsedGb: Math.abs(usedGb - held.trafficUsedGb) > USED_STEP_GB ? usedGb : held.trafficUsedGb,
    deviceLimit: isDeviceLimitAsSent ? held.deviceLimit : deviceLimit(panel),
    squads: isSameSet(squads, held.squads) ? held.squads : squads,
    shortUuid: panel.shortUuid || held.shortUuid,
    subscriptionUrl,
    // A list has no encrypted links; the one of another address is of no use.
    cryptoLink: panel.cryptoLink ?? (subscriptionUrl === held.subscriptionUrl ? held.cryptoLink : null),
  };
  const isSame = (Object.keys(wanted) as (keyof PanelColumns)[]).every((field) => {
    const [a, b] = [wanted[field], held[field]];
    return a instanceof Date && b instanceof Date ? a.getTime() === b.getTime() : a === b;
  });
  return isSame ? null : wanted;
}

/** The panel's end counts only while it says `ACTIVE`, and where it differs by more than a minute, in both directions. */
function endAfter(held: SyncedSubscription, panel: PanelUser): Date {
  const apart = Math.abs(panel.expireAt.getTime() - held.endDate.getTime());
  return panel.status === 'ACTIVE' && apart > END_SLACK_MS ? panel.expireAt : held.endDate;
}

/**
 * `ACTIVE` with time left is active, `LIMITED` limited, `DISABLED` disabled; past its end a row is expired, but an active one is
 * left to the expiry job, which also tells the owner. A panel user that is off is what a push makes of every row that is not live,
 * so it says nothing about an expired one; one that waits for a payment is not the panel's business at all.
 */
function statusAfter(held: SyncedSubscription, panel: PanelUser, now: Date): SyncedSubscription['status'] {
  const isLive = held.status === 'active' || held.status === 'trial';
  if (held.status === 'pending') return held.status;
  if (panel.status === 'DISABLED') return isLive || held.status === 'limited' ? 'disabled' : held.status;
  if (panel.expireAt <= now || panel.status === 'EXPIRED') return isLive || held.status === 'disabled' ? held.status : 'expired';
  if (panel.status === 'LIMITED') return 'limited';
  return isLive ? held.status : 'active';
}

/** Names out of the description that a push writes (`Bot user: {full_name} {username}`), else `User {id}`. */
export function namesFromDescription(
  description: string | null,
  messengerId: number,
): { firstName: string; lastName: string | null; username: string | null } {
  const told = /Bot user:\s*(.+)/s.exec(description ?? '')?.[1]?.trim() ?? '';
  const words = told.split(/\s+/).filter((word) => word !== '');
  const handle = words.find((word) => /^@\w+$/.test(word));
  const [firstName, ...rest] = words.filter((word) => word !== handle);
  return {
    firstName: firstName ?? `User ${messengerId}`,
    lastName: rest.length > 0 ? rest.join(' ') : null,
    username: handle?.slice(1) ?? null,
  };
}
