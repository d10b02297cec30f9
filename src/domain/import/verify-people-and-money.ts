import { SOURCE_SCHEMA } from './load-source.ts';
import type { Comparison, SumComparison } from './verify-import.ts';

const time = (column: string) => `date_trunc('milliseconds', ${column})`;
const ours = (column: string) => `CASE ${column} WHEN 'messenger' THEN 'telegram' ELSE ${column}::text END`;
/** Our name of a method as the source has it. */
const methodThere = (column: string) => `regexp_replace(${column}, '^messenger_stars', 'telegram_stars')`;

/** Who somebody is, and what belongs to the account alone. Secrets are compared as whether there is one. */
export const PEOPLE_COMPARISONS: readonly Comparison[] = [
  {
    table: 'users',
    source: `SELECT id, coalesce(telegram_id, 0) AS messenger, lower(trim(email)) AS email, auth_type, username, first_name, last_name, status, language,
        referral_code, referred_by_id::bigint AS referrer, balance_kopeks AS balance, google_id, yandex_id, discord_id, coalesce(vk_id, 0) AS vk,
        coalesce(email_verified, false) AS verified, password_hash IS NOT NULL AS password, promo_group_id::bigint AS promo_group,
        has_had_paid_subscription AS has_paid, has_made_first_topup AS has_topped_up, ${time('created_at')} AS created
      FROM ${SOURCE_SCHEMA}.users`,
    target: `SELECT id::bigint, coalesce(messenger_id, 0), email::text, ${ours('auth_type')}, username::text, first_name::text, last_name::text, status::text, language::text,
        referral_code::text, referred_by_id::bigint, balance_kopeks, google_id::text, yandex_id::text, discord_id::text, coalesce(vk_id, 0),
        email_verified, password_hash IS NOT NULL, promo_group_id::bigint, has_had_paid_subscription, has_made_first_topup, created_at
      FROM public.users`,
  },
];

export const PEOPLE_SUMS: readonly SumComparison[] = [
  {
    name: 'users by status and way of signing in',
    source: `SELECT lower(coalesce(status, 'active')) || ' ' || lower(coalesce(auth_type, 'telegram')) AS key, count(*) AS rows, sum(greatest(balance_kopeks, 0)) AS kopeks
      FROM ${SOURCE_SCHEMA}.users GROUP BY 1`,
    target: `SELECT status || ' ' || ${ours('auth_type')} AS key, count(*) AS rows, sum(balance_kopeks) AS kopeks FROM public.users GROUP BY 1`,
  },
  {
    name: 'what users have',
    source: `SELECT kind AS key, count(*) AS rows, 0 AS kopeks FROM ${SOURCE_SCHEMA}.users CROSS JOIN LATERAL unnest(ARRAY[
        CASE WHEN email <> '' THEN 'e-mail' END, CASE WHEN telegram_id IS NOT NULL THEN 'messenger' END, CASE WHEN password_hash <> '' THEN 'password' END,
        CASE WHEN referral_code <> '' THEN 'referral code' END, CASE WHEN referred_by_id IS NOT NULL THEN 'referrer' END,
        CASE WHEN balance_kopeks > 0 THEN 'money' END, CASE WHEN balance_kopeks < 0 THEN 'debt' END]) kind WHERE kind IS NOT NULL GROUP BY 1`,
    target: `SELECT kind AS key, count(*) AS rows, 0 AS kopeks FROM public.users CROSS JOIN LATERAL unnest(ARRAY[
        CASE WHEN email IS NOT NULL THEN 'e-mail' END, CASE WHEN messenger_id IS NOT NULL THEN 'messenger' END, CASE WHEN password_hash IS NOT NULL THEN 'password' END,
        'referral code', CASE WHEN referred_by_id IS NOT NULL THEN 'referrer' END, CASE WHEN balance_kopeks > 0 THEN 'money' END]) kind WHERE kind IS NOT NULL GROUP BY 1`,
  },
];

const ABSOLUTE_DEBITS = "type IN ('withdrawal', 'subscription_payment', 'gift_payment')";

