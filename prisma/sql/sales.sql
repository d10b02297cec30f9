-- What is bought from the balance, in two statements: open_sale() locks and reads what the rules decide from, complete_sale() writes what
-- they decided (src/domain/subscriptions/purchase). Each statement inside of a function has a snapshot of its own, taken with the locks of
-- the statements before it in hand.

-- Claims the idempotency key, if there is one, then locks the user, the user's subscription and the tariff ordered; the current tariff is
-- locked when p_locks_current. A locked tariff cannot be deleted until the end of the transaction; its columns may change (spec 02 H18).
-- Answers one row. claimed is false for a key that was used before: then known is its row, which is absent after a concurrent deletion, and
-- nothing was locked. buyer is null for an unknown user; the tariffs are those of tariff_json(). A second caller with the same key waits
-- for the first one.
CREATE OR REPLACE FUNCTION open_sale(
  p_user_id integer, p_ordered_id bigint, p_locks_current boolean,
  p_actor text, p_key text, p_operation text, p_body_hash text, p_now timestamptz)
RETURNS TABLE (claimed boolean, known idempotency_keys, buyer users, buyer_group promo_groups, current_subscription subscriptions,
  current_tariff jsonb, ordered_tariff jsonb) LANGUAGE plpgsql AS $$
DECLARE
  v_tariff tariffs;
  v_group_id integer;
BEGIN
  claimed := true;
  IF p_key IS NOT NULL THEN
    INSERT INTO idempotency_keys (actor, key, operation, body_hash, created_at) VALUES (p_actor, p_key, p_operation, p_body_hash, p_now)
    ON CONFLICT (actor, key) DO NOTHING;
    IF NOT FOUND THEN
      claimed := false;
      SELECT k.* INTO known FROM idempotency_keys k WHERE k.actor = p_actor AND k.key = p_key;
      RETURN NEXT;
      RETURN;
    END IF;
  END IF;
  SELECT u.* INTO buyer FROM users u WHERE u.id = p_user_id FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN NEXT;
    RETURN;
  END IF;
  SELECT s.* INTO current_subscription FROM subscriptions s WHERE s.user_id = p_user_id FOR UPDATE;
  -- As a variable: in the condition it would be computed for every group.
  v_group_id := primary_promo_group_id(p_user_id, buyer.promo_group_id);
  SELECT g.* INTO buyer_group FROM promo_groups g WHERE g.id = v_group_id;
  IF p_locks_current THEN
    SELECT t.* INTO v_tariff FROM tariffs t WHERE t.id = current_subscription.tariff_id FOR KEY SHARE OF t;
  ELSE
    SELECT t.* INTO v_tariff FROM tariffs t WHERE t.id = current_subscription.tariff_id;
  END IF;
  IF FOUND THEN
    current_tariff := tariff_json(v_tariff);
  END IF;
  IF p_ordered_id IS NOT NULL THEN
    SELECT t.* INTO v_tariff FROM tariffs t WHERE t.id = p_ordered_id FOR KEY SHARE OF t;
    IF FOUND THEN
      ordered_tariff := tariff_json(v_tariff);
    END IF;
  END IF;
  RETURN NEXT;
END $$;

