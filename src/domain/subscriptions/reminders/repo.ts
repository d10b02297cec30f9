import type { Db } from '../../../core/db/db.ts';
import type { Recipient } from '../../messaging/notify-user.ts';
import { MAX_OWN_DAYS } from './rules.ts';

/** A subscription whose owner is to be reminded. */
export interface DueReminder {
  id: number;
  endDate: Date;
}

export interface Reminded extends Recipient {
  endDate: Date;
}

/** Which subscriptions a reminder is for: their end lies after the first moment and not after the second. */
export interface ReminderTerms {
  notificationType: string;
  /**
   * Days before the end at which the operator warns; the stretch begins now. The smallest that has come is the one that is told and
   * noted. An owner's own number is the first for that owner, in place of all larger ones. Null = one reminder for the whole stretch.
   */
  warningDays: readonly number[] | null;
  isTrial: boolean;
  /** Of a subscription that has ended: whether the end is written yet does not matter. */
  isOver: boolean;
  endsAfter: Date;
  endsUntil: Date;
}

/** Of owner `u`: the chosen number of days before the end, within the contract's bounds; null where none was chosen. */
const OWN_DAYS = `CASE WHEN jsonb_typeof(u.notification_settings -> 'subscription_expiry_days') = 'number'
  THEN least(greatest((u.notification_settings ->> 'subscription_expiry_days')::numeric, 1), ${MAX_OWN_DAYS})::int END`;

const DISCRIMINATOR = `CASE WHEN $4::int[] IS NULL THEN '' ELSE (SELECT min(days)::text FROM unnest($4::int[] || ${OWN_DAYS}) AS days
  WHERE days <= coalesce(${OWN_DAYS}, days) AND s.end_date <= $1::timestamptz + days * interval '24 hours') END`;

/**
 * Wanted by the terms, $1 to $4, and by the owner (spec 05 section 9.1): paid dailies have no end to remind of, a trial ends on any tariff.
 * What the terms choose between stands in the statement, so that each has the plan and the partial index of its own.
 */
function wantedSql({ isTrial, isOver }: ReminderTerms): string {
  return `FROM subscriptions s JOIN users u ON u.id = s.user_id LEFT JOIN tariffs f ON f.id = s.tariff_id
      CROSS JOIN LATERAL (SELECT ${DISCRIMINATOR} AS discriminator) w
    WHERE s.status ${isOver ? "IN ('active', 'expired')" : "= 'active'"} AND s.end_date > $1::timestamptz AND s.end_date <= $2::timestamptz
      AND ${isTrial ? 's.is_trial' : 'NOT s.is_trial AND NOT coalesce(f.is_daily, false)'} AND u.status = 'active'
      AND coalesce(u.notification_settings ->> 'subscription_expiry_enabled' <> 'false', true) AND w.discriminator IS NOT NULL`;
}

const valuesOf = ({ endsAfter, endsUntil, notificationType, warningDays }: ReminderTerms): unknown[] => [
  ...[endsAfter, endsUntil, notificationType, warningDays],
];

/**
 * Up to `limit` subscriptions behind the given one that have not had the reminder since their last sale, the one that ends first in
 * front. OFFSET 0 keeps the planner from joining the notes: as long as its statistics do not know of those that this very round makes,
 * it would compare row with row.
 */
export function listDue(db: Db, terms: ReminderTerms, after: DueReminder | null, limit: number): Promise<DueReminder[]> {
  return db.sql<DueReminder>(
    `SELECT s.id, s.end_date AS "endDate" ${wantedSql(terms)} AND (s.end_date, s.id) > ($5::timestamptz, $6::int)
       AND NOT EXISTS (SELECT 1 FROM sent_notifications n
         WHERE n.subscription_id = s.id AND n.notification_type = $3 AND n.discriminator = w.discriminator OFFSET 0)
     ORDER BY s.end_date, s.id LIMIT $7::int`,
    [...valuesOf(terms), after?.endDate ?? new Date(0), after?.id ?? 0, limit],
  );
}

/**
 * Notes the reminder for those of the subscriptions that still want and have not had it; the row is the guard between instances. Owners
 * whose row somebody holds are left to the next round.
 */
export async function noteReminders(db: Db, terms: ReminderTerms, ids: readonly number[], now: Date): Promise<Reminded[]> {
  return db.sql<Reminded>(
    `WITH due AS MATERIALIZED (SELECT u.id AS user_id, s.id AS subscription_id, s.end_date, w.discriminator ${wantedSql(terms)} AND s.id = ANY($5::int[])
         ORDER BY u.id FOR KEY SHARE OF u, s SKIP LOCKED),
       noted AS (INSERT INTO sent_notifications (user_id, subscription_id, notification_type, discriminator, created_at)
         SELECT user_id, subscription_id, $3, discriminator, $6::timestamptz FROM due
         ON CONFLICT (subscription_id, notification_type, discriminator) DO NOTHING RETURNING subscription_id)
     SELECT u.id AS "userId", u.status, u.messenger_id AS "messengerId", CASE WHEN u.email_verified THEN u.email END AS "verifiedEmail",
       u.language, due.end_date AS "endDate"
     FROM noted JOIN due USING (subscription_id) JOIN users u ON u.id = due.user_id ORDER BY u.id`,
    [...valuesOf(terms), [...ids], now],
  );
}