export const MONEY_COMPARISONS: readonly Comparison[] = [
  {
    table: 'transactions',
    source: `SELECT id, user_id, lower(type) AS type, CASE WHEN ${ABSOLUTE_DEBITS} THEN abs(amount_kopeks) ELSE amount_kopeks END AS kopeks, payment_method AS method,
        external_id, is_completed AS completed, description, ${time('created_at')} AS created, ${time('completed_at')} AS ended FROM ${SOURCE_SCHEMA}.transactions`,
    target: `SELECT id::bigint, user_id::bigint, type::text, CASE WHEN ${ABSOLUTE_DEBITS} THEN -amount_kopeks ELSE amount_kopeks END, ${methodThere('payment_method')},
        external_id::text, is_completed, description, created_at, completed_at FROM public.transactions WHERE imported_at IS NOT NULL AND NOT is_internal`,
  },
  {
    // Total spent, against our counter.
    table: 'users',
    source: `SELECT user_id AS id, sum(abs(amount_kopeks))::bigint AS spent FROM ${SOURCE_SCHEMA}.transactions
      WHERE lower(trim(type)) = 'subscription_payment' AND coalesce(is_completed, completed_at IS NOT NULL) AND amount_kopeks <> 0
        AND user_id IN (SELECT id FROM ${SOURCE_SCHEMA}.users) GROUP BY 1`,
    target: 'SELECT user_id::bigint AS id, total_spent_kopeks FROM public.user_stats WHERE total_spent_kopeks <> 0',
    explained: `SELECT subject FROM import_issues WHERE code = 'user_vanished'
      UNION ALL SELECT t.user_id::text FROM import_issues i JOIN public.transactions t ON t.id::text = i.subject
        WHERE i.source_table = 'transactions' AND i.code IN ('transaction_changed', 'transaction_vanished', 'date_out_of_range')`,
  },
];

/** Rows of all payment tables of the source that has a place here, with what they have in common. */
const PAYMENTS_THERE = [
  'yookassa',
  'mulenpay',
  'pal24',
  'wata',
  'platega',
  'cloudpayments',
  'freekassa',
  'kassa_ai',
  'riopay',
  'severpay',
]
  .map(
    (method) =>
      `SELECT '${method}' AS method, coalesce(is_paid, false) AS is_paid, amount_kopeks FROM ${SOURCE_SCHEMA}.${method}_payments`,
  )
  .join(' UNION ALL ');

const PAYMENT_KEY = `method || CASE WHEN is_paid THEN ' paid' ELSE ' not paid' END`;

export const MONEY_SUMS: readonly SumComparison[] = [
  {
    name: 'movements by type, method and completion',
    source: `SELECT lower(type) || ' ' || coalesce(payment_method, '-') || ' ' || coalesce(is_completed, completed_at IS NOT NULL) AS key, count(*) AS rows, sum(abs(amount_kopeks)) AS kopeks
      FROM ${SOURCE_SCHEMA}.transactions GROUP BY 1`,
    target: `SELECT type || ' ' || coalesce(${methodThere('payment_method')}, '-') || ' ' || is_completed AS key, count(*) AS rows, sum(abs(amount_kopeks)) AS kopeks
      FROM public.transactions WHERE imported_at IS NOT NULL AND NOT is_internal GROUP BY 1`,
  },
  {
    name: 'payments by method, paid or not',
    source: `SELECT ${PAYMENT_KEY} AS key, count(*) AS rows, sum(amount_kopeks) AS kopeks FROM (${PAYMENTS_THERE}) p GROUP BY 1`,
    target: `SELECT ${PAYMENT_KEY} AS key, count(*) AS rows, sum(amount_kopeks) AS kopeks FROM public.payments WHERE imported_at IS NOT NULL AND method NOT IN ('cryptobot', 'heleket') GROUP BY 1`,
  },
  {
    name: 'money on balances against the ledger',
    source: `SELECT 'all' AS key, count(*) FILTER (WHERE balance_kopeks > 0) AS rows, sum(greatest(balance_kopeks, 0)) AS kopeks FROM ${SOURCE_SCHEMA}.users`,
    target: `SELECT 'all' AS key, count(*) AS rows, sum(kopeks) AS kopeks FROM public.ledger_entries e JOIN public.ledger_accounts a ON a.id = e.account_id
      JOIN public.transactions t ON t.id = e.transaction_id WHERE a.kind = 'user_wallet' AND t.imported_at IS NOT NULL`,
  },
];
