import type { Db } from '../../../core/db/db.ts';
import { PUSH_MARK } from '../repo.ts';

export interface SquadSyncTarget {
  subscriptionId: number;
  userId: number;
  vpnpanelUuid: string | null;
  /** Changes whenever a push of the subscription is requested or done. */
  pushMark: string;
}

/** Active and trial subscriptions of a tariff by id, a batch at a time. */
export function listSquadSyncTargets(
  db: Db,
  tariffId: number,
  page: { afterId: number; limit: number },
): Promise<SquadSyncTarget[]> {
  return db.sql<SquadSyncTarget>(
    `SELECT s.id AS subscription_id, s.user_id, u.vpnpanel_uuid, ${PUSH_MARK} AS push_mark
     FROM subscriptions s JOIN users u ON u.id = s.user_id
     WHERE s.tariff_id = $1::int AND s.status IN ('active', 'trial') AND s.id > $2::int
     ORDER BY s.id LIMIT $3::int`,
    [tariffId, page.afterId, page.limit],
  );
}

/**
 * Writes the squads that the panel accepted; an empty list (none available) changes nothing.
 * @returns `moved` when the subscription left the tariff meanwhile, `busy` when a push of it is due, under way or was done since the
 *   target was read, else `quiet`
 */
export async function saveSyncedSquads(
  db: Db,
  change: { target: SquadSyncTarget; tariffId: number; squads: readonly string[]; now: Date },
): Promise<'quiet' | 'busy' | 'moved'> {
  const [row] = await db.sql<{ isBusy: boolean }>(
    `UPDATE subscriptions s SET
       connected_squads = CASE WHEN $3::jsonb = '[]'::jsonb THEN connected_squads ELSE $3::jsonb END, updated_at = $4::timestamptz
     WHERE id = $1::int AND tariff_id = $2::int
     RETURNING provision_state <> 'synced' OR COALESCE(provision_lease_until >= now(), false) OR ${PUSH_MARK} <> $5::text AS is_busy`,
    [change.target.subscriptionId, change.tariffId, JSON.stringify(change.squads), change.now, change.target.pushMark],
  );
  if (!row) return 'moved';
  return row.isBusy ? 'busy' : 'quiet';
}
