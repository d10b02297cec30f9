/** Pure rules of what a synchronisation changes in local subscriptions (spec 06 section 10). */

import type { App } from '../../../core/app.ts';
import { addDays, SECOND_MS } from '../../../core/clock.ts';
import type { Db } from '../../../core/db/db.ts';
import type { PanelColumns } from '../../subscription-state/types.ts';
import { presentState } from '../panel-objects.ts';
import type { PanelUser } from '../ports.ts';
import { loadPushTarget } from '../repo.ts';
import { trafficLimitBytesFor } from '../rules.ts';
import { loadAccounts } from './repo.ts';
import type { SyncedSubscription } from './types.ts';

const BYTES_PER_GB = 1024 ** 3;
/** A subscription that the panel reported on by webhook within this time is not changed (guard W). */
const WEBHOOK_GUARD_MS = 60 * SECOND_MS;
const END_SLACK_MS = 60 * SECOND_MS;
const USED_STEP_GB = 0.01;
const NEW_USER_DAYS = 30;

/** At most this share of the accounts that could be found at the panel may count as absent in one run (spec 06 section 17, hazard 4). */
const MAX_ABSENT_SHARE = 0.1;

/** One is always allowed: each is looked up at the panel separately before it is changed. */
export function isTooManyAbsent(absent: number, known: number): boolean {
  return absent > Math.max(1, Math.floor(known * MAX_ABSENT_SHARE));
}

/**
 * Whether the local subscription is newer than what was read of the panel; then the next run updates it. Newer are: a change that was
 * not pushed yet, one that was pushed after the page was read, and a webhook that came later or less than a minute ago (spec 06 section
 * 17, hazard 7).
 */
export function isNewerThanPanel(
  local: Pick<SyncedSubscription, 'isPushDue' | 'provisionRequestedAt' | 'provisionedAt' | 'lastWebhookUpdateAt'>,
  readAt: Date,
  now: Date,
): boolean {
  const isLater = (timestamp: Date | null) => timestamp !== null && timestamp > readAt;
  if (
    local.isPushDue ||
    isLater(local.provisionRequestedAt) ||
    isLater(local.provisionedAt) ||
    isLater(local.lastWebhookUpdateAt)
  )
    return true;
  return local.lastWebhookUpdateAt !== null && now.getTime() - local.lastWebhookUpdateAt.getTime() < WEBHOOK_GUARD_MS;
}

export function squadsOf(panel: Pick<PanelUser, 'squads'>): string[] {
  return panel.squads.map((squad) => squad.uuid);
}

export function isSameSet(a: readonly string[], b: readonly string[]): boolean {
  const inA = new Set(a);
  return inA.size === new Set(b).size && b.every((item) => inA.has(item));
}

/** A limit in whole GB. 0 means unlimited on both sides, so a limit below one GB becomes 1. */
export const wholeGigabytes = (bytes: number): number => (bytes > 0 ? Math.max(1, Math.floor(bytes / BYTES_PER_GB)) : 0);

/** The largest value of an integer column: a limit of a few exabytes must not make a run fail. */
const MAX_INT = 2_147_483_647;
/** What a synchronisation takes over from a panel user. */
export type ReportedUser = Pick<
  PanelUser,
  | 'status'
  | 'expireAt'
  | 'trafficLimitBytes'
  | 'usedTrafficBytes'
  | 'deviceLimit'
  | 'squads'
  | 'shortUuid'
  | 'subscriptionUrl'
  | 'cryptoLink'
>;
const limitGb = (panel: ReportedUser): number => Math.min(wholeGigabytes(panel.trafficLimitBytes), MAX_INT);
const deviceLimit = (panel: ReportedUser): number =>
  Math.min(panel.deviceLimit && panel.deviceLimit > 0 ? panel.deviceLimit : 1, MAX_INT);
const endOf = (panel: PanelUser, now: Date): Date =>
  Number.isNaN(panel.expireAt.getTime()) ? addDays(now, NEW_USER_DAYS) : panel.expireAt;

/** Whether this panel user is enabled and not expired. Used up traffic does not matter; an unreadable end counts as one in the future. */
export function isLive(panel: Pick<PanelUser, 'status' | 'expireAt'>, now: Date): boolean {
  return (panel.status === 'ACTIVE' || panel.status === 'LIMITED') && !(panel.expireAt <= now);
}

/** `limited` as an update of the next run would set it, so that a second run changes nothing. */
const NEW_STATUS = { ACTIVE: 'active', LIMITED: 'limited', DISABLED: 'disabled', EXPIRED: 'disabled' } as const;

/** A paid subscription with the panel's values. */
export function newFromPanel(panel: PanelUser, now: Date): PanelColumns {
  const endDate = endOf(panel, now);
  return {
    status: endDate <= now ? 'expired' : NEW_STATUS[panel.status],
    endDate,
    trafficLimitGb: limitGb(panel),
    trafficUsedGb: panel.usedTrafficBytes / BYTES_PER_GB,
    deviceLimit: deviceLimit(panel),
    connectedSquads: squadsOf(panel),
    vpnpanelShortUuid: panel.shortUuid || null,
    subscriptionUrl: panel.subscriptionUrl || null,
    subscriptionCryptoLink: panel.cryptoLink,
  };
}

/**
 * The columns with the panel's values; null when nothing changes.
 * @param expectedDeviceLimit what a push would send, when that is not the row's own number
 */
