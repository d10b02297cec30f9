import { columns, type Rows } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import type { PanelColumns, SyncedSubscription, SyncedUser } from './types.ts';

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

const jsonColumns = ({ endDate, ...rest }: PanelColumns) => ({ ...rest, endDate: endDate.toISOString() });

const RECORD = `("rowId" int, status text, "endDate" timestamptz, "trafficLimitGb" int, "trafficUsedGb" float8, "deviceLimit" int,
  "connectedSquads" jsonb, "vpnpanelShortUuid" text, "subscriptionUrl" text, "subscriptionCryptoLink" text)`;

/** Writes the panel's values into locked subscriptions. They come from the panel, so no push follows. */
export async function writeFromPanel(db: Db, rows: readonly { id: number; columns: PanelColumns }[], now: Date): Promise<void> {
  if (rows.length === 0) return;
  await db.sql(
    `UPDATE subscriptions s SET status = c.status, end_date = c."endDate", traffic_limit_gb = c."trafficLimitGb",
       traffic_used_gb = c."trafficUsedGb", device_limit = c."deviceLimit", connected_squads = c."connectedSquads",
       vpnpanel_short_uuid = left(c."vpnpanelShortUuid", 255), subscription_url = c."subscriptionUrl",
       subscription_crypto_link = c."subscriptionCryptoLink", updated_at = $2::timestamptz,
       disabled_reason = CASE WHEN c.status <> 'disabled' THEN NULL WHEN s.status = 'disabled' THEN s.disabled_reason ELSE 'panel' END
     FROM jsonb_to_recordset($1::jsonb) AS c${RECORD} WHERE s.id = c."rowId" RETURNING s.id`,
    [JSON.stringify(rows.map(({ id, columns }) => ({ rowId: id, ...jsonColumns(columns) }))), now],
  );
}

/** Inserts subscriptions with the panel's values for locked users without one; no push follows. @returns the new ids */
export async function insertFromPanel(
  db: Db,
  rows: readonly { userId: number; columns: PanelColumns }[],
  defaults: { autopayEnabled: boolean; autopayDaysBefore: number; now: Date },
): Promise<number[]> {
  if (rows.length === 0) return [];
  const inserted = await db.sql<{ id: number }>(
    `INSERT INTO subscriptions (user_id, status, disabled_reason, is_trial, start_date, end_date, traffic_limit_gb, traffic_used_gb,
       device_limit, connected_squads, vpnpanel_short_uuid, subscription_url, subscription_crypto_link, autopay_enabled,
       autopay_days_before, provision_state, provision_synced_version, created_at, updated_at)
     SELECT c."rowId", c.status, CASE WHEN c.status = 'disabled' THEN 'panel' END, false, $2::timestamptz, c."endDate",
       c."trafficLimitGb", c."trafficUsedGb", c."deviceLimit", c."connectedSquads", left(c."vpnpanelShortUuid", 255),
       c."subscriptionUrl", c."subscriptionCryptoLink", $3::boolean, $4::int, 'synced', 0, $2::timestamptz, $2::timestamptz
     FROM jsonb_to_recordset($1::jsonb) AS c${RECORD} ORDER BY c."rowId"
     ON CONFLICT (user_id) DO NOTHING RETURNING id`,
    [
      JSON.stringify(rows.map(({ userId, columns }) => ({ rowId: userId, ...jsonColumns(columns) }))),
      defaults.now,
      defaults.autopayEnabled,
      defaults.autopayDaysBefore,
    ],
  );
  return inserted.map((row) => row.id);
}
