/** The data that the administration's statistics are measured on, made by the database itself. Never for a database with real data. */
import {
  BENCH_SQUAD,
  BENCH_TARIFF,
  FAMILIES,
  LIFT_INDEXES,
  NAMES,
  PUT_INDEXES_BACK,
  paymentStatements,
  RECOUNT_CORE,
  RECOUNT_SALES,
  transactionStatements,
} from './seed-data.ts';

export interface StatisticsSize {
  users: number;
  transactions: number;
}

/** The first users are administrators: requests to the network are limited for each of them. */
export const ADMINISTRATORS = 400;
/** Below this id nobody was invited. */
const FIRST_REFERRAL = 1_001;
const CHAIN = 60;
const CAMPAIGNS = 200;

/** Users with known positions in the tree, and what grows with the installation. */
export function landmarks({ users }: StatisticsSize) {
  const branch = Math.min(50_000, Math.floor(users / 10));
  return {
    /** Referrals of each of the two largest partners. */
    branch,
    /** Their referrals invited others, who invited others. */
    deepPartner: 500,
    /** Their referrals, the newest users, invited nobody. */
    flatPartner: 600,
    /** The lowest of a chain in which everyone invited one. */
    chainEnd: FIRST_REFERRAL + branch + CHAIN - 1,
    /** Events of each of the large contests. */
    contestEvents: Math.min(200_000, Math.floor(users / 5)),
    campaigns: CAMPAIGNS,
  };
}

/** Statements in order, for tables that the service has created and nobody has used. Triggers are off; their counters are recounted. */
export function statisticsSeed(size: StatisticsSize, passwordHash: string): string[] {
  const { users, transactions } = size;
  return [
    `SET session_replication_role = replica`,
    ...LIFT_INDEXES,
    `INSERT INTO server_squads (squad_uuid, display_name) VALUES ('${BENCH_SQUAD}', 'Benchmark') ON CONFLICT DO NOTHING`,
    `INSERT INTO tariffs (name, traffic_limit_gb, device_limit, allowed_squads, period_prices)
     SELECT '${BENCH_TARIFF}' || CASE n WHEN 1 THEN '' ELSE ' ' || n END, 100, 2, '["${BENCH_SQUAD}"]', '{"30": 9900}' FROM generate_series(1, 5) n`,
    userStatement(size, passwordHash),
    `SELECT setval(pg_get_serial_sequence('users', 'id'), ${users})`,
    `INSERT INTO admin_roles (name, level, permissions) VALUES ('Benchmark', 900,
       '["users:read", "payments:read", "stats:read", "sales_stats:read", "broadcasts:read", "campaigns:read", "campaigns:stats", "pinned_messages:read"]')`,
    `INSERT INTO user_roles (user_id, role_id) SELECT u.id, r.id FROM users u, admin_roles r
     WHERE u.id <= ${ADMINISTRATORS} AND u.status = 'active' AND r.name = 'Benchmark'`,
    ...subscriptionStatements(),
    ...transactionStatements(users, transactions),
    ...saleStatements(),
    ...paymentStatements(users),
    ...campaignStatements(),
    ...referralStatements(),
    ...contestStatements(size),
    PUT_INDEXES_BACK,
    `SET session_replication_role = origin`,
    `ANALYZE`,
    ...RECOUNT_CORE,
    `SELECT recount_referrals()`,
    `SELECT recount_campaigns()`,
    `SELECT recount_contests()`,
    ...RECOUNT_SALES,
    `VACUUM (ANALYZE)`,
  ];
}

