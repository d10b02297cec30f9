import type { Db } from '../../../core/db/db.ts';

/** Rows that are counted, at most. */
const LIMIT = 10_000;

/** Numbers behind a recommendation; the first two are counted among the first 10 000 users. */
export async function countForRecommendation(
  db: Db,
  now: Date,
): Promise<{ subscriptions: number; unlinked: number; past: number }> {
  const [row] = await db.sql<{ subscriptions: number; unlinked: number; past: number }>(
    `WITH subscribed AS (SELECT u.vpnpanel_uuid FROM (SELECT id, vpnpanel_uuid FROM users ORDER BY id LIMIT $2::int) u
       JOIN subscriptions s ON s.user_id = u.id)
     SELECT (SELECT count(*)::int FROM subscribed) AS subscriptions,
       (SELECT count(*)::int FROM subscribed WHERE vpnpanel_uuid IS NULL) AS unlinked,
       (SELECT count(*)::int FROM subscriptions WHERE status = 'active' AND end_date < $1::timestamptz) AS past`,
    [now, LIMIT],
  );
  return row!;
}
