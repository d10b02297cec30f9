import type { Counter } from './counter-table.ts';

/** Counters of the statistics of the administration; days are those of the zone in statistics_mark. */

const DAY = (timestamp: string) => `(${timestamp} AT TIME ZONE coalesce((SELECT zone FROM statistics_mark), 'UTC'))::date`;
const COUNTED = `NOT is_internal AND is_completed AND id <= (SELECT coalesce(max(through_id), 0) FROM statistics_mark)`;
const PAYMENT = `type = 'subscription_payment' AND ${COUNTED}`;
const FIRST = `SELECT user_id, min(created_at) AS first_paid_at, count(*)::int AS payments, sum(abs(amount_kopeks))::bigint AS amount_kopeks
  FROM transactions WHERE ${PAYMENT} GROUP BY user_id`;
const PROVIDER = `CASE WHEN u.vk_id IS NOT NULL THEN 'vk' WHEN u.yandex_id IS NOT NULL THEN 'yandex' WHEN u.google_id IS NOT NULL THEN 'google'
  WHEN u.discord_id IS NOT NULL THEN 'discord' WHEN u.auth_type = 'email' THEN 'email' ELSE 'messenger' END`;
const PERIOD = 'round(extract(epoch FROM end_date - start_date) / 86400)::bigint::text';

export const STATISTICS: readonly Counter[] = [
  {
    name: 'statistics_days',
    maintained: `SELECT kind, day, key, sum(total)::bigint AS total, sum(amount)::bigint AS amount FROM statistics_days
      GROUP BY 1, 2, 3 HAVING sum(total) <> 0 OR sum(amount) <> 0 ORDER BY 1, 2, 3`,
    counted: `SELECT kind, ${DAY('moment')} AS day, key, count(*)::bigint AS total, sum(amount)::bigint AS amount FROM (
        SELECT 'registrations' AS kind, created_at AS moment, CASE WHEN has_had_paid_subscription THEN 'paid' ELSE 'unpaid' END AS key, 0 AS amount FROM users
        UNION ALL SELECT 'trials', s.created_at, ${PROVIDER}, 0 FROM subscriptions s JOIN users u ON u.id = s.user_id WHERE s.is_trial
        UNION ALL SELECT 'sold', created_at, coalesce(tariff_id, 0)::text, 0 FROM subscriptions WHERE NOT is_trial
        UNION ALL SELECT 'sold_periods', created_at, ${PERIOD}, 0 FROM subscriptions WHERE NOT is_trial
        UNION ALL SELECT 'conversions', converted_at, CASE WHEN trial_duration_days IS NULL THEN 'untimed' ELSE 'timed' END,
          coalesce(trial_duration_days, 0) FROM subscription_conversions
        UNION ALL SELECT 'traffic', created_at, traffic_gb::text, traffic_gb FROM traffic_purchases
        UNION ALL SELECT 'servers', connected_at, '', paid_price_kopeks FROM subscription_servers WHERE paid_price_kopeks <> 0) x
      GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`,
    recount: null,
  },
  {
    name: 'trial_origins',
    maintained: 'SELECT subscription_id, created_at, provider FROM trial_origins ORDER BY 1',
    counted: `SELECT s.id AS subscription_id, s.created_at, ${PROVIDER} AS provider FROM subscriptions s JOIN users u ON u.id = s.user_id
      WHERE s.is_trial ORDER BY 1`,
    recount: null,
  },
  {
    name: 'sales_days',
    maintained: `SELECT day, type, payment_method, product, payments, amount_kopeks FROM sales_days
      WHERE payments <> 0 OR amount_kopeks <> 0 ORDER BY 1, 2, 3, 4`,
    counted: `SELECT ${DAY('t.created_at')} AS day, t.type, coalesce(t.payment_method, '') AS payment_method,
        coalesce((SELECT substr(a.key, 7) FROM ledger_entries e JOIN ledger_accounts a ON a.id = e.account_id
          WHERE e.transaction_id = t.id AND a.kind = 'sales_revenue'), '') AS product,
        count(*)::bigint AS payments, sum(abs(t.amount_kopeks))::bigint AS amount_kopeks
      FROM transactions t WHERE t.type IN ('deposit', 'subscription_payment') AND ${COUNTED} GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4`,
    recount: null,
  },
  {
    name: 'payers',
    maintained: 'SELECT user_id, first_paid_at, payments, amount_kopeks FROM payers ORDER BY 1',
    counted: `${FIRST} ORDER BY 1`,
    recount: null,
  },
  {
    name: 'payer_cohort_days',
    maintained: `SELECT first_day, day, payments, amount_kopeks FROM payer_cohort_days WHERE payments <> 0 OR amount_kopeks <> 0 ORDER BY 1, 2`,
    counted: `SELECT ${DAY('f.first_paid_at')} AS first_day, ${DAY('t.created_at')} AS day, count(*)::bigint AS payments,
        sum(abs(t.amount_kopeks))::bigint AS amount_kopeks
      FROM (SELECT * FROM transactions WHERE ${PAYMENT}) t JOIN (${FIRST}) f ON f.user_id = t.user_id GROUP BY 1, 2 ORDER BY 1, 2`,
    recount: null,
  },
  {
    name: 'payer_cohort_months',
    maintained: `SELECT day, first_month, payments, amount_kopeks FROM payer_cohort_months WHERE payments <> 0 OR amount_kopeks <> 0 ORDER BY 1, 2`,
    counted: `SELECT day, date_trunc('month', first_day)::date AS first_month, sum(payments)::bigint AS payments,
        sum(amount_kopeks)::bigint AS amount_kopeks FROM payer_cohort_days
      GROUP BY 1, 2 HAVING sum(payments) <> 0 OR sum(amount_kopeks) <> 0 ORDER BY 1, 2`,
    recount: null,
  },
  {
    name: 'single_payment_days',
    maintained: 'SELECT day, payers, amount_kopeks FROM single_payment_days WHERE payers <> 0 OR amount_kopeks <> 0 ORDER BY 1',
    counted: `SELECT ${DAY('first_paid_at')} AS day, count(*)::bigint AS payers, sum(amount_kopeks)::bigint AS amount_kopeks FROM (${FIRST}) f
      WHERE payments = 1 GROUP BY 1 ORDER BY 1`,
    recount: null,
  },
  {
    name: 'branch_sales',
    maintained: 'SELECT user_id, amount_kopeks FROM branch_sales WHERE amount_kopeks <> 0 ORDER BY 1',
    counted: `SELECT u.referred_by_id AS user_id, sum(f.amount_kopeks)::bigint AS amount_kopeks FROM (${FIRST}) f JOIN users u ON u.id = f.user_id
      WHERE u.referred_by_id IS NOT NULL GROUP BY 1 ORDER BY 1`,
    recount: null,
  },
];