-- Writes a sale under the locks of open_sale(): the movement of money, the subscription with its request to the panel, its traffic
-- purchases, notices and servers, the user's flags, the conversion and the row of the dashboard feed; the saved order goes
-- (spec 02 sections 3 and 15, H7). Keys of p_sale, all of them present:
--   user_id, subscription_id (null: a new subscription), changes (columns of subscriptions), resets_traffic, resets_devices
--   amount_kopeks, charge {kind, key, description} (null: no movement), event {type, extra} (null: none)
--   drops_purchases, forgets_notices, marks_paid, consumes_offer, traffic_purchase {traffic_gb, expires_at} (null: none)
--   cart_key, ends_carts (modes of the orders that go; null: any), server_prices {squad: kopeks}
--   conversion {trial_duration_days, first_paid_period_days} (null: none)
-- Answers the balance, the transaction and the subscription as it is now. outcome is 'posted', 'free' without a movement, or a refusal of
-- post_transaction(), and then nothing was written.
CREATE OR REPLACE FUNCTION complete_sale(p_sale jsonb, p_now timestamptz)
RETURNS TABLE (outcome text, transaction_id integer, balance_kopeks bigint, sold subscriptions) LANGUAGE plpgsql AS $$
DECLARE
  v_user_id integer := p_sale ->> 'user_id';
  v_subscription_id integer := p_sale ->> 'subscription_id';
  v_amount bigint := p_sale ->> 'amount_kopeks';
  v_charge jsonb := nullif(p_sale -> 'charge', 'null');
  v_changes jsonb := p_sale -> 'changes';
  v_resets_traffic boolean := p_sale ->> 'resets_traffic';
  v_resets_devices boolean := p_sale ->> 'resets_devices';
  v_marks_paid boolean := p_sale ->> 'marks_paid';
  v_consumes_offer boolean := p_sale ->> 'consumes_offer';
  v_new subscriptions;
