import { columns, type RowOf, type Rows } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import type { PanelUser } from './ports.ts';

const PUSHED = columns('Subscription', [
  ...(['status', 'isTrial', 'endDate', 'trafficLimitGb', 'deviceLimit', 'connectedSquads'] as const),
]);
const OWNER = columns('User', [
  ...(['id', 'messengerId', 'username', 'firstName', 'lastName', 'email', 'emailVerified', 'vpnpanelUuid'] as const),
]);

/** What a push reads of a subscription. */
interface PushedSubscription extends RowOf<typeof PUSHED>, Pick<Rows['Tariff'], 'externalSquadUuid'> {
  subscriptionId: number;
  version: number;
  resetTraffic: boolean;
  resetDevices: boolean;
  /** Null without a tariff as well. */
  trafficResetMode: Rows['Tariff']['trafficResetMode'] | null;
}

/** What a push reads: the subscription row, which is the desired state of the panel user, its owner and the fields of its tariff. */
export interface PushTarget extends PushedSubscription {
  user: RowOf<typeof OWNER> & { status: string };
}

/** A row of `PUSH_COLUMNS`. */
export type PushRow = PushedSubscription & RowOf<typeof OWNER> & { userStatus: string };

/**
 * How long a step of a push may take before another push may start; renewed between the steps. Longer than one call to the panel,
 * short enough that a killed process delays pushes little. Of two pushes at once only one can save; the other requests a further
 * push, since it may have sent the older state to the panel.
 */
const LEASE = "interval '90 seconds'";

/**
 * Raises the version of the desired state and marks it pending. Attempts start at 0, so that a new state gets the full number of tries.
 * @returns false when there is no such subscription
 */
export async function raiseVersion(
  db: Db,
  subscriptionId: number,
  resets: { resetTraffic: boolean; resetDevices: boolean },
  now: Date,
): Promise<boolean> {
  const rows = await db.sql<{ id: number }>(
    `UPDATE subscriptions SET
       provision_state = 'pending', provision_version = provision_version + 1, provision_attempts = 0, provision_error = NULL,
       provision_reset_traffic = provision_reset_traffic OR $2::boolean,
       provision_reset_devices = provision_reset_devices OR $3::boolean,
       provision_requested_at = $4::timestamptz
     WHERE id = $1::int RETURNING id`,
    [subscriptionId, resets.resetTraffic, resets.resetDevices, now],
  );
  return rows.length > 0;
}

/** Claims the lease of a push, by the database's clock so that all instances agree. @returns null: another push has it, or no such row */
export async function claimLease(db: Db, subscriptionId: number): Promise<Date | null> {
  const [row] = await db.sql<{ lease: Date }>(
    `UPDATE subscriptions SET provision_lease_until = now() + ${LEASE}
     WHERE id = $1::int AND (provision_lease_until IS NULL OR provision_lease_until < now()) RETURNING provision_lease_until AS lease`,
    [subscriptionId],
  );
  return row?.lease ?? null;
}

/** @returns the new end of the lease, null when another push has it */
export async function renewLease(db: Db, subscriptionId: number, lease: Date): Promise<Date | null> {
  const [row] = await db.sql<{ lease: Date }>(
    `UPDATE subscriptions SET provision_lease_until = greatest(now() + ${LEASE}, $2::timestamptz)
     WHERE id = $1::int AND provision_lease_until = $2::timestamptz RETURNING provision_lease_until AS lease`,
    [subscriptionId, lease],
  );
  return row?.lease ?? null;
}

export async function releaseLease(db: Db, subscriptionId: number, lease: Date): Promise<void> {
  await db.sql(
    `UPDATE subscriptions SET provision_lease_until = NULL
     WHERE id = $1::int AND provision_lease_until = $2::timestamptz RETURNING id`,
    [subscriptionId, lease],
  );
}

/** What a push reads of a subscription `s`, its user `u` and its tariff `t`. */
export const PUSH_COLUMNS = `s.id AS subscription_id, s.provision_version AS version, ${PUSHED.of('s')},
  s.provision_reset_traffic AS reset_traffic, s.provision_reset_devices AS reset_devices, t.traffic_reset_mode, t.external_squad_uuid,
  ${OWNER.of('u')}, u.status AS user_status`;

export const PUSH_TABLES = 'subscriptions s JOIN users u ON u.id = s.user_id LEFT JOIN tariffs t ON t.id = s.tariff_id';

/** Of a subscription `s`: changes with every request, push and lease of a push; equal marks mean that there was no push between. */
export const PUSH_MARK = `concat_ws(' ', s.provision_version, s.provision_state, s.provisioned_at, s.provision_lease_until >= now())`;

export async function loadPushTarget(db: Db, subscriptionId: number): Promise<PushTarget | null> {
  const [row] = await db.sql<PushRow>(`SELECT ${PUSH_COLUMNS} FROM ${PUSH_TABLES} WHERE s.id = $1::int`, [subscriptionId]);
  return row ? toPushTarget(row) : null;
}

