import { columns, type RowOf } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import type { Recipient } from '../../messaging/send-message.ts';
import { MAX_OWNER_DAYS } from './rules.ts';

const DUE = columns('Subscription', ['id', 'endDate']);

/** A subscription whose owner is to be reminded. */
export type DueReminder = RowOf<typeof DUE>;

/** An owner who has been reminded, and the end of the subscription. */
export interface Reminded extends Recipient {
  endDate: Date;
  /** The number of days before the end at which this reminder is sent; empty where there is one for the whole span. */
  discriminator: string;
}

/** Which subscriptions a reminder is for: their end is after `endsAfter` and not after `endsUntil`. */
export interface ReminderTerms {
  notificationType: string;
  /**
   * Days before the end at which the operator warns; the span begins now. The smallest number that is reached is sent and recorded. The
   * number that an owner has set is the first for that owner and replaces all larger ones. Null = one reminder for the whole span.
   */
  warningDays: readonly number[] | null;
  isTrial: boolean;
  /** For subscriptions past their end, whether they are marked as expired yet or not. */
  isOver: boolean;
  endsAfter: Date;
  endsUntil: Date;
}

/** The number of days before the end that owner `u` has set, within the contract's bounds; null when none is set. */
const OWNER_DAYS = `CASE WHEN jsonb_typeof(u.notification_settings -> 'subscription_expiry_days') = 'number'
  THEN least(greatest((u.notification_settings ->> 'subscription_expiry_days')::numeric, 1), ${MAX_OWNER_DAYS})::int END`;

const DISCRIMINATOR = `CASE WHEN $4::int[] IS NULL THEN '' ELSE (SELECT min(days)::text FROM unnest($4::int[] || ${OWNER_DAYS}) AS days
  WHERE days <= coalesce(${OWNER_DAYS}, days) AND s.end_date <= $1::timestamptz + days * interval '24 hours') END`;

/**
 * Selected by the terms, $1 to $4, and by the owner's settings: paid daily subscriptions have no end to remind of, a
 * trial ends on any tariff. The alternatives of the terms are part of the text, so that each statement gets its own plan and partial index.
 */
function selectedSql({ isTrial, isOver }: ReminderTerms): string {
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
 * Up to `limit` subscriptions after the given one, by their end, that have not had the reminder since their last sale. OFFSET 0 prevents the
 * planner from joining `sent_notifications`: while its statistics lack the rows of this round, it would choose a nested loop.
 */
export function listDue(db: Db, terms: ReminderTerms, after: DueReminder | null, limit: number): Promise<DueReminder[]> {
  return db.sql<DueReminder>(
    `SELECT ${DUE.of('s')} ${selectedSql(terms)} AND (s.end_date, s.id) > ($5::timestamptz, $6::int)
       AND NOT EXISTS (SELECT 1 FROM sent_notifications n
         WHERE n.subscription_id = s.id AND n.notification_type = $3 AND n.discriminator = w.discriminator OFFSET 0)
     ORDER BY s.end_date, s.id LIMIT $7::int`,
    [...valuesOf(terms), after?.endDate ?? new Date(0), after?.id ?? 0, limit],
  );
}

/**
 * Records the reminder for those of the subscriptions that are still selected and have not had it; the unique key prevents a second one by
 * another instance. Owners whose row is locked wait for the next round.
 */
export function recordReminders(db: Db, terms: ReminderTerms, ids: readonly number[], now: Date): Promise<Reminded[]> {
  return db.sql<Reminded>(
    `WITH due AS MATERIALIZED (SELECT u.id AS user_id, s.id AS subscription_id, s.end_date, w.discriminator ${selectedSql(terms)} AND s.id = ANY($5::int[])
         ORDER BY u.id FOR KEY SHARE OF u, s SKIP LOCKED),
       recorded AS (INSERT INTO sent_notifications (user_id, subscription_id, notification_type, discriminator, created_at)
         SELECT user_id, subscription_id, $3, discriminator, $6::timestamptz FROM due
         ON CONFLICT (subscription_id, notification_type, discriminator) DO NOTHING RETURNING subscription_id)
     SELECT u.id AS user_id, u.status, u.messenger_id, CASE WHEN u.email_verified THEN u.email END AS verified_email,
       u.language, due.end_date, due.discriminator
     FROM recorded JOIN due USING (subscription_id) JOIN users u ON u.id = due.user_id ORDER BY u.id`,
    [...valuesOf(terms), [...ids], now],
  );
}
