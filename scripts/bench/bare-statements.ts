/** Each write as one hand-written statement: the minimum with the same effect on the relevant rows. */

/** `$1` user, `$2` kopeks, `$3` description, `$4` now. Money, ledger, event; no key, no answer about the user. */
export const ADJUST_BALANCE = `SELECT outcome, transaction_id, balance_kopeks FROM post_transaction(
  $1::int, 'deposit', $2::bigint, 'manual_adjustment', 'manual_adjustment', 'manual', NULL, $3, $4::timestamptz)`;

/** `$1` user, `$2` tariff, `$3` days, `$4` now. Charge and subscription; no discounts, servers, panel job, events of the sale. */
export const PURCHASE = `WITH tariff AS (
    SELECT id, (period_prices->>($3::int)::text)::bigint AS price, traffic_limit_gb, device_limit, allowed_squads FROM tariffs
    WHERE id = $2::int AND is_active),
  posted AS (
    SELECT p.* FROM tariff t, post_transaction($1::int, 'subscription_payment', -t.price, 'sales_revenue', 'sales:tariff', 'balance', NULL,
      'Tariff', $4::timestamptz) p)
  INSERT INTO subscriptions AS s (user_id, status, is_trial, start_date, end_date, traffic_limit_gb, device_limit, connected_squads, tariff_id)
  SELECT $1::int, 'active', false, $4::timestamptz, $4::timestamptz + $3::int * interval '1 day', t.traffic_limit_gb, t.device_limit,
    t.allowed_squads, t.id
  FROM tariff t, posted p WHERE p.outcome = 'posted'
  ON CONFLICT (user_id) DO UPDATE SET status = 'active', is_trial = false, tariff_id = EXCLUDED.tariff_id,
    end_date = greatest(s.end_date, $4::timestamptz) + $3::int * interval '1 day', updated_at = $4::timestamptz
  RETURNING s.id, s.status, s.end_date`;

/** `$1` event, `$2` invoice, `$3` body, `$4` headers, `$5` now. */
export const STORE_CALLBACK = `WITH stored AS (
    INSERT INTO provider_callbacks (provider, event_key, external_id, body, headers, received_at)
    VALUES ('sandbox', $1, $2, $3, $4::jsonb, $5::timestamptz) ON CONFLICT (provider, event_key) DO NOTHING RETURNING id)
  INSERT INTO jobs.job (name, data, policy, retry_limit, retry_delay, retry_backoff, expire_seconds)
  SELECT 'payments.callback', jsonb_build_object('callbackId', id), 'standard', 15, 2, true, 120 FROM stored RETURNING 1 AS sent`;
