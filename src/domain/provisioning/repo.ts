import { columns, type RowOf, type Rows } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import { clearPanelUser, savePanelUser } from '../identity/panel-account.ts';
import { clearPanelLink } from '../subscription-state/panel-values.ts';
import type { PanelGeneration, PanelUser } from './ports.ts';

const PUSHED = columns('Subscription', [
  ...(['status', 'isTrial', 'endDate', 'trafficLimitGb', 'deviceLimit', 'connectedSquads', 'tariffId'] as const),
  ...(['vpnpanelShortUuid', 'subscriptionUrl', 'subscriptionCryptoLink'] as const),
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

/** What a push reads of a subscription `s`, its user `u` and its tariff `t`. */
export const PUSH_COLUMNS = `s.id AS subscription_id, s.provision_version AS version, ${PUSHED.of('s')},
  s.provision_reset_traffic AS reset_traffic, s.provision_reset_devices AS reset_devices, t.traffic_reset_mode, t.external_squad_uuid,
  ${OWNER.of('u')}, u.status AS user_status`;

export const PUSH_TABLES = 'subscriptions s JOIN users u ON u.id = s.user_id LEFT JOIN tariffs t ON t.id = s.tariff_id';

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
  await lockSubscriptionsOf(db, userIds);
}

async function lockSubscriptionsOf(db: Db, userIds: readonly number[]): Promise<void> {
  await db.sql('SELECT id FROM subscriptions WHERE user_id = ANY($1::int[]) ORDER BY id FOR UPDATE', [userIds]);
}

/** Unlinks a panel user that is definitely absent or another user's; squads stay (spec 06 section 9). After `lockUsersWithSubscriptions`. */
export async function unlinkPanelUser(db: Db, userId: number, panelUuid: string): Promise<void> {
  if (await clearPanelUser(db, userId, panelUuid)) await clearPanelLink(db, userId);
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
  const userIds = linked.map((row) => row.id);
  await lockSubscriptionsOf(db, userIds);
  const others = userIds.filter((id) => id !== userId);
  const unlinkedSubscriptions: number[] = [];
  for (const other of others) {
    await unlinkPanelUser(db, other, panelUser.uuid);
    const rows = await db.sql<{ id: number }>('SELECT id FROM subscriptions WHERE user_id = $1::int', [other]);
    unlinkedSubscriptions.push(...rows.map((row) => row.id));
  }
  await savePanelUser(db, userId, panelUser, now);
  return unlinkedSubscriptions;
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

/** Subscriptions whose requested push is not done and not under way, after an id, by id. */
export async function listWaitingPushes(db: Db, page: { afterId: number; limit: number }): Promise<number[]> {
  const rows = await db.sql<{ id: number }>(
    `SELECT id FROM subscriptions
     WHERE provision_state IN ('pending', 'failed') AND provision_requested_at IS NOT NULL AND id > $1::int
       AND (provision_lease_until IS NULL OR provision_lease_until < now()) ORDER BY id LIMIT $2::int`,
    [page.afterId, page.limit],
  );
  return rows.map((row) => row.id);
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

export interface StaleExternalSquad {
  tariffId: number;
  tariffName: string;
  squadUuid: string;
}

/** Tariffs that still name the squad recorded for them as `{squadUuid}` under the key `keyPrefix` + tariff id; at most 100. */
export function findStaleExternalSquads(db: Db, keyPrefix: string, tariffId: number | null): Promise<StaleExternalSquad[]> {
  return db.sql<StaleExternalSquad>(
    `SELECT t.id AS tariff_id, t.name AS tariff_name, s.value->>'squadUuid' AS squad_uuid
     FROM tariffs t JOIN service_state s ON s.key = $1 || t.id AND s.value->>'squadUuid' = t.external_squad_uuid::text
     WHERE t.external_squad_uuid IS NOT NULL AND ($2::int IS NULL OR t.id = $2::int) ORDER BY t.id LIMIT 100`,
    [keyPrefix, tariffId],
  );
}

/** The range of the handles of users that the panel knows by number (`integrations/vpnpanel/panel-generation.ts`). */
const NUMBERS = ['00000000-0000-8000-8000-000000000000', '00000000-0000-8000-8000-ffffffffffff'];

/** Subscriptions in step whose user is linked by a handle of the other generation. */
export async function listOfOtherGeneration(db: Db, generation: PanelGeneration, limit: number): Promise<number[]> {
  const isOther =
    generation === 'uuid'
      ? 'u.vpnpanel_uuid BETWEEN $1::uuid AND $2::uuid'
      : '(u.vpnpanel_uuid < $1::uuid OR u.vpnpanel_uuid > $2::uuid)';
  const rows = await db.sql<{ id: number }>(
    `SELECT s.id FROM users u JOIN subscriptions s ON s.user_id = u.id
     WHERE ${isOther} AND s.provision_state = 'synced' ORDER BY s.id LIMIT $3::int`,
    [...NUMBERS, limit],
  );
  return rows.map((row) => row.id);
}
