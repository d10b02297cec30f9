import type { Db } from '../../../core/db/db.ts';

/** A subscription that the daily service has to look at. */
export interface DailyCandidate {
  id: number;
  userId: number;
}

const FROM = `FROM subscriptions s JOIN users u ON u.id = s.user_id JOIN tariffs f ON f.id = s.tariff_id
  WHERE f.is_daily AND f.is_active AND f.daily_price_kopeks > 0 AND NOT s.is_daily_paused AND NOT s.is_trial
    AND u.status = 'active' AND NOT u.restriction_subscription`;

/** Charged when the paid time is over and the last charge is a day old by the moment $1 (spec 02 H22). */
const DUE = `${FROM} AND s.status = 'active' AND s.end_date <= $1::timestamptz
    AND (s.last_daily_charge_at IS NULL OR s.last_daily_charge_at <= $1::timestamptz - interval '24 hours')`;

/** What stopped for lack of money, or ran out within a day; one that somebody disabled stays so. $1 is now. */
const STOPPED = `${FROM} AND u.balance_kopeks > 0
    AND (s.status = 'expired' AND s.end_date > $1::timestamptz - interval '24 hours'
      OR s.status = 'disabled' AND EXISTS (SELECT 1 FROM sent_notifications n
        WHERE n.subscription_id = s.id AND n.notification_type = 'daily_insufficient_funds'))`;

const CONDITIONS = { charge: DUE, resume: STOPPED } as const;

export type DailyWork = keyof typeof CONDITIONS;

/** Up to `limit` candidates after the id `after`, by id. */
export function listCandidates(db: Db, work: DailyWork, moment: Date, after: number, limit: number): Promise<DailyCandidate[]> {
  return db.sql<DailyCandidate>(
    `SELECT s.id, s.user_id AS "userId" ${CONDITIONS[work]} AND s.id > $2::int ORDER BY s.id LIMIT $3::int`,
    [moment, after, limit],
  );
}

/** Whether the user's subscription is still a candidate; asked again under the lock. */
export async function isCandidate(db: Db, work: DailyWork, moment: Date, userId: number): Promise<boolean> {
  const rows = await db.sql(`SELECT s.id ${CONDITIONS[work]} AND s.user_id = $2::int`, [moment, userId]);
  return rows.length > 0;
}

/** Remembers that the subscription stopped for lack of money; the next paid term forgets it. */
export async function noteStopped(db: Db, subscriptionId: number, userId: number, now: Date): Promise<void> {
  await db.sql(
    `INSERT INTO sent_notifications (user_id, subscription_id, notification_type, created_at)
     VALUES ($1::int, $2::int, 'daily_insufficient_funds', $3::timestamptz)
     ON CONFLICT (subscription_id, notification_type, discriminator) DO NOTHING`,
    [userId, subscriptionId, now],
  );
}

/** Subscriptions with bought traffic that ran out, after the id `after`, by id. */
export async function listWithEndedTraffic(db: Db, now: Date, after: number, limit: number): Promise<number[]> {
  const rows = await db.sql<{ subscription_id: number }>(
    `SELECT DISTINCT subscription_id FROM traffic_purchases WHERE expires_at <= $1::timestamptz AND subscription_id > $2::int
     ORDER BY subscription_id LIMIT $3::int`,
    [now, after, limit],
  );
  return rows.map((row) => row.subscription_id);
}

export async function deleteEndedTraffic(db: Db, subscriptionId: number, now: Date): Promise<void> {
  await db.sql('DELETE FROM traffic_purchases WHERE subscription_id = $1::int AND expires_at <= $2::timestamptz', [
    subscriptionId,
    now,
  ]);
}
