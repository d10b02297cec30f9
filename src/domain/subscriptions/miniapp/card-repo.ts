import type { Db } from '../../../core/db/db.ts';

/**
 * Stores the used traffic that the panel reports, unless the row has changed since it was read: a purchase may have set it back to zero.
 * GB.
 */
export async function writeUsedTraffic(
  db: Db,
  subscriptionId: number,
  used: { before: number; after: number },
  now: Date,
): Promise<void> {
  await db.sql(
    `UPDATE subscriptions SET traffic_used_gb = $3::float8, updated_at = $4::timestamptz
     WHERE id = $1::int AND traffic_used_gb = $2::float8 AND provision_state = 'synced' RETURNING id`,
    [subscriptionId, used.before, used.after, now],
  );
}
