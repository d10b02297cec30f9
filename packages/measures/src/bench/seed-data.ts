/** Millions of rows of test data, made by the database itself. Never for a database with real data. */

export interface SeedSize {
  users: number;
  transactions: number;
  /** With double-entry rows and balances, so that the ledger check passes; the big lists do not need it. */
  withLedger: boolean;
}

/** The squad and the tariff that purchases use. */
export const BENCH_SQUAD = '6b5b7c1e-0000-4000-8000-000000000001';
export const BENCH_TARIFF = 'Benchmark';
/** Password of every user. */
export const BENCH_PASSWORD = 'benchmark password';
/** Kopeks that every user gets first. */
const FIRST_DEPOSIT = 1_000_000_000;

export const NAMES = `ARRAY['Anna','Boris','Clara','Dmitri','Elena','Fedor','Galina','Hugo','Irina','Jakob','Kira','Lev','Maria','Nikita','Olga','Pavel',
  'Raisa','Sergei','Tatiana','Ulyana','Viktor','Wanda','Yuri','Zoya']`;
export const FAMILIES = `ARRAY['Ivanov','Smirnov','Kuznetsov','Popov','Vasiliev','Petrov','Sokolov','Mikhailov','Novikov','Fedorov','Morozov','Volkov',
  'Alekseev','Lebedev','Semenov','Egorov','Pavlov','Kozlov','Stepanov']`;

/** Filling an index row by row takes many times as long as building it on a full table. Unique ones stay: the statements need them. */
export const LIFT_INDEXES = [
  `CREATE TABLE bench_indexes AS SELECT i.indexrelid::regclass::text AS name, replace(pg_get_indexdef(i.indexrelid), ' ON ONLY ', ' ON ') AS definition FROM pg_index i
   WHERE i.indrelid IN ('users'::regclass, 'transactions'::regclass, 'subscriptions'::regclass, 'ledger_entries'::regclass,
     'payments'::regclass) AND NOT i.indisunique`,
  `DO $$ DECLARE name text; BEGIN
     FOR name IN SELECT b.name FROM bench_indexes b LOOP EXECUTE 'DROP INDEX ' || name; END LOOP;
   END $$`,
];
export const PUT_INDEXES_BACK = `DO $$ DECLARE definition text; BEGIN
     FOR definition IN SELECT b.definition FROM bench_indexes b LOOP EXECUTE definition; END LOOP;
     DROP TABLE bench_indexes;
   END $$`;

/** What triggers would have counted. */
export const RECOUNT_CORE = [
  `SELECT recount_users()`,
  `SELECT recount_user_days()`,
  `SELECT recount_user_stats()`,
  `SELECT recount_squads()`,
  `SELECT recount_subscriptions()`,
  `SELECT recount_payments()`,
];

/** What the counting jobs would have counted: all of it. */
export const RECOUNT_SALES = [
  `INSERT INTO transaction_day_counts (day, type, payment_method, is_completed, total, amount_kopeks)
   SELECT (created_at AT TIME ZONE 'UTC')::date, type, coalesce(payment_method, ''), is_completed, count(*), sum(abs(amount_kopeks))
   FROM transactions WHERE NOT is_internal GROUP BY 1, 2, 3, 4`,
  `INSERT INTO transaction_count_mark (id, through_id, seen_id, wallet_kopeks)
   SELECT 1, max(id), max(id), (SELECT sum(balance_kopeks) FROM users) FROM transactions ON CONFLICT (id) DO UPDATE SET
     through_id = EXCLUDED.through_id, seen_id = EXCLUDED.seen_id, wallet_kopeks = EXCLUDED.wallet_kopeks`,
  `SELECT recount_statistics('UTC')`,
  `SELECT count_sales(2147483647)`,
];

/**
 * Statements in order. Triggers are off meanwhile; their counters are recounted at the end.
 * @param passwordHash of `BENCH_PASSWORD`
 */
export function seedStatements({ users, transactions, withLedger }: SeedSize, passwordHash: string): string[] {
  return [
    `SET session_replication_role = replica`,
    ...LIFT_INDEXES,
    `INSERT INTO server_squads (squad_uuid, display_name) VALUES ('${BENCH_SQUAD}', 'Benchmark') ON CONFLICT DO NOTHING`,
    `INSERT INTO tariffs (name, traffic_limit_gb, device_limit, allowed_squads, period_prices)
     VALUES ('${BENCH_TARIFF}', 100, 2, '["${BENCH_SQUAD}"]', '{"30": 9900}')`,
    `INSERT INTO users (messenger_id, username, first_name, last_name, email, email_verified, email_verified_at, password_hash, status,
       balance_kopeks, referral_code, promo_group_id, created_at, updated_at, last_activity)
     SELECT 100000000000 + n, lower((${NAMES})[1 + n % 24]) || n, (${NAMES})[1 + n % 24], (${FAMILIES})[1 + n * 7 % 19],
       lower((${FAMILIES})[1 + n * 7 % 19]) || n || '@example.com', true, now(), '${passwordHash}',
       CASE WHEN n % 50 = 0 THEN 'blocked' WHEN n % 97 = 0 THEN 'deleted' ELSE 'active' END, 0,
       'ref' || lpad(to_hex(n), 8, '0'), (SELECT id FROM promo_groups WHERE is_default),
       now() - (${users} - n)::float8 / ${users} * interval '700 days', now(), now() + interval '1 day'
     FROM generate_series(1, ${users}) AS n`,
    `INSERT INTO admin_roles (name, level, permissions) VALUES ('Benchmark', 900, '["users:read", "payments:read"]')`,
    `INSERT INTO user_roles (user_id, role_id) SELECT min(u.id), max(r.id) FROM users u, admin_roles r WHERE u.status = 'active' AND r.name = 'Benchmark'`,
    `INSERT INTO subscriptions (user_id, status, is_trial, start_date, end_date, traffic_limit_gb, device_limit, connected_squads, tariff_id,
       subscription_url, provision_state, provision_version, provision_synced_version, created_at)
     SELECT id, 'active', false, now() - interval '20 days', now() + (10 + id % 300) * interval '1 day', 100, 2, '["${BENCH_SQUAD}"]',
       (SELECT max(id) FROM tariffs), 'https://panel.example/sub/' || id, 'synced', 1, 1, created_at
     FROM users WHERE username IS NOT NULL AND id % 2 = 0`,
    ...transactionStatements(users, transactions),
    ...paymentStatements(users),
    ...(withLedger ? ledgerStatements() : []),
    PUT_INDEXES_BACK,
    `SET session_replication_role = origin`,
    // The counts are joins of whole tables, whose sizes the planner does not know yet.
    `ANALYZE`,
    ...RECOUNT_CORE,
    ...RECOUNT_SALES,
    // As the database's own upkeep does after a load like this.
    `VACUUM (ANALYZE)`,
  ];
}