/** Names as in the big lists; who invited whom is a tree with two very large branches and a chain. */
function userStatement(size: StatisticsSize, passwordHash: string): string {
  const { users } = size;
  const { branch, deepPartner, flatPartner, chainEnd } = landmarks(size);
  const firstOfChain = FIRST_REFERRAL + branch;
  return `INSERT INTO users (id, messenger_id, auth_type, username, first_name, last_name, email, email_verified, email_verified_at, password_hash,
      status, balance_kopeks, referral_code, promo_group_id, partner_status, referred_by_id, has_had_paid_subscription, has_made_first_topup,
      notification_settings, google_id, created_at, updated_at, last_activity)
    SELECT n, CASE WHEN n % 8 > 0 THEN 100000000000 + n END, CASE WHEN n % 4 = 0 THEN 'email' WHEN n % 50 = 7 THEN 'google' ELSE 'messenger' END,
      lower((${NAMES})[1 + n % 24]) || n, (${NAMES})[1 + n % 24], (${FAMILIES})[1 + n * 7 % 19],
      lower((${FAMILIES})[1 + n * 7 % 19]) || n || '@example.com', true, now(), '${passwordHash}',
      CASE WHEN n <= 1000 THEN 'active' WHEN n % 50 = 0 THEN 'blocked' WHEN n % 97 = 0 THEN 'deleted' ELSE 'active' END, 0,
      'ref' || lpad(to_hex(n), 8, '0'), (SELECT id FROM promo_groups WHERE is_default),
      CASE WHEN n % 2000 = 0 OR n IN (${deepPartner}, ${flatPartner}) THEN 'approved' ELSE 'none' END,
      CASE WHEN n < ${FIRST_REFERRAL} THEN NULL WHEN n < ${firstOfChain} THEN ${deepPartner} WHEN n <= ${chainEnd} THEN n - 1
        WHEN n > ${users - branch} THEN ${flatPartner} WHEN n % 10 < 4 THEN NULL ELSE greatest(1, n / 4) END,
      n % 3 > 0, n % 3 > 0, CASE WHEN n % 20 = 0 THEN '{"news_enabled": false}'::jsonb ELSE '{}' END,
      CASE WHEN n % 50 = 7 THEN 'google-' || n END,
      now() - (${users} - n)::float8 / ${users} * interval '700 days', now(),
      now() - (n::bigint * 7919 % ${users})::float8 / ${users} * interval '120 days'
    FROM generate_series(1, ${users}) AS n`;
}

/** Of ten users two have none, four a paid one, two a trial, one an expired one, one a disabled or limited one. */
function subscriptionStatements(): string[] {
  return [
    `INSERT INTO subscriptions (user_id, status, is_trial, start_date, end_date, traffic_limit_gb, traffic_used_gb, device_limit, connected_squads,
       tariff_id, subscription_url, provision_state, provision_version, provision_synced_version, created_at)
     SELECT id, CASE WHEN id % 10 < 6 THEN 'active' WHEN id % 10 = 6 THEN CASE WHEN id % 20 = 6 THEN 'trial' ELSE 'active' END
         WHEN id % 10 < 9 THEN 'expired' WHEN id % 20 = 9 THEN 'disabled' ELSE 'limited' END,
       id % 10 IN (6, 7), x.ends - (ARRAY[30, 90, 180, 365])[1 + id % 4] * interval '1 day', x.ends, 100, id % 5, 2, '["${BENCH_SQUAD}"]',
       CASE WHEN id % 10 IN (6, 7) THEN NULL ELSE (SELECT min(id) FROM tariffs) + id % 5 END,
       'https://panel.example/sub/' || id, 'synced', 1, 1, u.created_at + interval '1 hour'
     FROM users u CROSS JOIN LATERAL (SELECT CASE WHEN id % 10 IN (7, 8) THEN now() - (1 + id % 400) * interval '1 day'
       ELSE now() + (1 + id % 300) * interval '1 day' END + id % 86400 * interval '1 second' AS ends) x WHERE id % 10 > 1`,
    `INSERT INTO subscription_conversions (user_id, converted_at, trial_duration_days, payment_method)
     SELECT id, created_at + interval '3 days', CASE WHEN id % 24 = 0 THEN 3 END, 'balance' FROM users WHERE id % 12 = 0`,
    `INSERT INTO traffic_purchases (subscription_id, traffic_gb, expires_at, created_at)
     SELECT id, (ARRAY[5, 10, 50, 100])[1 + id % 4], now() + interval '30 days', created_at + interval '2 days' FROM subscriptions WHERE id % 20 = 0`,
    `INSERT INTO subscription_servers (subscription_id, server_squad_id, paid_price_kopeks, connected_at)
     SELECT id, (SELECT max(id) FROM server_squads), CASE WHEN id % 3 = 0 THEN 4900 ELSE 0 END, created_at FROM subscriptions WHERE id % 4 = 0`,
  ];
}

/** The entry that names what was sold; the other side of each movement is left out, which no statistics read. */
function saleStatements(): string[] {
  return [
    `INSERT INTO ledger_accounts (kind, key) SELECT 'sales_revenue', 'sales:' || p FROM unnest(ARRAY['tariff', 'traffic', 'devices', 'daily']) p
     ON CONFLICT DO NOTHING`,
    `INSERT INTO ledger_entries (transaction_id, account_id, kopeks, created_at)
     SELECT t.id, (ARRAY[a.tariff, a.tariff, a.tariff, a.tariff, a.tariff, a.tariff, a.tariff, a.traffic, a.devices, a.daily])[1 + t.id / 7 % 10],
       -t.amount_kopeks, t.created_at
     FROM transactions t, (SELECT max(id) FILTER (WHERE key = 'sales:tariff') AS tariff, max(id) FILTER (WHERE key = 'sales:traffic') AS traffic,
       max(id) FILTER (WHERE key = 'sales:devices') AS devices, max(id) FILTER (WHERE key = 'sales:daily') AS daily FROM ledger_accounts) a
     WHERE t.type = 'subscription_payment' AND t.is_completed`,
  ];
}

