import { STATISTICS } from './statistics-counters.ts';

/** A counter that the database maintains. */
export interface Counter {
  /** Table, or table and column. */
  name: string;
  /** What the counter says: rows of a key and values, without zeros. */
  maintained: string;
  /** The same, counted from the source rows by plain SQL. */
  counted: string;
  /** The SQL function that counts again; null where there is none. */
  recount: string | null;
}

/** Spec 10 U8: an erased account is in no list and no count of a status. */
const LISTED = "CASE WHEN u.referral_code = 'erased:' || u.id THEN 'erased' ELSE u.status END";
const DAY = "(created_at AT TIME ZONE 'UTC')::date";
const REAL_DEPOSIT =
  "t.type = 'deposit' AND t.is_completed AND coalesce(t.payment_method, 'balance') NOT IN ('balance', 'manual')";
const SALE = "t.type = 'subscription_payment' AND t.is_completed";

/** Payments that can be the first one of a user, in their order: a conversion precedes a payment of the same time. */
const FIRST_PAYMENTS = `SELECT DISTINCT ON (user_id) user_id, at, kopeks FROM (
  SELECT user_id, converted_at AS at, 0 AS rank, id, first_payment_amount_kopeks AS kopeks FROM subscription_conversions
    WHERE first_payment_amount_kopeks IS NOT NULL
  UNION ALL SELECT user_id, created_at, 1, id, abs(amount_kopeks) FROM transactions t WHERE ${SALE}) e ORDER BY user_id, at, rank, id`;

const REGISTRANTS = `SELECT r.id, r.campaign_id, r.bonus_type, r.balance_bonus_kopeks,
  coalesce((SELECT sum(amount_kopeks) FROM transactions t WHERE t.user_id = r.user_id AND ${REAL_DEPOSIT}), 0)::bigint AS deposits_kopeks,
  coalesce((SELECT sum(abs(amount_kopeks)) FROM transactions t WHERE t.user_id = r.user_id AND ${SALE}), 0)::bigint AS spent_kopeks,
  (SELECT count(*) FROM transactions t WHERE t.user_id = r.user_id AND ${SALE})::int AS payments,
  (SELECT count(*) FROM subscription_conversions v WHERE v.user_id = r.user_id)::int AS conversions,
  u.has_had_paid_subscription AS had_paid, coalesce(s.is_trial, false) AS is_trial,
  coalesce(s.is_trial AND s.status = 'active', false) AS is_active_trial, f.at AS first_payment_at, f.kopeks AS first_payment_kopeks,
  (SELECT count(*) FROM users x WHERE x.referred_by_id = r.user_id)::int AS referrals
FROM advertising_campaign_registrations r JOIN users u ON u.id = r.user_id LEFT JOIN subscriptions s ON s.user_id = u.id
LEFT JOIN (${FIRST_PAYMENTS}) f ON f.user_id = u.id`;

const CAMPAIGN_SUMS = `sum(registrations)::int AS registrations, sum(balance_issued_kopeks)::bigint AS issued,
  sum(subscription_registrations)::int AS subscriptions, sum(tariff_registrations)::int AS tariffs, sum(deposits_kopeks)::bigint AS deposits,
  sum(spent_kopeks)::bigint AS spent, sum(payers)::int AS payers, sum(had_paid)::int AS had_paid, sum(conversions)::int AS conversions,
  sum(trials)::int AS trials, sum(active_trials)::int AS active_trials, sum(first_payments)::int AS first_payments,
  sum(first_payments_kopeks)::bigint AS first_kopeks, sum(buyers)::int AS buyers, sum(referrals)::int AS referrals`;

const WALLET_ENTRIES = `SELECT e.transaction_id, e.kopeks FROM ledger_entries e JOIN ledger_accounts a ON a.id = e.account_id
  WHERE a.kind = 'user_wallet'`;

const EARNINGS_AND_REFERRALS = `SELECT referred_by_id AS user_id, ${DAY} AS day, 1 AS referrals, has_made_first_topup::int AS paid, 0 AS kopeks
    FROM users WHERE referred_by_id IS NOT NULL
  UNION ALL SELECT user_id, ${DAY}, 0, 0, amount_kopeks FROM referral_earnings`;

