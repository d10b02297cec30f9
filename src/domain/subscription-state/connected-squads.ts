import type { Db } from '../../core/db/db.ts';
import { PUSH_MARK } from './provision-state.ts';

/** Squads of subscriptions, written after the panel has accepted or removed them. */

/**
 * Writes the squads that the panel accepted; an empty list (none available) changes nothing.
 * @returns `moved` when the subscription has left the tariff, `busy` when a push of it is due, under way or was done since the
 *   target was read, else `quiet`
 */
export async function saveSyncedSquads(
  db: Db,
  change: { target: { subscriptionId: number; pushMark: string }; tariffId: number; squads: readonly string[]; now: Date },
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

export async function writeSquads(db: Db, moved: readonly { id: number; connectedSquads: string[] }[], now: Date): Promise<void> {
  await db.sql(
    `UPDATE subscriptions s SET connected_squads = c."connectedSquads", updated_at = $2::timestamptz
     FROM jsonb_to_recordset($1::jsonb) AS c(id int, "connectedSquads" jsonb) WHERE s.id = c.id RETURNING s.id`,
    [JSON.stringify(moved), now],
  );
}

/** The panel has already removed these squads from its users, so nothing is sent to it. */
export async function dropSquadsFromSubscriptions(db: Db, uuids: readonly string[], now: Date): Promise<void> {
  if (uuids.length === 0) return;
  await db.sql(
    `UPDATE subscriptions SET connected_squads = connected_squads - $2::text[], updated_at = $3::timestamptz
     WHERE connected_squads @> ANY($1::jsonb[]) RETURNING id`,
    [uuids.map((uuid) => JSON.stringify([uuid])), [...uuids], now],
  );
}
