import type { Db } from '../../../core/db/db.ts';
import type { Period } from './period-repo.ts';
import { COUNTED, IS_VISIBLE, UNCOUNTED } from './sums-repo.ts';

/** Renewals of a day; kopeks. */
export interface RenewalDay {
  /** `YYYY-MM-DD` */
  day: string;
  payments: number;
  amountKopeks: number;
}

const IS_PAYMENT = `t.type = 'subscription_payment' AND ${IS_VISIBLE}`;

/** Days with renewals, in order; days without any are left out. @param part rows (day, payments, kopeks) */
const daysOf = (part: string): string => `SELECT to_char(day, 'YYYY-MM-DD') AS day, sum(payments)::bigint AS payments,
    sum(kopeks)::bigint AS amount_kopeks
  FROM (${part}) AS part (day, payments, kopeks) GROUP BY day HAVING sum(payments) <> 0 ORDER BY day`;

/**
 * Payments in a period of users who paid before it (spec 06 section 4.5, S rows of OLD users). Counted are whole days by the day of the
 * user's first payment; what depends on the time within a day is read from the rows of that day:
 *
 *   + payments of users who first paid before the first day                (months and days of the cohorts)
 *   - those of them on the first day before, on the last day after the period
 *   + payments in the period of users who first paid on the first day before the period
 *   + rows that are not counted yet, of users who paid before the period
 *   + counted payments of users whose payment before the period is not counted yet (a payment may be dated back)
 */
export function sumRenewals(db: Db, period: Period): Promise<RenewalDay[]> {
  const day = '(t.created_at AT TIME ZONE $7::text)::date';
  const inPeriod = 't.created_at >= $1::timestamptz AND t.created_at <= $2::timestamptz';
  const outside = (ofDay: string, range: string) =>
    `SELECT ${ofDay}::text::date, -1, -abs(t.amount_kopeks) FROM transactions t
       JOIN payers p ON p.user_id = t.user_id AND p.first_paid_at < $5::timestamptz
       WHERE t.id <= ${COUNTED} AND ${IS_PAYMENT} AND ${range}`;
  return db.sql<RenewalDay>(
    `WITH uncounted AS MATERIALIZED (
       SELECT t.user_id, t.created_at, t.amount_kopeks FROM ${UNCOUNTED} t WHERE ${IS_PAYMENT}),
     early AS MATERIALIZED (SELECT DISTINCT user_id FROM uncounted WHERE created_at < $1::timestamptz)
     ${daysOf(`SELECT day, payments, amount_kopeks FROM payer_cohort_months
       WHERE day >= $3::text::date AND day <= $4::text::date AND first_month < date_trunc('month', $3::text::date)::date
       UNION ALL SELECT day, payments, amount_kopeks FROM payer_cohort_days
       WHERE first_day >= date_trunc('month', $3::text::date)::date AND first_day < $3::text::date
         AND day >= $3::text::date AND day <= $4::text::date
       UNION ALL ${outside('$3', 't.created_at >= $5::timestamptz AND t.created_at < $1::timestamptz')}
       UNION ALL ${outside('$4', 't.created_at > $2::timestamptz AND t.created_at < $6::timestamptz')}
       UNION ALL SELECT ${day}, 1, abs(t.amount_kopeks) FROM payers p JOIN transactions t ON t.user_id = p.user_id
       WHERE p.first_paid_at >= $5::timestamptz AND p.first_paid_at < $1::timestamptz AND t.id <= ${COUNTED} AND ${IS_PAYMENT} AND ${inPeriod}
       UNION ALL SELECT ${day}, 1, abs(t.amount_kopeks) FROM uncounted t
       WHERE ${inPeriod} AND (EXISTS (SELECT 1 FROM early o WHERE o.user_id = t.user_id)
         OR EXISTS (SELECT 1 FROM payers p WHERE p.user_id = t.user_id AND p.first_paid_at < $1::timestamptz))
       UNION ALL SELECT ${day}, 1, abs(t.amount_kopeks) FROM early o JOIN payers p ON p.user_id = o.user_id
       JOIN transactions t ON t.user_id = o.user_id
       WHERE p.first_paid_at >= $1::timestamptz AND t.id <= ${COUNTED} AND ${IS_PAYMENT} AND ${inPeriod}`)}`,
    [period.from, period.to, period.firstDay, period.lastDay, period.firstStart, period.lastEnd, period.zone],
  );
}

/** All payments until now of users with more than one: all of them, less those of users with exactly one. */
export function sumAllRenewals(db: Db, period: Period): Promise<RenewalDay[]> {
  const day = (moment: string) => `(${moment} AT TIME ZONE $6::text)::date`;
  return db.sql<RenewalDay>(
    `WITH uncounted AS MATERIALIZED (
       SELECT t.user_id, t.created_at, t.amount_kopeks FROM ${UNCOUNTED} t WHERE ${IS_PAYMENT}),
     repeated AS MATERIALIZED (SELECT user_id FROM uncounted GROUP BY user_id HAVING count(*) > 1)
     ${daysOf(`SELECT day, payments, amount_kopeks FROM sales_days
       WHERE type = 'subscription_payment' AND day >= $3::text::date AND day <= $4::text::date
       UNION ALL SELECT day, -payers, -amount_kopeks FROM single_payment_days WHERE day >= $3::text::date AND day <= $4::text::date
       UNION ALL SELECT $4::text::date, -1, -abs(t.amount_kopeks) FROM transactions t
       JOIN payers p ON p.user_id = t.user_id AND p.payments > 1
       WHERE t.id <= ${COUNTED} AND ${IS_PAYMENT} AND t.created_at > $2::timestamptz AND t.created_at < $5::timestamptz
       UNION ALL SELECT ${day('t.created_at')}, 1, abs(t.amount_kopeks) FROM uncounted t
       WHERE t.created_at >= $1::timestamptz AND t.created_at <= $2::timestamptz
         AND (EXISTS (SELECT 1 FROM payers p WHERE p.user_id = t.user_id)
           OR t.user_id IN (SELECT user_id FROM repeated))
       UNION ALL SELECT ${day('p.first_paid_at')}, 1, p.amount_kopeks FROM payers p
       WHERE p.payments = 1 AND p.user_id IN (SELECT user_id FROM uncounted)
         AND p.first_paid_at >= $1::timestamptz AND p.first_paid_at <= $2::timestamptz`)}`,
    [period.from, period.to, period.firstDay, period.lastDay, period.lastEnd, period.zone],
  );
}
