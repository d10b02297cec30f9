/**
 * Each write as one hand-written statement that leaves the same rows for money as the service does (docs/performance.md): the row of the
 * `Idempotency-Key` with its answer, the movement with its ledger entries and events, the subscription, the callback with its job, the row
 * of the audit log for a list that an administrator reads.
 */

/**
 * `$1` user, `$2` kopeks, `$3` description, `$4` now, `$5` actor, `$6` key, `$7` hash of the body. The key comes last, with the answer: a
 * used key then violates its primary key and takes the movement back.
 */
export const ADJUST_BALANCE = `WITH posted AS (
    SELECT p.* FROM post_transaction($1::int, 'deposit', $2::bigint, 'manual_adjustment', 'manual_adjustment', 'manual', NULL, $3,
      $4::timestamptz) p)
  INSERT INTO idempotency_keys (actor, key, operation, body_hash, response, created_at)
  SELECT $5, $6, 'bare.adjust-balance', $7,
    json_build_object('transaction_id', posted.transaction_id, 'balance_kopeks', posted.balance_kopeks), $4::timestamptz
  FROM posted WHERE posted.outcome = 'posted' RETURNING response`;

/** `$1` user, `$2` tariff, `$3` days, `$4` now, `$5` actor, `$6` key, `$7` hash of the body. Charge, subscription and key with the answer. */
export const PURCHASE = `WITH tariff AS (
    SELECT id, (period_prices->>($3::int)::text)::bigint AS price, traffic_limit_gb, device_limit, allowed_squads FROM tariffs
    WHERE id = $2::int AND is_active),
  posted AS (
    SELECT p.* FROM tariff t, post_transaction($1::int, 'subscription_payment', -t.price, 'sales_revenue', 'sales:tariff', 'balance', NULL,
      'Tariff', $4::timestamptz) p),
  bought AS (
    INSERT INTO subscriptions AS s (user_id, status, is_trial, start_date, end_date, traffic_limit_gb, device_limit, connected_squads, tariff_id)
    SELECT $1::int, 'active', false, $4::timestamptz, $4::timestamptz + $3::int * interval '1 day', t.traffic_limit_gb, t.device_limit,
      t.allowed_squads, t.id
    FROM tariff t, posted p WHERE p.outcome = 'posted'
    ON CONFLICT (user_id) DO UPDATE SET status = 'active', is_trial = false, tariff_id = EXCLUDED.tariff_id,
      end_date = greatest(s.end_date, $4::timestamptz) + $3::int * interval '1 day', updated_at = $4::timestamptz
    RETURNING s.id, s.status, s.end_date)
  INSERT INTO idempotency_keys (actor, key, operation, body_hash, response, created_at)
  SELECT $5, $6, 'bare.purchase', $7, json_build_object('subscription_id', bought.id, 'status', bought.status, 'end_date', bought.end_date,
    'balance_kopeks', posted.balance_kopeks), $4::timestamptz
  FROM posted, bought RETURNING response`;

/** `$1` event, `$2` invoice, `$3` body, `$4` headers, `$5` now. The callback and the job that processes it, with the terms of its queue. */
export const STORE_CALLBACK = `WITH stored AS (
    INSERT INTO provider_callbacks (provider, event_key, external_id, body, headers, received_at)
    VALUES ('sandbox', $1, $2, $3, $4::jsonb, $5::timestamptz) ON CONFLICT (provider, event_key) DO NOTHING RETURNING id)
  SELECT send_job('payments.callback', jsonb_build_object('callbackId', id)) AS sent FROM stored`;

/** `$1` administrator, `$2` now. */
export const AUDIT_READ = `INSERT INTO admin_audit_log (user_id, actor_name, action, resource_type, details, ip_address, status, request_method,
    request_path, created_at)
  SELECT u.id, left(concat_ws(' ', u.first_name, u.last_name), 255), 'users:read', 'users',
    '{"method": "GET", "path": "/cabinet/admin/users", "query_params": {"limit": 50}}', '127.0.0.1', 'success', 'GET', '/cabinet/admin/users',
    $2::timestamptz
  FROM users u WHERE u.id = $1::int`;