/** A first deposit for every user, then purchases and deposits spread over users and two years. */
export function transactionStatements(users: number, transactions: number): string[] {
  const columns =
    'user_id, type, amount_kopeks, description, payment_method, external_id, is_completed, completed_at, created_at';
  return [
    `INSERT INTO transactions (${columns})
     SELECT id, 'deposit', ${FIRST_DEPOSIT}, 'First deposit', 'manual', NULL, true, created_at, created_at FROM users WHERE username IS NOT NULL`,
    `INSERT INTO transactions (${columns})
     SELECT u.id, CASE WHEN n % 10 < 6 THEN 'deposit' ELSE 'subscription_payment' END, CASE WHEN n % 10 < 6 THEN 50000 ELSE -9900 END,
       'Movement ' || n, CASE n % 10 WHEN 0 THEN 'sandbox' WHEN 1 THEN 'messenger_stars' WHEN 2 THEN 'manual' ELSE
         CASE WHEN n % 10 < 6 THEN 'yookassa' ELSE 'balance' END END,
       CASE WHEN n % 10 < 6 THEN 'ext-' || n END, n % 1000 <> 0, now(), now() - (${transactions} - n)::float8 / ${transactions} * interval '730 days'
     FROM generate_series(1, ${Math.max(0, transactions - users)}) AS n
     JOIN users u ON u.id = (SELECT min(id) FROM users) + (n::bigint * 7919 % ${users})::int`,
  ];
}

/** An invoice for every user, spread over two years: two of three paid by the first deposit, some pending, the others expired. */
export function paymentStatements(users: number): string[] {
  return [
    `INSERT INTO payments (method, user_id, order_id, external_id, amount_kopeks, status, outcome, is_paid, paid_at, transaction_id, created_at, updated_at)
     SELECT (ARRAY['yookassa','cryptobot','platega','wata','freekassa'])[1 + n % 5], u.id, 'order-' || md5(n::text), 'bench-' || n, 10000 + n % 500 * 100,
       CASE WHEN n % 3 > 0 THEN 'succeeded' WHEN n % 300 = 0 THEN 'pending' ELSE 'canceled' END,
       CASE WHEN n % 3 > 0 THEN 'paid' WHEN n % 300 = 0 THEN 'pending' ELSE 'expired' END, n % 3 > 0,
       CASE WHEN n % 3 > 0 THEN now() END, CASE WHEN n % 3 > 0 THEN t.id END,
       now() - (${users} - n)::float8 / ${users} * interval '730 days', now()
     FROM generate_series(1, ${users}) AS n JOIN users u ON u.id = (SELECT min(id) FROM users) + (n::bigint * 7919 % ${users})::int
     JOIN transactions t ON t.user_id = u.id AND t.description = 'First deposit'`,
  ];
}

function ledgerStatements(): string[] {
  return [
    `INSERT INTO ledger_accounts (kind, key, user_id) SELECT 'user_wallet', 'wallet:' || id, id FROM users WHERE username IS NOT NULL`,
    `INSERT INTO ledger_accounts (kind, key) VALUES ('manual_adjustment', 'manual_adjustment') ON CONFLICT DO NOTHING`,
    `INSERT INTO ledger_entries (transaction_id, account_id, kopeks, created_at)
     SELECT t.id, a.id, t.amount_kopeks, t.created_at FROM transactions t JOIN ledger_accounts a ON a.user_id = t.user_id WHERE t.is_completed
     UNION ALL SELECT t.id, (SELECT id FROM ledger_accounts WHERE key = 'manual_adjustment'), -t.amount_kopeks, t.created_at
     FROM transactions t WHERE t.is_completed`,
    `UPDATE users u SET balance_kopeks = w.total FROM (
       SELECT a.user_id, sum(e.kopeks) AS total FROM ledger_accounts a JOIN ledger_entries e ON e.account_id = a.id
       WHERE a.kind = 'user_wallet' GROUP BY a.user_id) w WHERE w.user_id = u.id`,
  ];
}