export function toPushTarget(row: PushRow): PushTarget {
  const { id, messengerId, username, firstName, lastName, email, emailVerified, userStatus, vpnpanelUuid, ...subscription } = row;
  return {
    ...subscription,
    user: { id, messengerId, username, firstName, lastName, email, emailVerified, vpnpanelUuid, status: userStatus },
  };
}

export interface SubscriptionOwner {
  userId: number;
  vpnpanelUuid: string | null;
}

/**
 * Who owns a subscription now, read under the lock of the user whose panel user was pushed: a merge of that user either has not
 * begun or is over. Null when the subscription was deleted.
 */
export async function lockOwner(db: Db, subscriptionId: number, pushedUserId: number): Promise<SubscriptionOwner | null> {
  await db.sql('SELECT id FROM users WHERE id = $1::int FOR NO KEY UPDATE', [pushedUserId]);
  const [row] = await db.sql<SubscriptionOwner>(
    'SELECT u.id AS user_id, u.vpnpanel_uuid FROM subscriptions s JOIN users u ON u.id = s.user_id WHERE s.id = $1::int',
    [subscriptionId],
  );
  return row ?? null;
}

/** The user that a panel user is linked to; null without one. */
export async function findLinkedUser(db: Db, panelUuid: string): Promise<number | null> {
  const [row] = await db.sql<{ id: number }>('SELECT id FROM users WHERE vpnpanel_uuid = $1::uuid', [panelUuid]);
  return row?.id ?? null;
}

/** Locks users and then their subscriptions (spec 00, lock order); before `vpnpanel_uuid` changes, which is a key of the user's row. */
export async function lockUsersWithSubscriptions(db: Db, userIds: readonly number[]): Promise<void> {
  await db.sql('SELECT id FROM users WHERE id = ANY($1::int[]) ORDER BY id FOR NO KEY UPDATE', [userIds]);
  await db.sql('SELECT id FROM subscriptions WHERE user_id = ANY($1::int[]) ORDER BY id FOR UPDATE', [userIds]);
}

/** Unlinks a panel user that is definitely absent or another user's; squads stay (spec 06 section 9). After `lockUsersWithSubscriptions`. */
export async function unlinkPanelUser(db: Db, userId: number, panelUuid: string): Promise<void> {
  const rows = await db.sql<{ id: number }>(
    'UPDATE users SET vpnpanel_uuid = NULL WHERE id = $1::int AND vpnpanel_uuid = $2::uuid RETURNING id',
    [userId, panelUuid],
  );
  if (rows.length === 0) return;
  await db.sql(
    `UPDATE subscriptions SET vpnpanel_short_uuid = NULL, subscription_url = NULL, subscription_crypto_link = NULL
     WHERE user_id = $1::int RETURNING id`,
    [userId],
  );
}

/**
 * Links a panel user to its owner. Another user linked to the same panel user is unlinked.
 * @returns subscriptions of users that were unlinked; each needs a push. In a transaction.
 */
export async function linkPanelUser(db: Db, userId: number, panelUser: PanelUser, now: Date): Promise<number[]> {
  const linked = await db.sql<{ id: number }>(
    'SELECT id FROM users WHERE id = $1::int OR vpnpanel_uuid = $2::uuid ORDER BY id FOR NO KEY UPDATE',
    [userId, panelUser.uuid],
  );
  await lockUsersWithSubscriptions(
    db,
    linked.map((row) => row.id),
  );
  const others = linked.map((row) => row.id).filter((id) => id !== userId);
  const unlinkedSubscriptions: number[] = [];
  for (const other of others) {
    await unlinkPanelUser(db, other, panelUser.uuid);
    const rows = await db.sql<{ id: number }>('SELECT id FROM subscriptions WHERE user_id = $1::int', [other]);
    unlinkedSubscriptions.push(...rows.map((row) => row.id));
  }
  await db.sql(
    `UPDATE users SET vpnpanel_uuid = $2::uuid, last_vpnpanel_sync = $3::timestamptz, vless_uuid = COALESCE($4::text, vless_uuid),
       trojan_password = COALESCE($5::text, trojan_password), ss_password = COALESCE($6::text, ss_password)
     WHERE id = $1::int RETURNING id`,
    [userId, panelUser.uuid, now, panelUser.vlessUuid, panelUser.trojanPassword, panelUser.ssPassword],
  );
  return unlinkedSubscriptions;
}

export type PushOutcome = 'current' | 'superseded' | 'lease_lost';

/**
 * Stores the panel's answer. The row becomes synced, and the lease ends, only while the pushed version is the newest: after a request
 * that arrived meanwhile the row stays pending, with its resets. @param link null: the panel has no user and needs none
 */