export function updatedFromPanel(
  local: SyncedSubscription,
  panel: ReportedUser,
  now: Date,
  expectedDeviceLimit: number | null,
): PanelColumns | null {
  const isDeviceLimitAsSent = expectedDeviceLimit !== null && panel.deviceLimit === expectedDeviceLimit;
  const usedGb = panel.usedTrafficBytes / BYTES_PER_GB;
  const subscriptionUrl = panel.subscriptionUrl || local.subscriptionUrl;
  const squads = squadsOf(panel);
  const wanted: PanelColumns = {
    status: statusAfter(local, panel, now),
    endDate: endAfter(local, panel),
    trafficLimitGb: limitGb(panel),
    trafficUsedGb: Math.abs(usedGb - local.trafficUsedGb) > USED_STEP_GB ? usedGb : local.trafficUsedGb,
    deviceLimit: isDeviceLimitAsSent ? local.deviceLimit : deviceLimit(panel),
    connectedSquads: isSameSet(squads, local.connectedSquads) ? local.connectedSquads : squads,
    vpnpanelShortUuid: panel.shortUuid || local.vpnpanelShortUuid,
    subscriptionUrl,
    // The panel's list has no encrypted links; the link of another address is invalid.
    subscriptionCryptoLink: panel.cryptoLink ?? (subscriptionUrl === local.subscriptionUrl ? local.subscriptionCryptoLink : null),
  };
  const isSame = (Object.keys(wanted) as (keyof PanelColumns)[]).every((field) => {
    const [a, b] = [wanted[field], local[field]];
    return a instanceof Date && b instanceof Date ? a.getTime() === b.getTime() : a === b;
  });
  return isSame ? null : wanted;
}

/** The panel's end is used only while its user is `ACTIVE`, and where it differs by more than a minute, in both directions. */
function endAfter(local: SyncedSubscription, panel: ReportedUser): Date {
  const apart = Math.abs(panel.expireAt.getTime() - local.endDate.getTime());
  return panel.status === 'ACTIVE' && apart > END_SLACK_MS ? panel.expireAt : local.endDate;
}

/**
 * `ACTIVE` with time left is active, `LIMITED` limited, `DISABLED` disabled; past its end a row is expired, but an active one is
 * changed by the expiry job only, which also notifies the owner. A push disables the panel user of every row that is not live, so a
 * disabled panel user does not change an expired row. A pending one, which waits for a payment, never changes.
 */
function statusAfter(local: SyncedSubscription, panel: ReportedUser, now: Date): SyncedSubscription['status'] {
  const isLive = local.status === 'active' || local.status === 'trial';
  if (local.status === 'pending') return local.status;
  if (panel.status === 'DISABLED') return isLive || local.status === 'limited' ? 'disabled' : local.status;
  if (panel.expireAt <= now || panel.status === 'EXPIRED')
    return isLive || local.status === 'disabled' ? local.status : 'expired';
  if (panel.status === 'LIMITED') return 'limited';
  return isLive ? local.status : 'active';
}

/** Names out of the description that a push writes (`Bot user: {full_name} {username}`), else `User {id}`; none without a messenger id. */
export function namesFromDescription(
  description: string | null,
  messengerId: number | null,
): { firstName: string | null; lastName: string | null; username: string | null } {
  const text = /Bot user:\s*(.+)/s.exec(description ?? '')?.[1]?.trim() ?? '';
  const parts = text.split(/\s+/).filter((part) => part !== '');
  const handle = parts.find((part) => /^@\w+$/.test(part));
  const [firstName, ...rest] = parts.filter((part) => part !== handle);
  return {
    firstName: firstName ?? (messengerId === null ? null : `User ${messengerId}`),
    lastName: rest.length > 0 ? rest.join(' ') : null,
    username: handle?.slice(1) ?? null,
  };
}

/**
 * Whether the subscription of this account is newer than the panel's answer to a request of `readAt` (spec 06 hazard 7). Then it must
 * not be overwritten. False also for an account without subscription. After `lockUserSubscription`.
 */
export async function hasNewerSubscription(t: App, userId: number, readAt: Date): Promise<boolean> {
  const subscription = (await loadAccounts(t.db, [userId])).get(userId)?.subscription ?? null;
  return subscription !== null && isNewerThanPanel(subscription, readAt, t.clock.now());
}

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

/**
 * Makes the server links of subscriptions those of their connected squads: new links have the price 0; links of other squads are
 * deleted, so that they do not prevent the deletion of a server (spec 02 H20, H26). In the caller's transaction, which has locked or inserted the subscriptions.
 */
export async function linkServersOf(db: Db, subscriptionIds: readonly number[], now: Date): Promise<void> {
  if (subscriptionIds.length === 0) return;
  await db.sql(
    `WITH connected AS (SELECT s.id AS subscription_id, q.id AS server_id FROM subscriptions s
         JOIN server_squads q ON s.connected_squads @> to_jsonb(q.squad_uuid::text) WHERE s.id = ANY($1::int[])),
       gone AS (DELETE FROM subscription_servers l WHERE l.subscription_id = ANY($1::int[]) AND NOT EXISTS (
         SELECT 1 FROM connected c WHERE c.subscription_id = l.subscription_id AND c.server_id = l.server_squad_id))
     INSERT INTO subscription_servers (subscription_id, server_squad_id, paid_price_kopeks, connected_at)
       SELECT subscription_id, server_id, 0, $2::timestamptz FROM connected
       ON CONFLICT (subscription_id, server_squad_id) DO NOTHING RETURNING id`,
    [[...subscriptionIds], now],
  );
}
