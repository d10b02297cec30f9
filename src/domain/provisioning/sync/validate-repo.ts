import type { Db } from '../../../core/db/db.ts';
import { repairValues } from '../../subscription-state/panel-values.ts';

export interface ValidatedSubscription {
  id: number;
  userId: number;
  vpnpanelUuid: string | null;
  /** Active although it ended more than five minutes ago; without a webhook in the last minute and without a running daily charge. */
  isOver: boolean;
  /** The panel user is linked, but its short uuid is not stored. */
  isLinkMissing: boolean;
  hasNegativeTraffic: boolean;
  hasNoDevices: boolean;
  hasNoSquadList: boolean;
}

const IS_OVER = `s.status = 'active' AND s.end_date < $1::timestamptz - interval '5 minutes'
  AND (s.last_webhook_update_at IS NULL OR s.last_webhook_update_at <= $1::timestamptz - interval '60 seconds')
  AND NOT COALESCE(t.is_daily AND NOT s.is_daily_paused, false)`;

/** The next subscriptions by id, each with what is wrong with it. */
export function listForValidation(db: Db, page: { now: Date; afterId: number; limit: number }): Promise<ValidatedSubscription[]> {
  return db.sql<ValidatedSubscription>(
    `SELECT s.id, s.user_id, u.vpnpanel_uuid, (${IS_OVER}) AS is_over,
       s.vpnpanel_short_uuid IS NULL AND u.vpnpanel_uuid IS NOT NULL AS is_link_missing,
       s.traffic_limit_gb < 0 OR s.traffic_used_gb < 0 AS has_negative_traffic, s.device_limit <= 0 AS has_no_devices,
       jsonb_typeof(s.connected_squads) <> 'array' AS has_no_squad_list
     FROM subscriptions s JOIN users u ON u.id = s.user_id LEFT JOIN tariffs t ON t.id = s.tariff_id
     WHERE s.id > $2::int ORDER BY s.id LIMIT $3::int`,
    [page.now, page.afterId, page.limit],
  );
}

/** Repairs invalid values of rows under their locks; the end is checked again under the lock. @returns the ids that are expired now */
export async function repairRows(db: Db, ids: readonly number[], now: Date): Promise<number[]> {
  const over = await db.sql<{ id: number }>(
    `SELECT s.id FROM subscriptions s LEFT JOIN tariffs t ON t.id = s.tariff_id
     WHERE s.id = ANY($2::int[]) AND ${IS_OVER} ORDER BY s.id FOR UPDATE OF s`,
    [now, [...ids]],
  );
  const overIds = over.map((row) => row.id);
  await repairValues(db, ids, overIds, now);
  return overIds;
}
