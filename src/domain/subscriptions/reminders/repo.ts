import type { Db } from '../../../core/db/db.ts';
import type { Recipient } from '../../messaging/tell-user.ts';

export interface Reminded extends Recipient {
  endDate: Date;
}

/** Which subscriptions a reminder is for: their end lies after the first moment and not after the second. */
export interface ReminderTerms {
  notificationType: string;
  discriminator: string;
  isTrial: boolean;
  /** Of a subscription that has ended: whether the end is written yet does not matter. */
  isOver: boolean;
  endsAfter: Date;
  endsUntil: Date;
}

/**
 * Notes the reminder for up to `limit` subscriptions that have not had it since their last sale; the row is the guard between
 * instances. Paid dailies have no end to remind of; a trial ends on any tariff. Owners whose row somebody holds are left to the next round.
 */
export async function noteReminders(db: Db, terms: ReminderTerms, now: Date, limit: number): Promise<Reminded[]> {
  return db.sql<Reminded>(
    `WITH due AS MATERIALIZED (SELECT u.id AS user_id, s.id AS subscription_id, s.end_date FROM subscriptions s
           JOIN users u ON u.id = s.user_id LEFT JOIN tariffs f ON f.id = s.tariff_id
         WHERE (s.status = 'active' OR $4::boolean AND s.status = 'expired') AND s.end_date > $5::timestamptz
           AND s.end_date <= $6::timestamptz AND s.is_trial = $3::boolean AND (s.is_trial OR NOT coalesce(f.is_daily, false)) AND u.status = 'active'
           AND NOT EXISTS (SELECT 1 FROM sent_notifications n
             WHERE n.subscription_id = s.id AND n.notification_type = $1 AND n.discriminator = $2)
         ORDER BY u.id LIMIT $8::int FOR KEY SHARE OF u, s SKIP LOCKED),
       noted AS (INSERT INTO sent_notifications (user_id, subscription_id, notification_type, discriminator, created_at)
         SELECT user_id, subscription_id, $1, $2, $7::timestamptz FROM due
         ON CONFLICT (subscription_id, notification_type, discriminator) DO NOTHING RETURNING subscription_id)
     SELECT u.id AS "userId", u.status, u.messenger_id AS "messengerId", CASE WHEN u.email_verified THEN u.email END AS "verifiedEmail",
       u.language, due.end_date AS "endDate"
     FROM noted JOIN due USING (subscription_id) JOIN users u ON u.id = due.user_id ORDER BY u.id`,
    [
      ...[terms.notificationType, terms.discriminator, terms.isTrial, terms.isOver, terms.endsAfter, terms.endsUntil],
      ...[now, limit],
    ],
  );
}