export const COUNTERS: readonly Counter[] = [
  {
    name: 'users.balance_kopeks',
    maintained: 'SELECT id, balance_kopeks FROM users WHERE balance_kopeks <> 0 ORDER BY id',
    counted: `SELECT a.user_id AS id, sum(e.kopeks)::bigint AS balance_kopeks FROM ledger_entries e JOIN ledger_accounts a ON a.id = e.account_id
      WHERE a.kind = 'user_wallet' GROUP BY a.user_id HAVING sum(e.kopeks) <> 0 ORDER BY 1`,
    recount: null,
  },
  {
    name: 'user_counters',
    maintained: `SELECT status, promo_group_id, has_paid, sum(users)::int AS users FROM user_counters
      GROUP BY 1, 2, 3 HAVING sum(users) <> 0 ORDER BY 1, 2, 3`,
    counted: `SELECT ${LISTED} AS status, promo_group_id, has_had_paid_subscription AS has_paid, count(*)::int AS users FROM users u
      GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`,
    recount: 'recount_users',
  },
  {
    name: 'user_day_counters',
    maintained:
      'SELECT day, status, sum(users)::int AS users FROM user_day_counters GROUP BY 1, 2 HAVING sum(users) <> 0 ORDER BY 1, 2',
    counted: `SELECT ${DAY} AS day, ${LISTED} AS status, count(*)::int AS users FROM users u GROUP BY 1, 2 ORDER BY 1, 2`,
    recount: 'recount_user_days',
  },
  {
    name: 'user_stats',
    maintained: 'SELECT * FROM user_stats ORDER BY user_id',
    counted: `SELECT u.id AS user_id, ${LISTED} AS status, u.created_at, u.balance_kopeks, coalesce(sum(abs(t.amount_kopeks)), 0)::bigint AS total_spent_kopeks,
        count(t.id)::int AS purchase_count, coalesce(u.last_activity, 'epoch') AS last_activity
      FROM users u LEFT JOIN transactions t ON t.user_id = u.id AND ${SALE} GROUP BY u.id ORDER BY u.id`,
    recount: 'recount_user_stats',
  },
  {
    name: 'user_traffic',
    maintained: 'SELECT user_id, status, created_at, traffic_used_gb FROM user_traffic ORDER BY user_id',
    counted: `SELECT u.id AS user_id, ${LISTED} AS status, u.created_at, coalesce(s.traffic_used_gb, 0) AS traffic_used_gb
      FROM users u LEFT JOIN subscriptions s ON s.user_id = u.id ORDER BY u.id`,
    recount: 'recount_user_stats',
  },
  {
    name: 'transaction_day_counts',
    maintained: `SELECT day, type, payment_method, is_completed, total, amount_kopeks FROM transaction_day_counts
      WHERE total <> 0 OR amount_kopeks <> 0 ORDER BY 1, 2, 3, 4`,
    counted: `SELECT ${DAY} AS day, type, coalesce(payment_method, '') AS payment_method, is_completed, count(*)::bigint AS total,
        sum(abs(amount_kopeks))::bigint AS amount_kopeks FROM transactions
      WHERE NOT is_internal AND id <= (SELECT coalesce(max(through_id), 0) FROM transaction_count_mark) GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4`,
    recount: null,
  },
  {
    // The second row: with the entries after the mark it is the sum of all balances.
    name: 'transaction_count_mark.wallet_kopeks',
    maintained: `SELECT 'counted' AS part, coalesce(max(wallet_kopeks), 0)::bigint AS kopeks FROM transaction_count_mark
      UNION ALL SELECT 'all', (coalesce(max(wallet_kopeks), 0) + (SELECT coalesce(sum(kopeks), 0) FROM (${WALLET_ENTRIES}) w
        WHERE transaction_id > coalesce(max(through_id), 0)))::bigint FROM transaction_count_mark ORDER BY 1`,
    counted: `SELECT 'counted' AS part, coalesce(sum(kopeks), 0)::bigint AS kopeks FROM (${WALLET_ENTRIES}) w
        WHERE transaction_id <= (SELECT coalesce(max(through_id), 0) FROM transaction_count_mark)
      UNION ALL SELECT 'all', coalesce(sum(balance_kopeks), 0)::bigint FROM users ORDER BY 1`,
    recount: null,
  },
  {
    name: 'payment_day_counters',
    maintained: `SELECT day, method, bucket, sum(payments)::int AS payments FROM payment_day_counters
      GROUP BY 1, 2, 3 HAVING sum(payments) <> 0 ORDER BY 1, 2, 3`,
    counted: `SELECT ${DAY} AS day, method, CASE WHEN is_paid OR outcome = 'paid' THEN 'paid' WHEN outcome = 'pending' THEN 'pending' ELSE 'cancelled' END
        AS bucket, count(*)::int AS payments FROM payments GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`,
    recount: 'recount_payments',
  },
  {
    name: 'subscription_counters',
    maintained: `SELECT status, is_trial, tariff_id, sum(subscriptions)::int AS subscriptions FROM subscription_counters
      GROUP BY 1, 2, 3 HAVING sum(subscriptions) <> 0 ORDER BY 1, 2, 3`,
    counted: `SELECT status, is_trial, coalesce(tariff_id, 0) AS tariff_id, count(*)::int AS subscriptions FROM subscriptions
      GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`,
    recount: 'recount_subscriptions',
  },
  {
    name: 'trial_day_counters',
    maintained:
      'SELECT day, status, sum(trials)::int AS trials FROM trial_day_counters GROUP BY 1, 2 HAVING sum(trials) <> 0 ORDER BY 1, 2',
    counted: `SELECT (end_date AT TIME ZONE 'UTC')::date AS day, status, count(*)::int AS trials FROM subscriptions
      WHERE is_trial GROUP BY 1, 2 ORDER BY 1, 2`,
    recount: 'recount_subscriptions',
  },
  {
    name: 'paid_trials',
    maintained: 'SELECT subscription_id, end_date FROM paid_trials ORDER BY 1',
    counted: `SELECT s.id AS subscription_id, s.end_date FROM subscriptions s JOIN users u ON u.id = s.user_id
      WHERE s.is_trial AND u.has_had_paid_subscription ORDER BY 1`,
    recount: 'recount_subscriptions',
  },
  {
    name: 'squad_counters',
    maintained: 'SELECT squad_uuid, sum(users)::int AS users FROM squad_counters GROUP BY 1 HAVING sum(users) <> 0 ORDER BY 1',
    counted: `SELECT squad_uuid, count(*)::int AS users FROM (SELECT DISTINCT s.id, q.squad_uuid FROM subscriptions s
        CROSS JOIN LATERAL jsonb_array_elements_text(s.connected_squads) AS q (squad_uuid) WHERE s.status IN ('active', 'trial')) AS used
      GROUP BY 1 ORDER BY 1`,
    recount: 'recount_squads',
  },
  {
    name: 'advertising_campaign_registrations',
    maintained: `SELECT id, deposits_kopeks, spent_kopeks, payments, conversions, had_paid, is_trial, is_active_trial, first_payment_at,
      first_payment_kopeks, referrals FROM advertising_campaign_registrations ORDER BY id`,
    counted: `SELECT id, deposits_kopeks, spent_kopeks, payments, conversions, had_paid, is_trial, is_active_trial, first_payment_at,
      first_payment_kopeks, referrals FROM (${REGISTRANTS}) x ORDER BY id`,
    recount: 'recount_campaigns',
  },
  {
    name: 'campaign_counters',
    maintained: `SELECT * FROM (SELECT campaign_id, ${CAMPAIGN_SUMS} FROM campaign_counters GROUP BY 1) x WHERE registrations <> 0 ORDER BY 1`,
    counted: `SELECT campaign_id, ${CAMPAIGN_SUMS} FROM (
        SELECT campaign_id, 1 AS registrations, balance_bonus_kopeks AS balance_issued_kopeks,
          (bonus_type = 'subscription')::int AS subscription_registrations, (bonus_type = 'tariff')::int AS tariff_registrations,
          deposits_kopeks, spent_kopeks, (payments > 0 OR conversions > 0)::int AS payers, had_paid::int AS had_paid, conversions,
          is_trial::int AS trials, is_active_trial::int AS active_trials, (first_payment_kopeks IS NOT NULL)::int AS first_payments,
          coalesce(first_payment_kopeks, 0) AS first_payments_kopeks, (payments > 0)::int AS buyers, referrals
        FROM (${REGISTRANTS}) r) x GROUP BY 1 ORDER BY 1`,
    recount: 'recount_campaigns',
  },
  {
    name: 'campaign_day_counters',
    maintained: `SELECT campaign_id, day, sum(registrations)::int AS registrations, sum(deposits_kopeks)::bigint AS kopeks
      FROM campaign_day_counters GROUP BY 1, 2 HAVING sum(registrations) <> 0 OR sum(deposits_kopeks) <> 0 ORDER BY 1, 2`,
    counted: `SELECT campaign_id, day, sum(registrations)::int AS registrations, sum(kopeks)::bigint AS kopeks FROM (
        SELECT campaign_id, ${DAY} AS day, 1 AS registrations, 0 AS kopeks FROM advertising_campaign_registrations
        UNION ALL SELECT r.campaign_id, (t.created_at AT TIME ZONE 'UTC')::date, 0, t.amount_kopeks
        FROM advertising_campaign_registrations r JOIN transactions t ON t.user_id = r.user_id WHERE ${REAL_DEPOSIT}) x
      GROUP BY 1, 2 HAVING sum(registrations) <> 0 OR sum(kopeks) <> 0 ORDER BY 1, 2`,
    recount: 'recount_campaigns',
  },
  {
    name: 'referrer_stats',
    maintained: `SELECT user_id, referrals, paid_referrals AS paid, earned_kopeks AS kopeks, referred_by_id AS referrer FROM referrer_stats
      WHERE referrals <> 0 OR paid_referrals <> 0 OR earned_kopeks <> 0 ORDER BY 1`,
    counted: `SELECT user_id, sum(referrals)::int AS referrals, sum(paid)::int AS paid, sum(kopeks)::bigint AS kopeks,
        (SELECT u.referred_by_id FROM users u WHERE u.id = x.user_id) AS referrer
      FROM (${EARNINGS_AND_REFERRALS}) x GROUP BY 1 HAVING sum(referrals) <> 0 OR sum(kopeks) <> 0 ORDER BY 1`,
    recount: 'recount_referrals',
  },
  {
    name: 'referrer_days',
    maintained: `SELECT user_id, day, referrals, earned_kopeks AS kopeks FROM referrer_days WHERE referrals <> 0 OR earned_kopeks <> 0 ORDER BY 1, 2`,
    counted: `SELECT user_id, day, sum(referrals)::int AS referrals, sum(kopeks)::bigint AS kopeks FROM (${EARNINGS_AND_REFERRALS}) x
      GROUP BY 1, 2 HAVING sum(referrals) <> 0 OR sum(kopeks) <> 0 ORDER BY 1, 2`,
    recount: 'recount_referrals',
  },
  {
    name: 'referral_day_counters',
    maintained: `SELECT day, sum(referrals)::int AS referrals, sum(paid_referrals)::int AS paid, sum(earned_kopeks)::bigint AS kopeks
      FROM referral_day_counters GROUP BY 1 HAVING sum(referrals) <> 0 OR sum(paid_referrals) <> 0 OR sum(earned_kopeks) <> 0 ORDER BY 1`,
    counted: `SELECT day, sum(referrals)::int AS referrals, sum(paid)::int AS paid, sum(kopeks)::bigint AS kopeks
      FROM (${EARNINGS_AND_REFERRALS}) x GROUP BY 1 HAVING sum(referrals) <> 0 OR sum(kopeks) <> 0 ORDER BY 1`,
    recount: 'recount_referrals',
  },
  {
    name: 'withdrawal_counters',
    maintained: `SELECT status, sum(requests)::int AS requests, sum(amount_kopeks)::bigint AS kopeks FROM withdrawal_counters
      GROUP BY 1 HAVING sum(requests) <> 0 OR sum(amount_kopeks) <> 0 ORDER BY 1`,
    counted: `SELECT status, count(*)::int AS requests, sum(amount_kopeks)::bigint AS kopeks FROM withdrawal_requests GROUP BY 1 ORDER BY 1`,
    recount: 'recount_withdrawals',
  },
  {
    name: 'referral_contest_scores',
    maintained: `SELECT contest_id, referrer_id, events, listed, referrals, paid, amount_kopeks, is_deleted FROM referral_contest_scores
      WHERE events <> 0 OR listed <> 0 OR referrals <> 0 OR paid <> 0 OR amount_kopeks <> 0 ORDER BY 1, 2`,
    counted: `SELECT contest_id, referrer_id, count(*)::int AS events, sum((r.status <> 'deleted')::int)::int AS listed, sum(v::int)::int AS referrals,
        sum((v AND amount_kopeks > 0)::int)::int AS paid, sum(CASE WHEN v THEN amount_kopeks ELSE 0 END)::bigint AS amount_kopeks,
        (SELECT f.status = 'deleted' FROM users f WHERE f.id = referrer_id) AS is_deleted
      FROM referral_contest_events e JOIN users r ON r.id = e.referral_id JOIN referral_contests c ON c.id = e.contest_id
      CROSS JOIN LATERAL (SELECT e.occurred_at >= c.start_at AND e.occurred_at <= c.closes_at AS v) x GROUP BY 1, 2 ORDER BY 1, 2`,
    recount: 'recount_contests',
  },
  {
    name: 'referral_contest_events.is_listed',
    maintained: 'SELECT id, is_listed FROM referral_contest_events ORDER BY id',
    counted: `SELECT e.id, u.status <> 'deleted' AS is_listed FROM referral_contest_events e JOIN users u ON u.id = e.referral_id ORDER BY e.id`,
    recount: 'recount_contests',
  },
  ...STATISTICS,
];