/** A fifth of the users came through a campaign, a fifth of these through the first one. */
function campaignStatements(): string[] {
  return [
    `INSERT INTO advertising_campaigns (name, start_parameter, bonus_type, partner_user_id, created_at)
     SELECT 'Campaign ' || n, 'bench' || n, 'none', CASE WHEN n % 4 = 0 THEN 2000 * (1 + n / 4) END, now() - n * interval '2 days'
     FROM generate_series(1, ${CAMPAIGNS}) n`,
    `UPDATE advertising_campaigns c SET partner_user_id = NULL WHERE NOT EXISTS (SELECT 1 FROM users u WHERE u.id = c.partner_user_id)`,
    `INSERT INTO advertising_campaign_registrations (campaign_id, user_id, bonus_type, created_at)
     SELECT (SELECT min(id) FROM advertising_campaigns) + CASE WHEN id % 25 = 0 THEN 0 ELSE 1 + id / 5 % ${CAMPAIGNS - 1} END, id, 'none', created_at
     FROM users WHERE id % 5 = 0`,
  ];
}

/** Every second referral brought a commission. */
function referralStatements(): string[] {
  return [
    `INSERT INTO referral_earnings (user_id, referral_id, amount_kopeks, reason, referral_transaction_id, created_at)
     SELECT u.referred_by_id, u.id, 12500, 'referral_commission_topup', t.id, u.created_at + interval '1 hour'
     FROM users u JOIN transactions t ON t.user_id = u.id AND t.description = 'First deposit' WHERE u.referred_by_id IS NOT NULL AND u.id % 2 = 0`,
  ];
}

/** Contests of referrers: one with as many participants as the tree has, one with 2,000; of games: rounds, one with many attempts. */
function contestStatements(size: StatisticsSize): string[] {
  const { contestEvents } = landmarks(size);
  const event = `CASE WHEN u.id % 3 > 0 THEN 9900 * (1 + u.id % 5) ELSE 0 END, now() - (1 + u.id % 39) * interval '1 day'`;
  const columns = 'contest_id, referrer_id, referral_id, event_type, amount_kopeks, occurred_at';
  return [
    `INSERT INTO referral_contests (title, contest_type, start_at, end_at, closes_at, is_active)
     SELECT 'Contest ' || n, CASE WHEN n % 2 = 0 THEN 'referral_registered' ELSE 'referral_paid' END, now() - interval '30 days', now() + interval '10 days',
       now() + interval '10 days', n > 20 FROM generate_series(1, 500) n`,
    `INSERT INTO referral_contest_events (${columns})
     SELECT (SELECT min(id) FROM referral_contests), u.referred_by_id, u.id, 'subscription_purchase', ${event}
     FROM users u WHERE u.referred_by_id IS NOT NULL AND u.status = 'active' ORDER BY u.id DESC LIMIT ${contestEvents}`,
    `INSERT INTO referral_contest_events (${columns})
     SELECT (SELECT min(id) + 1 FROM referral_contests), 1 + u.id % least(2000, ${Math.floor(size.users / 20)}), u.id, 'referral_registration', ${event}
     FROM users u WHERE u.referred_by_id IS NOT NULL ORDER BY u.id DESC LIMIT ${contestEvents}`,
    `UPDATE referral_contests SET is_active = false`,
    `INSERT INTO contest_rounds (template_id, starts_at, ends_at, status, max_winners)
     SELECT t.id, now() - n * interval '1 day', now() - (n - 1) * interval '1 day', 'finished', 3 FROM generate_series(2, 700) n, contest_templates t`,
    `INSERT INTO contest_rounds (template_id, starts_at, ends_at, status, max_winners, payload)
     SELECT id, now() - interval '1 hour', now() + interval '30 days', 'active', ${size.users}, payload || '{"secret_idx": 0}' FROM contest_templates`,
    `UPDATE contest_templates SET is_enabled = true, schedule_times = NULL`,
    `INSERT INTO contest_attempts (round_id, user_id, answer, is_winner, created_at)
     SELECT (SELECT min(id) FROM contest_rounds), id, '1', id % 100 = 0, created_at FROM users ORDER BY id LIMIT ${Math.floor(size.users / 10)}`,
  ];
}
