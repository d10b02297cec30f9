-- What is bought from the balance, in two statements: open_sale() locks and reads what the rules decide from, complete_sale() writes what
-- they decided (src/domain/subscriptions/purchase). Each statement inside of a function has a snapshot of its own, taken with the locks of
-- the statements before it in hand.

-- Claims the idempotency key, if there is one, then locks the user, the user's subscription and the tariff ordered; the current tariff is
-- locked when p_locks_current. A locked tariff cannot be deleted until the end of the transaction; its columns may change (spec 02 H18).
-- Answers one row. claimed and known are those of claim_key(); when it is not claimed, nothing was locked. buyer is null for an unknown
-- user; the tariffs are those of tariff_json().
--- claims the idempotency key, locks and reads what a sale starts from
CREATE OR REPLACE FUNCTION open_sale(
  p_user_id integer, p_ordered_id bigint, p_locks_current boolean,
  p_actor text, p_key text, p_operation text, p_body_hash text, p_now timestamptz)
RETURNS TABLE (claimed boolean, known idempotency_keys, buyer users, buyer_group promo_groups, current_subscription subscriptions,
  current_tariff jsonb, ordered_tariff jsonb) LANGUAGE plpgsql AS $$
DECLARE
  v_claim record;
  v_tariff tariffs;
  v_group_id integer;
BEGIN
  SELECT c.* INTO v_claim FROM claim_key(p_actor, p_key, p_operation, p_body_hash, p_now) c;
  claimed := v_claim.claimed;
  IF NOT claimed THEN
    known := v_claim.known;
    RETURN NEXT;
    RETURN;
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

-- The columns of subscriptions that a sale may set, besides those of a request to the panel: the one list of them. A test compares it with
-- CHANGED_FIELDS of src/domain/subscriptions/types.ts.
--- the columns of subscriptions that a sale may set
CREATE OR REPLACE FUNCTION sale_columns() RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
  SELECT ARRAY['status', 'is_trial', 'start_date', 'end_date', 'traffic_limit_gb', 'traffic_used_gb', 'purchased_traffic_gb',
    'traffic_reset_at', 'device_limit', 'connected_squads', 'tariff_id', 'is_daily_paused', 'cancel_ended_autopay', 'cancel_paused_daily',
    'last_daily_charge_at', 'subscription_url', 'subscription_crypto_link', 'vpnpanel_short_uuid', 'autopay_enabled',
    'autopay_days_before']
$$;

-- Writes a sale under the locks of open_sale(): the movement of money, the subscription with its request to the panel, its traffic
-- purchases, notices and servers, the user's flags, the conversion and the row of the dashboard feed; the saved order goes
-- (spec 02 sections 3 and 15, H7). The keys of p_sale are the columns of v_sale below, which SaleRow of
-- src/domain/subscriptions/purchase/sale-row.ts has too; one that is absent is null, any other key is refused. What they mean:
--   subscription_id null: a new subscription; changes: columns of subscriptions, see sale_columns()
--   charge null: no movement; traffic_purchase, conversion, event null: none
--   ends_carts: modes of the saved orders that go, null: any; server_prices: {squad: kopeks}
-- Answers the balance, the transaction and the subscription as it is now. outcome is 'posted', 'free' without a movement, or a refusal of
-- post_transaction(), and then nothing was written.
--- writes a sale: money, subscription and all that depends on it
CREATE OR REPLACE FUNCTION complete_sale(p_sale jsonb, p_now timestamptz)
RETURNS TABLE (outcome text, transaction_id integer, balance_kopeks bigint, sold subscriptions) LANGUAGE plpgsql AS $$
DECLARE
  v_sale record;
  v_unknown jsonb;
  v_charge record;
  v_new subscriptions;
  v_columns text[];
