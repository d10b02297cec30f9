import { columns, type RowOf } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import { STAYS_EXPIRED } from '../repo.ts';

const CANDIDATE = columns('Subscription', ['id', 'userId']);

/** A subscription that the daily service has to check. */
export type DailyCandidate = RowOf<typeof CANDIDATE>;

/** For how long after it stopped a subscription the service itself tries to resume it. */
const RESUMED_FOR_DAYS = 3;

const FROM = `FROM subscriptions s JOIN users u ON u.id = s.user_id JOIN tariffs f ON f.id = s.tariff_id
  WHERE f.is_daily AND f.is_active AND f.daily_price_kopeks > 0 AND NOT s.is_daily_paused AND NOT s.is_trial
    AND u.status = 'active' AND NOT u.restriction_subscription`;

/** Charged when the paid time is over and the last charge is a day old by the time $1 (spec 02 H22). */
const DUE = `${FROM} AND s.status = 'active' AND s.end_date <= $1::timestamptz
    AND (s.last_daily_charge_at IS NULL OR s.last_daily_charge_at <= $1::timestamptz - interval '24 hours')`;

/**
 * Expired within the last day, but not by an import, or stopped for insufficient funds within a few days with a balance above 0 now. Any other disabled
 * subscription was disabled on purpose, by the integration, an administrator, the panel or the channel rule; only they enable it again.
 * A later top-up resumes the subscription itself; without the bound each round would lock every user whose subscription was ever stopped. Whether the balance is
 * enough is checked under the lock, because the price of a day depends on the promo group. $1 is now.
 */
const STOPPED = `${FROM} AND (s.status = 'expired' AND s.end_date > $1::timestamptz - interval '24 hours' AND NOT ${STAYS_EXPIRED}
      OR u.balance_kopeks > 0 AND s.status = 'disabled' AND s.disabled_reason IS NULL
        AND EXISTS (SELECT 1 FROM sent_notifications n WHERE n.subscription_id = s.id AND n.notification_type = 'daily_insufficient_funds'
          AND n.created_at > $1::timestamptz - interval '${RESUMED_FOR_DAYS} days'))`;

const CONDITIONS = { charge: DUE, resume: STOPPED } as const;

export type DailyWork = keyof typeof CONDITIONS;

/** Up to `limit` candidates after the id `after`, by id. */
export function listCandidates(
  db: Db,
  work: DailyWork,
  timestamp: Date,
  after: number,
  limit: number,
): Promise<DailyCandidate[]> {
  return db.sql<DailyCandidate>(
    `SELECT ${CANDIDATE.of('s')} ${CONDITIONS[work]} AND s.id > $2::int ORDER BY s.id LIMIT $3::int`,
    [timestamp, after, limit],
  );
}

/** Whether the user's subscription is still a candidate; checked again under the lock. */
export async function isCandidate(db: Db, work: DailyWork, timestamp: Date, userId: number): Promise<boolean> {
  const rows = await db.sql(`SELECT s.id ${CONDITIONS[work]} AND s.user_id = $2::int`, [timestamp, userId]);
  return rows.length > 0;
}

/** Records that the subscription was stopped for insufficient funds; the next paid term deletes the record, and so does `forgetStop`. */
export async function recordStop(db: Db, subscriptionId: number, userId: number, now: Date): Promise<void> {
  await db.sql(
    `INSERT INTO sent_notifications (user_id, subscription_id, notification_type, created_at)
     VALUES ($1::int, $2::int, 'daily_insufficient_funds', $3::timestamptz)
     ON CONFLICT (subscription_id, notification_type, discriminator) DO UPDATE SET created_at = EXCLUDED.created_at`,
    [userId, subscriptionId, now],
  );
}

/** Deletes the record of a stop, so that a top-up does not resume a subscription that is disabled on purpose. */
export async function forgetStop(db: Db, subscriptionId: number): Promise<void> {
  await db.prisma.sentNotification.deleteMany({ where: { subscriptionId, notificationType: 'daily_insufficient_funds' } });
}

/** Subscriptions with traffic purchases that have expired, after the id `after`, by id. */
export async function listWithExpiredPurchases(db: Db, now: Date, after: number, limit: number): Promise<number[]> {
  const rows = await db.sql<{ subscriptionId: number }>(
    `SELECT DISTINCT subscription_id FROM traffic_purchases WHERE expires_at <= $1::timestamptz AND subscription_id > $2::int
     ORDER BY subscription_id LIMIT $3::int`,
    [now, after, limit],
  );
  return rows.map((row) => row.subscriptionId);
}

export async function deleteExpiredPurchases(db: Db, subscriptionId: number, now: Date): Promise<void> {
  await db.prisma.trafficPurchase.deleteMany({ where: { subscriptionId, expiresAt: { lte: now } } });
}