BEGIN
  outcome := 'free';
  IF v_charge IS NOT NULL THEN
    SELECT p.outcome, p.transaction_id, p.balance_kopeks INTO outcome, transaction_id, balance_kopeks
    FROM post_transaction(v_user_id, 'subscription_payment', -v_amount, v_charge ->> 'kind', v_charge ->> 'key', 'balance', NULL,
      v_charge ->> 'description', p_now) p;
    IF outcome <> 'posted' THEN
      RETURN NEXT;
      RETURN;
    END IF;
  END IF;

  IF v_subscription_id IS NULL THEN
    v_new := with_push_requested(jsonb_populate_record(NULL::subscriptions, v_changes), v_resets_traffic, v_resets_devices, p_now);
    -- Columns that are not among the changes get their defaults.
    EXECUTE (
      SELECT format('INSERT INTO subscriptions (user_id, created_at, updated_at, %s) SELECT $1, $2, $2, %s RETURNING *',
        string_agg(quote_ident(c.name), ', '), string_agg('($3).' || quote_ident(c.name), ', '))
      FROM (SELECT jsonb_object_keys(v_changes) AS name UNION SELECT unnest(ARRAY['provision_state', 'provision_version',
        'provision_attempts', 'provision_reset_traffic', 'provision_reset_devices', 'provision_requested_at'])) c)
    INTO sold USING v_user_id, p_now, v_new;
  ELSE
    SELECT s.* INTO v_new FROM subscriptions s WHERE s.id = v_subscription_id;
    v_new := with_push_requested(jsonb_populate_record(v_new, v_changes), v_resets_traffic, v_resets_devices, p_now);
    UPDATE subscriptions s SET status = v_new.status, is_trial = v_new.is_trial, start_date = v_new.start_date, end_date = v_new.end_date,
      traffic_limit_gb = v_new.traffic_limit_gb, traffic_used_gb = v_new.traffic_used_gb,
      purchased_traffic_gb = v_new.purchased_traffic_gb, traffic_reset_at = v_new.traffic_reset_at, device_limit = v_new.device_limit,
      connected_squads = v_new.connected_squads, autopay_enabled = v_new.autopay_enabled,
      autopay_days_before = v_new.autopay_days_before, tariff_id = v_new.tariff_id, is_daily_paused = v_new.is_daily_paused,
      cancel_ended_autopay = v_new.cancel_ended_autopay, cancel_paused_daily = v_new.cancel_paused_daily,
      last_daily_charge_at = v_new.last_daily_charge_at, subscription_url = v_new.subscription_url,
      subscription_crypto_link = v_new.subscription_crypto_link, vpnpanel_short_uuid = v_new.vpnpanel_short_uuid,
      provision_state = v_new.provision_state, provision_version = v_new.provision_version,
      provision_attempts = v_new.provision_attempts, provision_error = v_new.provision_error,
      provision_reset_traffic = v_new.provision_reset_traffic, provision_reset_devices = v_new.provision_reset_devices,
      provision_requested_at = v_new.provision_requested_at, updated_at = p_now
    WHERE s.id = v_subscription_id RETURNING s.* INTO sold;
    IF (p_sale ->> 'drops_purchases')::boolean THEN
      DELETE FROM traffic_purchases t WHERE t.subscription_id = v_subscription_id;
    END IF;
    IF (p_sale ->> 'forgets_notices')::boolean THEN
      DELETE FROM sent_notifications n WHERE n.subscription_id = v_subscription_id;
    END IF;
  END IF;
  IF p_sale -> 'traffic_purchase' <> 'null' THEN
    INSERT INTO traffic_purchases (subscription_id, traffic_gb, expires_at, created_at)
    VALUES (sold.id, (p_sale #>> '{traffic_purchase,traffic_gb}')::integer, (p_sale #>> '{traffic_purchase,expires_at}')::timestamptz, p_now);
  END IF;
  DELETE FROM short_lived_entries e WHERE e.key = p_sale ->> 'cart_key'
    AND (p_sale -> 'ends_carts' = 'null' OR p_sale -> 'ends_carts' ? (e.value ->> 'cart_mode'));

  IF v_consumes_offer THEN
    -- An open invoice at a price that the discount has lowered is paid too late from now on (spec 10 M3).
    PERFORM release_offer(v_user_id);
  END IF;
  IF v_marks_paid OR v_consumes_offer THEN
    -- The place where a promo offer is used up.
    UPDATE users u SET has_had_paid_subscription = u.has_had_paid_subscription OR v_marks_paid, updated_at = p_now,
      promo_offer_discount_percent = CASE WHEN v_consumes_offer THEN 0 ELSE u.promo_offer_discount_percent END,
      promo_offer_discount_source = CASE WHEN v_consumes_offer THEN NULL ELSE u.promo_offer_discount_source END,
      promo_offer_discount_expires_at = CASE WHEN v_consumes_offer THEN NULL ELSE u.promo_offer_discount_expires_at END
    WHERE u.id = v_user_id AND (v_marks_paid AND NOT u.has_had_paid_subscription OR v_consumes_offer);
  END IF;
  IF p_sale -> 'conversion' <> 'null' THEN
    INSERT INTO subscription_conversions
      (user_id, converted_at, trial_duration_days, payment_method, first_payment_amount_kopeks, first_paid_period_days)
    VALUES (v_user_id, p_now, (p_sale #>> '{conversion,trial_duration_days}')::integer, 'balance', v_amount,
      (p_sale #>> '{conversion,first_paid_period_days}')::integer);
  END IF;
  IF p_sale -> 'event' <> 'null' THEN
    INSERT INTO subscription_events
      (event_type, user_id, subscription_id, transaction_id, amount_kopeks, currency, occurred_at, extra, created_at)
    VALUES (p_sale #>> '{event,type}', v_user_id, sold.id, complete_sale.transaction_id, v_amount, 'RUB', p_now,
      p_sale #> '{event,extra}', p_now);
  END IF;

  DELETE FROM subscription_servers l WHERE l.subscription_id = sold.id AND l.server_squad_id NOT IN (
    SELECT q.id FROM server_squads q WHERE sold.connected_squads @> to_jsonb(q.squad_uuid::text));
  INSERT INTO subscription_servers AS had (subscription_id, server_squad_id, paid_price_kopeks, connected_at)
  SELECT sold.id, q.id, coalesce((p_sale -> 'server_prices' ->> q.squad_uuid)::bigint, 0), p_now
  FROM server_squads q WHERE sold.connected_squads @> to_jsonb(q.squad_uuid::text)
  ON CONFLICT (subscription_id, server_squad_id) DO UPDATE SET paid_price_kopeks = had.paid_price_kopeks + EXCLUDED.paid_price_kopeks
    WHERE EXCLUDED.paid_price_kopeks > 0;
  RETURN NEXT;
END $$;
