import type { Db } from '../../../core/db/db.ts';

/** A subscription that is due for autopay. */
export interface AutopayCandidate {
  id: number;
  userId: number;
  endDate: Date;
}

/** Of the job. */
const GRACE_HOURS = 2;

/** Of a top-up (spec 02 section 6, step 3). */
const ENDED_HOURS = 30 * 24;

/**
 * Meant: as many whole days left as the owner has set (1..30, spec 02 H23), or over for $2 hours at most; never trials, dailies,
 * blocked or restricted users. $1 is now.
 */
const MEANT = `FROM subscriptions s JOIN users u ON u.id = s.user_id LEFT JOIN tariffs f ON f.id = s.tariff_id
  WHERE s.autopay_enabled AND NOT s.is_trial AND NOT coalesce(f.is_daily, false) AND s.status IN ('active', 'expired')
    AND s.end_date > $1::timestamptz - $2::int * interval '1 hour'
    AND s.end_date < $1::timestamptz + (least(coalesce(nullif(s.autopay_days_before, 0), 3), 30) + 1) * interval '1 day'
    AND u.status = 'active' AND NOT u.restriction_subscription`;

/**
 * What the panel reported on within 60 s waits for the job's next round (spec 02 section 1.3). A top-up has no next round, and is not
 * among those that wait: the panel tells that a subscription ended in the very minute in which its owner pays.
 */
const DUE = `${MEANT}
    AND (s.last_webhook_update_at IS NULL OR s.last_webhook_update_at <= $1::timestamptz - interval '60 seconds')`;

/** Up to `limit` due subscriptions behind the given one, the one that ends first in front. */
export function listDue(
  db: Db,
  now: Date,
  after: Pick<AutopayCandidate, 'id' | 'endDate'> | null,
  limit: number,
): Promise<AutopayCandidate[]> {
  // The bound of 31 days says once more, for the index, what the owners' settings allow at most.
  return db.sql<AutopayCandidate>(
    `SELECT s.id, s.user_id AS "userId", s.end_date AS "endDate" ${DUE}
       AND s.end_date < $1::timestamptz + interval '31 days' AND (s.end_date, s.id) > ($3::timestamptz, $4::int)
     ORDER BY s.end_date, s.id LIMIT $5::int`,
    [now, GRACE_HOURS, after?.endDate ?? new Date(0), after?.id ?? 0, limit],
  );
}

/** `due`: for the job. `ended`: for a top-up. */
export type AutopayScope = 'due' | 'ended';

/** Whether the user's subscription is meant; asked under the lock. */
export async function isDue(db: Db, now: Date, userId: number, scope: AutopayScope): Promise<boolean> {
  const [condition, hours] = scope === 'due' ? [DUE, GRACE_HOURS] : [`${MEANT} AND s.end_date <= $1::timestamptz`, ENDED_HOURS];
  const rows = await db.sql(`SELECT s.id ${condition} AND s.user_id = $3::int`, [now, hours, userId]);
  return rows.length > 0;
}

/** Remembers that autopay was refused for this term; the next paid one forgets it. @returns false when it was noted before */
export async function noteRefusal(db: Db, subscriptionId: number, userId: number, now: Date): Promise<boolean> {
  const rows = await db.sql(
    `INSERT INTO sent_notifications (user_id, subscription_id, notification_type, created_at)
     VALUES ($1::int, $2::int, 'autopay_failed', $3::timestamptz)
     ON CONFLICT (subscription_id, notification_type, discriminator) DO NOTHING RETURNING id`,
    [userId, subscriptionId, now],
  );
  return rows.length > 0;
}

/** Whether the user was told after `since` that autopay failed. */
export async function wasToldSince(db: Db, userId: number, since: Date): Promise<boolean> {
  const rows = await db.sql(
    `SELECT id FROM subscription_events WHERE user_id = $1::int AND event_type = 'autopay_failed' AND occurred_at > $2::timestamptz
     LIMIT 1`,
    [userId, since],
  );
  return rows.length > 0;
}
