import { columns, type Rows } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import type { SyncedSubscription, SyncedUser } from './types.ts';

const SYNCED = columns('Subscription', [
  ...(['endDate', 'trafficLimitGb', 'trafficUsedGb', 'deviceLimit', 'connectedSquads', 'vpnpanelShortUuid'] as const),
  ...(['subscriptionUrl', 'subscriptionCryptoLink', 'lastWebhookUpdateAt', 'provisionRequestedAt', 'provisionedAt'] as const),
]);

interface AccountRow extends Omit<SyncedSubscription, 'id'>, Pick<Rows['User'], 'messengerId' | 'vpnpanelUuid'> {
  userId: number;
  userStatus: Rows['User']['status'];
  subscriptionId: number | null;
}

/** Accounts with their subscriptions, by id. */
export async function loadAccounts(db: Db, ids: readonly number[]): Promise<Map<number, SyncedUser>> {
  if (ids.length === 0) return new Map();
  const rows = await db.sql<AccountRow>(
    `SELECT u.id AS user_id, u.messenger_id, u.status AS user_status, u.vpnpanel_uuid, s.id AS subscription_id, s.status,
       ${SYNCED.of('s')},
       (s.provision_state <> 'synced' AND s.provision_requested_at IS NOT NULL) OR COALESCE(s.provision_lease_until >= now(), false)
         AS is_push_due
     FROM users u LEFT JOIN subscriptions s ON s.user_id = u.id WHERE u.id = ANY($1::int[])`,
    [[...ids]],
  );
  return new Map(rows.map((row) => [row.userId, toAccount(row)]));
}

function toAccount(row: AccountRow): SyncedUser {
  const { userId, messengerId, userStatus, vpnpanelUuid, subscriptionId, ...synced } = row;
  const subscription = subscriptionId === null ? null : { ...synced, id: subscriptionId };
  return { id: userId, messengerId, status: userStatus, vpnpanelUuid, subscription };
}

/** Users first, subscriptions second, each by id (spec 00, lock order); includes the users that the given panel users are linked to now. */
export async function lockAccounts(db: Db, userIds: readonly number[], panelUuids: readonly string[]): Promise<void> {
  await db.sql(
    'SELECT id FROM users WHERE id = ANY($1::int[]) OR vpnpanel_uuid = ANY($2::uuid[]) ORDER BY id FOR NO KEY UPDATE',
    [[...userIds], [...panelUuids]],
  );
  await db.sql('SELECT id FROM subscriptions WHERE user_id = ANY($1::int[]) ORDER BY id FOR UPDATE', [[...userIds]]);
}
