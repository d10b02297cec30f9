import type { Db } from '../../core/db/db.ts';
import { clearPanelUsersSql } from '../identity/panel-account.ts';
import type { PanelColumns } from './types.ts';

/** Writes values of the panel into subscriptions. The panel has them already, so no push follows. */

const jsonColumns = ({ endDate, ...rest }: PanelColumns) => ({ ...rest, endDate: endDate.toISOString() });

const RECORD = `("rowId" int, status text, "endDate" timestamptz, "trafficLimitGb" int, "trafficUsedGb" float8, "deviceLimit" int,
  "connectedSquads" jsonb, "vpnpanelShortUuid" text, "subscriptionUrl" text, "subscriptionCryptoLink" text)`;

/** Writes the panel's values into locked subscriptions. */
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

/** Records that a report of the panel changed a locked subscription: for 60 s jobs leave it alone (spec 02 section 1.3). */
export async function stampPanelReport(db: Db, id: number, now: Date): Promise<void> {
  await db.sql('UPDATE subscriptions SET last_webhook_update_at = $2::timestamptz WHERE id = $1::int RETURNING id', [id, now]);
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

/** Stores the links of panel users that are still linked. @returns how many were stored */
export async function fillLinks(
  db: Db,
  links: readonly { id: number; panelUuid: string; shortUuid: string; subscriptionUrl: string; cryptoLink: string | null }[],
  now: Date,
): Promise<number> {
  const rows = await db.sql(
    `UPDATE subscriptions s SET vpnpanel_short_uuid = left(l."shortUuid", 255), subscription_url = nullif(l."subscriptionUrl", ''),
       subscription_crypto_link = l."cryptoLink", updated_at = $2::timestamptz
     FROM jsonb_to_recordset($1::jsonb) AS l(id int, "panelUuid" uuid, "shortUuid" text, "subscriptionUrl" text, "cryptoLink" text),
       users u
     WHERE s.id = l.id AND u.id = s.user_id AND u.vpnpanel_uuid = l."panelUuid" AND s.vpnpanel_short_uuid IS NULL RETURNING s.id`,
    [JSON.stringify(links), now],
  );
  return rows.length;
}

/** Removes the links to the panel from the subscription of a user; squads stay. */
export async function clearPanelLink(db: Db, userId: number): Promise<void> {
  await db.sql(
    `UPDATE subscriptions SET vpnpanel_short_uuid = NULL, subscription_url = NULL, subscription_crypto_link = NULL
     WHERE user_id = $1::int RETURNING id`,
    [userId],
  );
}

/** Replaces invalid values of locked subscriptions, and expires those of `overIds`. */
export async function repairValues(db: Db, ids: readonly number[], overIds: readonly number[], now: Date): Promise<void> {
  await db.sql(
    `UPDATE subscriptions SET status = CASE WHEN id = ANY($3::int[]) THEN 'expired' ELSE status END,
       traffic_limit_gb = greatest(traffic_limit_gb, 0), traffic_used_gb = greatest(traffic_used_gb, 0),
       device_limit = greatest(device_limit, 1),
       connected_squads = CASE WHEN jsonb_typeof(connected_squads) = 'array' THEN connected_squads ELSE '[]' END,
       updated_at = $1::timestamptz
     WHERE id = ANY($2::int[]) RETURNING id`,
    [now, [...ids], overIds],
  );
}

export async function disableSubscriptions(db: Db, ids: readonly number[], now: Date): Promise<void> {
  await db.sql(
    `UPDATE subscriptions SET status = 'disabled', disabled_reason = 'sync', updated_at = $2::timestamptz
     WHERE id = ANY($1::int[]) RETURNING id`,
    [[...ids], now],
  );
}

/**
 * Disables subscriptions and clears all values of the panel. A trial of a user who never paid ends now with the smallest limits; the
 * end of a paid subscription does not change.
 */
export async function blankSubscriptions(db: Db, ids: readonly number[], now: Date): Promise<void> {
  await db.sql(
    `WITH blanked AS (
       UPDATE subscriptions s SET status = 'disabled', disabled_reason = 'sync', connected_squads = '[]', autopay_enabled = false,
         vpnpanel_short_uuid = NULL, subscription_url = NULL, subscription_crypto_link = NULL, updated_at = $2::timestamptz,
         end_date = CASE WHEN s.is_trial AND NOT u.has_had_paid_subscription THEN $2::timestamptz ELSE s.end_date END,
         traffic_limit_gb = CASE WHEN s.is_trial AND NOT u.has_had_paid_subscription THEN 0 ELSE s.traffic_limit_gb END,
         device_limit = CASE WHEN s.is_trial AND NOT u.has_had_paid_subscription THEN 1 ELSE s.device_limit END
       FROM users u WHERE u.id = s.user_id AND s.id = ANY($1::int[]) RETURNING s.user_id)
     ${clearPanelUsersSql('SELECT user_id FROM blanked')}`,
    [[...ids], now],
  );
}