export async function savePushed(
  db: Db,
  push: { subscriptionId: number; version: number; lease: Date; now: Date },
  link: Pick<PanelUser, 'shortUuid' | 'subscriptionUrl' | 'cryptoLink'> | null,
): Promise<PushOutcome> {
  const [row] = await db.sql<{ isCurrent: boolean }>(
    `UPDATE subscriptions SET
       vpnpanel_short_uuid = COALESCE($5::text, vpnpanel_short_uuid),
       subscription_crypto_link = CASE WHEN $6::text IS NULL THEN subscription_crypto_link
         WHEN $7::text IS NULL AND subscription_url = $6::text THEN subscription_crypto_link ELSE $7::text END,
       subscription_url = COALESCE($6::text, subscription_url),
       provision_synced_version = $2::int, provisioned_at = $4::timestamptz,
       provision_state = CASE WHEN provision_version = $2::int THEN 'synced' ELSE provision_state END,
       provision_error = CASE WHEN provision_version = $2::int THEN NULL ELSE provision_error END,
       provision_attempts = CASE WHEN provision_version = $2::int THEN 0 ELSE provision_attempts END,
       provision_reset_traffic = provision_reset_traffic AND provision_version <> $2::int,
       provision_reset_devices = provision_reset_devices AND provision_version <> $2::int,
       provision_lease_until = CASE WHEN provision_version = $2::int THEN NULL ELSE provision_lease_until END
     WHERE id = $1::int AND provision_lease_until = $3::timestamptz RETURNING provision_version = $2::int AS is_current`,
    [
      push.subscriptionId,
      push.version,
      push.lease,
      push.now,
      link?.shortUuid || null,
      link?.subscriptionUrl || null,
      link?.cryptoLink ?? null,
    ],
  );
  if (!row) return 'lease_lost';
  return row.isCurrent ? 'current' : 'superseded';
}

/**
 * Counts a failed push and ends the lease. Given up means `failed`: no more tries by the queue, the reconciler continues.
 * @returns whether the queue should try again; null when another push has the lease or the row is deleted
 */
export async function saveFailure(
  db: Db,
  push: { subscriptionId: number; version: number; lease: Date },
  failure: { text: string; isFinal: boolean; maxAttempts: number },
): Promise<{ isGivenUp: boolean } | null> {
  const [row] = await db.sql<Pick<Rows['Subscription'], 'provisionState'>>(
    `UPDATE subscriptions SET
       provision_attempts = greatest(provision_attempts + 1, CASE WHEN $4::boolean THEN $5::int ELSE 0 END),
       provision_error = $6::text,
       provision_state = CASE WHEN provision_version = $2::int AND ($4::boolean OR provision_attempts + 1 >= $5::int)
         THEN 'failed' ELSE 'pending' END,
       provision_lease_until = NULL
     WHERE id = $1::int AND provision_lease_until = $3::timestamptz RETURNING provision_state`,
    [push.subscriptionId, push.version, push.lease, failure.isFinal, failure.maxAttempts, failure.text.slice(0, 500)],
  );
  return row ? { isGivenUp: row.provisionState === 'failed' } : null;
}

/** The subscription of the user that a panel user is linked to; null without one. */
export async function findSubscriptionOfPanelUser(db: Db, panelUuid: string): Promise<number | null> {
  const [row] = await db.sql<{ id: number }>(
    'SELECT s.id FROM subscriptions s JOIN users u ON u.id = s.user_id WHERE u.vpnpanel_uuid = $1::uuid',
    [panelUuid],
  );
  return row?.id ?? null;
}

export async function subscriptionExists(db: Db, subscriptionId: number): Promise<boolean> {
  return (await db.sql('SELECT id FROM subscriptions WHERE id = $1::int', [subscriptionId])).length > 0;
}

/**
 * Subscriptions to push again: pending for longer than `pendingMinutes` without a live lease, and failed ones in intervals that start
 * at 15 minutes after the request and double up to 12 hours.
 */
export async function listOverduePushes(
  db: Db,
  options: { now: Date; pendingMinutes: number; maxAttempts: number; limit: number },
): Promise<number[]> {
  const rows = await db.sql<{ id: number }>(
    `SELECT id FROM subscriptions
     WHERE (provision_lease_until IS NULL OR provision_lease_until < now()) AND (
       (provision_state = 'pending' AND provision_requested_at < $1::timestamptz - $2::int * interval '1 minute')
       OR (provision_state = 'failed' AND provision_requested_at < $1::timestamptz - interval '15 minutes' * (
         least(power(2, greatest(provision_attempts - $3::int, 0)), 64) + 48 * greatest(provision_attempts - $3::int - 6, 0))))
     ORDER BY provision_requested_at, id LIMIT $4::int`,
    [options.now, options.pendingMinutes, options.maxAttempts, options.limit],
  );
  return rows.map((row) => row.id);
}
