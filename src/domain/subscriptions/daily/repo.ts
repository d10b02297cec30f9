import type { Db } from '../../../core/db/db.ts';

/** A subscription that the daily service has to look at. */
export interface DailyCandidate {
  id: number;
  userId: number;
}

/** How long the service itself looks for money after it stopped a subscription. */
const RESUMED_FOR_DAYS = 3;

const FROM = `FROM subscriptions s JOIN users u ON u.id = s.user_id JOIN tariffs f ON f.id = s.tariff_id
  WHERE f.is_daily AND f.is_active AND f.daily_price_kopeks > 0 AND NOT s.is_daily_paused AND NOT s.is_trial
    AND u.status = 'active' AND NOT u.restriction_subscription`;

/** Charged when the paid time is over and the last charge is a day old by the moment $1 (spec 02 H22). */
const DUE = `${FROM} AND s.status = 'active' AND s.end_date <= $1::timestamptz
    AND (s.last_daily_charge_at IS NULL OR s.last_daily_charge_at <= $1::timestamptz - interval '24 hours')`;

/**
 * Disabled by this service for lack of money after the moment `since`. Any other disabled one was switched off on purpose, by the
 * integration, an administrator, the panel or the channel rule, and only they switch it on again (spec 05 section 13): no money does.
 */
function stoppedHere(since: string): string {
  return `s.status = 'disabled' AND s.disabled_reason IS NULL AND EXISTS (SELECT 1 FROM sent_notifications n
    WHERE n.subscription_id = s.id AND n.notification_type = 'daily_insufficient_funds' AND n.created_at > ${since})`;
}

/**
 * What ran out within a day, or stopped for lack of money within a few days and has some since. Who comes with money later is resumed
 * by the top-up itself; without the bound each round would lock every user who ever stopped. How much is enough is asked under the
 * lock: a promo group may make the day cost anything. $1 is now.
 */
const STOPPED = `${FROM} AND (s.status = 'expired' AND s.end_date > $1::timestamptz - interval '24 hours'
      OR u.balance_kopeks > 0 AND ${stoppedHere(`$1::timestamptz - interval '${RESUMED_FOR_DAYS} days'`)})`;

/** What a top-up resumes, however long ago it stopped (spec 02 section 6, step 1). */
const STOPPED_EVER = `${FROM} AND (s.status IN ('expired', 'limited') OR ${stoppedHere("'-infinity'")})`;

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

/** Whether a top-up may resume the user's subscription; asked under the lock. */
export async function isResumable(db: Db, userId: number): Promise<boolean> {
  const rows = await db.sql(`SELECT s.id ${STOPPED_EVER} AND s.user_id = $1::int`, [userId]);
  return rows.length > 0;
}

/** Remembers that the subscription stopped for lack of money; the next paid term forgets it, and so does `forgetStopped`. */
export async function noteStopped(db: Db, subscriptionId: number, userId: number, now: Date): Promise<void> {
  await db.sql(
    `INSERT INTO sent_notifications (user_id, subscription_id, notification_type, created_at)
     VALUES ($1::int, $2::int, 'daily_insufficient_funds', $3::timestamptz)
     ON CONFLICT (subscription_id, notification_type, discriminator) DO UPDATE SET created_at = EXCLUDED.created_at`,
    [userId, subscriptionId, now],
  );
}

/** Somebody wants the subscription off: that it once stopped for lack of money starts it no more. */
export async function forgetStopped(db: Db, subscriptionId: number): Promise<void> {
  await db.sql(
    "DELETE FROM sent_notifications WHERE subscription_id = $1::int AND notification_type = 'daily_insufficient_funds' RETURNING id",
    [subscriptionId],
  );
}

/** Subscriptions with bought traffic that ran out, after the id `after`, by id. */
export async function listWithEndedTraffic(db: Db, now: Date, after: number, limit: number): Promise<number[]> {
  const rows = await db.sql<{ subscriptionId: number }>(
    `SELECT DISTINCT subscription_id FROM traffic_purchases WHERE expires_at <= $1::timestamptz AND subscription_id > $2::int
     ORDER BY subscription_id LIMIT $3::int`,
    [now, after, limit],
  );
  return rows.map((row) => row.subscriptionId);
}

export async function deleteEndedTraffic(db: Db, subscriptionId: number, now: Date): Promise<void> {
  await db.sql('DELETE FROM traffic_purchases WHERE subscription_id = $1::int AND expires_at <= $2::timestamptz', [
    subscriptionId,
    now,
  ]);
}