BEGIN
  SELECT r.* INTO v_sale FROM jsonb_to_record(p_sale) AS r (
    user_id integer, subscription_id integer, changes jsonb, resets_traffic boolean, resets_devices boolean,
    amount_kopeks bigint, charge jsonb, event jsonb, drops_purchases boolean, forgets_notices boolean, marks_paid boolean,
    consumes_offer boolean, traffic_purchase jsonb, cart_key text, ends_carts jsonb, server_prices jsonb, conversion jsonb);
  v_unknown := p_sale - ARRAY(SELECT jsonb_object_keys(to_jsonb(v_sale))) || (v_sale.changes - sale_columns());
  IF v_unknown <> '{}' THEN
    RAISE EXCEPTION 'complete_sale() does not know the keys %', (SELECT string_agg(k.name, ', ' ORDER BY k.name)
      FROM jsonb_object_keys(v_unknown) AS k (name)) USING ERRCODE = 'invalid_parameter_value';
  END IF;
  outcome := 'free';
  IF v_sale.charge IS NOT NULL THEN
    SELECT r.* INTO v_charge FROM jsonb_to_record(v_sale.charge) AS r (kind text, key text, description text);
    SELECT p.outcome, p.transaction_id, p.balance_kopeks INTO outcome, transaction_id, balance_kopeks
    FROM post_transaction(v_sale.user_id, 'subscription_payment', -v_sale.amount_kopeks, v_charge.kind, v_charge.key, 'balance', NULL,
      v_charge.description, p_now) p;
    IF outcome <> 'posted' THEN
      RETURN NEXT;
      RETURN;
    END IF;
  END IF;

  IF v_sale.subscription_id IS NULL THEN
    v_new := with_push_requested(
      jsonb_populate_record(NULL::subscriptions, v_sale.changes), v_sale.resets_traffic, v_sale.resets_devices, p_now);
    -- Columns that are not among the changes get their defaults.
    v_columns := ARRAY(SELECT jsonb_object_keys(v_sale.changes)) || ARRAY['provision_state', 'provision_version', 'provision_attempts',
      'provision_error', 'provision_reset_traffic', 'provision_reset_devices', 'provision_requested_at'];
    EXECUTE (
      SELECT format('INSERT INTO subscriptions (user_id, created_at, updated_at, %s) SELECT $1, $2, $2, %s RETURNING *',
        string_agg(quote_ident(c.name), ', '), string_agg('($3).' || quote_ident(c.name), ', '))
      FROM unnest(v_columns) AS c (name))
    INTO sold USING v_sale.user_id, p_now, v_new;
  ELSE
    SELECT s.* INTO v_new FROM subscriptions s WHERE s.id = v_sale.subscription_id;
    v_new := with_push_requested(
      jsonb_populate_record(v_new, v_sale.changes), v_sale.resets_traffic, v_sale.resets_devices, p_now);
    -- All columns, so that the plan of the statement is kept.
    UPDATE subscriptions s SET updated_at = p_now, status = v_new.status, is_trial = v_new.is_trial, start_date = v_new.start_date,
      end_date = v_new.end_date, traffic_limit_gb = v_new.traffic_limit_gb, traffic_used_gb = v_new.traffic_used_gb,
      purchased_traffic_gb = v_new.purchased_traffic_gb, traffic_reset_at = v_new.traffic_reset_at, device_limit = v_new.device_limit,
      connected_squads = v_new.connected_squads, tariff_id = v_new.tariff_id, is_daily_paused = v_new.is_daily_paused,
      cancel_ended_autopay = v_new.cancel_ended_autopay, cancel_paused_daily = v_new.cancel_paused_daily,
      last_daily_charge_at = v_new.last_daily_charge_at, subscription_url = v_new.subscription_url,
      subscription_crypto_link = v_new.subscription_crypto_link, vpnpanel_short_uuid = v_new.vpnpanel_short_uuid,
      autopay_enabled = v_new.autopay_enabled, autopay_days_before = v_new.autopay_days_before, provision_state = v_new.provision_state,
      provision_version = v_new.provision_version, provision_attempts = v_new.provision_attempts, provision_error = v_new.provision_error,
      provision_reset_traffic = v_new.provision_reset_traffic, provision_reset_devices = v_new.provision_reset_devices,
      provision_requested_at = v_new.provision_requested_at
    WHERE s.id = v_sale.subscription_id RETURNING s.* INTO sold;
    IF v_sale.drops_purchases THEN
      DELETE FROM traffic_purchases t WHERE t.subscription_id = v_sale.subscription_id;
    END IF;
    IF v_sale.forgets_notices THEN
      DELETE FROM sent_notifications n WHERE n.subscription_id = v_sale.subscription_id;
    END IF;
  END IF;
  IF v_sale.traffic_purchase IS NOT NULL THEN
    INSERT INTO traffic_purchases (subscription_id, traffic_gb, expires_at, created_at)
    SELECT sold.id, r.traffic_gb, r.expires_at, p_now
    FROM jsonb_to_record(v_sale.traffic_purchase) AS r (traffic_gb integer, expires_at timestamptz);
  END IF;
  DELETE FROM short_lived_entries e WHERE e.key = v_sale.cart_key
    AND (v_sale.ends_carts IS NULL OR v_sale.ends_carts ? (e.value ->> 'cart_mode'));

  IF v_sale.consumes_offer THEN
    -- An open invoice at a price that the discount has lowered is paid too late from now on (spec 10 M3).
    PERFORM release_offer(v_sale.user_id);
  END IF;
  IF v_sale.marks_paid OR v_sale.consumes_offer THEN
    -- The place where a promo offer is used up.
    UPDATE users u SET has_had_paid_subscription = u.has_had_paid_subscription OR v_sale.marks_paid, updated_at = p_now,
      promo_offer_discount_percent = CASE WHEN v_sale.consumes_offer THEN 0 ELSE u.promo_offer_discount_percent END,
      promo_offer_discount_source = CASE WHEN v_sale.consumes_offer THEN NULL ELSE u.promo_offer_discount_source END,
      promo_offer_discount_expires_at = CASE WHEN v_sale.consumes_offer THEN NULL ELSE u.promo_offer_discount_expires_at END
    WHERE u.id = v_sale.user_id AND (v_sale.marks_paid AND NOT u.has_had_paid_subscription OR v_sale.consumes_offer);
  END IF;
  IF v_sale.conversion IS NOT NULL THEN
    INSERT INTO subscription_conversions
      (user_id, converted_at, trial_duration_days, payment_method, first_payment_amount_kopeks, first_paid_period_days)
    SELECT v_sale.user_id, p_now, r.trial_duration_days, 'balance', v_sale.amount_kopeks, r.first_paid_period_days
    FROM jsonb_to_record(v_sale.conversion) AS r (trial_duration_days integer, first_paid_period_days integer);
  END IF;
  IF v_sale.event IS NOT NULL THEN
    INSERT INTO subscription_events
      (event_type, user_id, subscription_id, transaction_id, amount_kopeks, currency, occurred_at, extra, created_at)
    SELECT r.type, v_sale.user_id, sold.id, complete_sale.transaction_id, v_sale.amount_kopeks, 'RUB', p_now, r.extra, p_now
    FROM jsonb_to_record(v_sale.event) AS r (type text, extra jsonb);
  END IF;

  DELETE FROM subscription_servers l WHERE l.subscription_id = sold.id AND l.server_squad_id NOT IN (
    SELECT q.id FROM server_squads q WHERE sold.connected_squads @> to_jsonb(q.squad_uuid::text));
  INSERT INTO subscription_servers AS had (subscription_id, server_squad_id, paid_price_kopeks, connected_at)
  SELECT sold.id, q.id, coalesce((v_sale.server_prices ->> q.squad_uuid)::bigint, 0), p_now
  FROM server_squads q WHERE sold.connected_squads @> to_jsonb(q.squad_uuid::text)
  ON CONFLICT (subscription_id, server_squad_id) DO UPDATE SET paid_price_kopeks = had.paid_price_kopeks + EXCLUDED.paid_price_kopeks
    WHERE EXCLUDED.paid_price_kopeks > 0;
  RETURN NEXT;
END $$;
