-- Money moves through post_transaction() alone; events leave through emit_event() (spec 00, Ledger and Outside effects).

-- Refuses what did not come through post_transaction(), which switches this transaction-local flag on and off again.
CREATE FUNCTION refuse_direct_money() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('app.posting', true) IS DISTINCT FROM '1' THEN
    RAISE EXCEPTION 'money moves only through post_transaction()' USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NEW;
END $$;

CREATE FUNCTION refuse_rewriting_history() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END $$;

CREATE TRIGGER users_balance_guard BEFORE UPDATE OF balance_kopeks ON users FOR EACH ROW
  WHEN (OLD.balance_kopeks IS DISTINCT FROM NEW.balance_kopeks) EXECUTE FUNCTION refuse_direct_money();
CREATE TRIGGER users_start_empty BEFORE INSERT ON users FOR EACH ROW
  WHEN (NEW.balance_kopeks <> 0) EXECUTE FUNCTION refuse_direct_money();

CREATE TRIGGER ledger_entries_guard BEFORE INSERT ON ledger_entries FOR EACH ROW EXECUTE FUNCTION refuse_direct_money();
CREATE TRIGGER ledger_entries_append_only BEFORE UPDATE OR DELETE ON ledger_entries FOR EACH ROW EXECUTE FUNCTION refuse_rewriting_history();

CREATE TRIGGER transactions_guard BEFORE INSERT ON transactions FOR EACH ROW EXECUTE FUNCTION refuse_direct_money();
CREATE TRIGGER transactions_no_delete BEFORE DELETE ON transactions FOR EACH ROW EXECUTE FUNCTION refuse_rewriting_history();
CREATE TRIGGER transactions_amount_fixed BEFORE UPDATE OF amount_kopeks, user_id, type, payment_method, external_id ON transactions
  FOR EACH ROW WHEN (OLD.amount_kopeks <> NEW.amount_kopeks OR OLD.user_id <> NEW.user_id OR OLD.type <> NEW.type
    OR OLD.payment_method IS DISTINCT FROM NEW.payment_method OR OLD.external_id IS DISTINCT FROM NEW.external_id)
  EXECUTE FUNCTION refuse_rewriting_history();

CREATE FUNCTION ledger_account_id(p_kind text, p_key text, p_user_id integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  v_id integer;
BEGIN
  SELECT id INTO v_id FROM ledger_accounts WHERE key = p_key;
  IF v_id IS NULL THEN
    INSERT INTO ledger_accounts (kind, key, user_id) VALUES (p_kind, p_key, p_user_id) ON CONFLICT (key) DO NOTHING RETURNING id INTO v_id;
    IF v_id IS NULL THEN
      SELECT id INTO v_id FROM ledger_accounts WHERE key = p_key;
    END IF;
  END IF;
  RETURN v_id;
END $$;

-- Records one event: the row, a pending delivery and its job for each webhook that wants it, and the wake-up that
-- PostgreSQL hands out with the commit.
CREATE FUNCTION emit_event(p_type text, p_payload jsonb, p_audience text, p_user_id integer, p_now timestamptz)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  v_id bigint;
BEGIN
  INSERT INTO domain_events (type, payload, audience, user_id, created_at)
  VALUES (p_type, p_payload, p_audience, p_user_id, p_now) RETURNING id INTO v_id;
  IF p_audience = 'feed' AND EXISTS (SELECT 1 FROM webhooks w WHERE w.event_type = p_type AND w.is_active) THEN
    WITH delivery AS (
      INSERT INTO webhook_deliveries (webhook_id, event_id, event_type, payload, status, created_at, next_retry_at)
      SELECT w.id, v_id, p_type, p_payload, 'pending', p_now, p_now FROM webhooks w WHERE w.event_type = p_type AND w.is_active
      RETURNING id)
    INSERT INTO jobs.job (name, data, retry_limit, retry_delay, retry_backoff, expire_seconds)
    SELECT 'webhooks.deliver', jsonb_build_object('deliveryId', delivery.id), 5, 5, true, 120 FROM delivery;
  END IF;
  PERFORM pg_notify('domain_events', v_id::text);
  RETURN v_id;
END $$;

-- Posts one movement. p_amount is signed by its effect on the owner: +50000 is a credit of 500 rubles, -50000 a debit.
-- The other side goes to the account (p_counter_kind, p_counter_key). With p_instead_kind/p_instead_key the money does not
-- pass the wallet (a purchase paid straight to a provider). (p_method, p_external_id) is the guard against doubles.
-- outcome: posted | duplicate | insufficient | no_user. Only 'posted' has changed anything.
CREATE FUNCTION post_transaction(
  p_user_id integer, p_type text, p_amount bigint, p_counter_kind text, p_counter_key text, p_method text, p_external_id text,
  p_description text, p_now timestamptz, p_created_at timestamptz DEFAULT NULL, p_internal boolean DEFAULT false,
  p_instead_kind text DEFAULT NULL, p_instead_key text DEFAULT NULL)
RETURNS TABLE (outcome text, transaction_id integer, balance_kopeks bigint) LANGUAGE plpgsql AS $$
DECLARE
  v_balance bigint;
  v_transaction integer;
  v_own_account integer;
  v_counter_account integer;
BEGIN
  SELECT u.balance_kopeks INTO v_balance FROM users u WHERE u.id = p_user_id FOR UPDATE;
  IF NOT FOUND THEN
    RETURN QUERY SELECT 'no_user'::text, NULL::integer, NULL::bigint;
    RETURN;
  END IF;
  IF p_external_id IS NOT NULL THEN
    SELECT t.id INTO v_transaction FROM transactions t WHERE t.payment_method = p_method AND t.external_id = p_external_id;
    IF FOUND THEN
      RETURN QUERY SELECT 'duplicate'::text, v_transaction, v_balance;
      RETURN;
    END IF;
  END IF;
  IF p_instead_key IS NULL AND v_balance + p_amount < 0 THEN
    RETURN QUERY SELECT 'insufficient'::text, NULL::integer, v_balance;
    RETURN;
  END IF;

  PERFORM set_config('app.posting', '1', true);
  -- Two users racing for one external id cannot both see "no row": the unique key decides, the loser is a duplicate.
  INSERT INTO transactions (user_id, type, amount_kopeks, description, payment_method, external_id, is_completed, is_internal, completed_at, created_at)
  VALUES (p_user_id, p_type, p_amount, p_description, p_method, p_external_id, true, p_internal, p_now, coalesce(p_created_at, p_now))
  ON CONFLICT (payment_method, external_id) DO NOTHING
  RETURNING id INTO v_transaction;
  IF v_transaction IS NULL THEN
    PERFORM set_config('app.posting', '', true);
    SELECT t.id INTO v_transaction FROM transactions t WHERE t.payment_method = p_method AND t.external_id = p_external_id;
    RETURN QUERY SELECT 'duplicate'::text, v_transaction, v_balance;
    RETURN;
  END IF;

  IF p_instead_key IS NULL THEN
    v_own_account := ledger_account_id('user_wallet', 'wallet:' || p_user_id, p_user_id);
    UPDATE users u SET balance_kopeks = u.balance_kopeks + p_amount WHERE u.id = p_user_id RETURNING u.balance_kopeks INTO v_balance;
  ELSE
    v_own_account := ledger_account_id(p_instead_kind, p_instead_key, NULL);
  END IF;
  v_counter_account := ledger_account_id(p_counter_kind, p_counter_key, NULL);
  INSERT INTO ledger_entries (transaction_id, account_id, kopeks, created_at)
  VALUES (v_transaction, v_own_account, p_amount, p_now), (v_transaction, v_counter_account, -p_amount, p_now);
  PERFORM set_config('app.posting', '', true);

  IF NOT p_internal THEN
    PERFORM emit_event(
      CASE WHEN p_type = 'deposit' THEN 'payment.completed' ELSE 'transaction.created' END,
      jsonb_build_object('transaction_id', v_transaction, 'user_id', p_user_id, 'type', p_type, 'amount_kopeks', abs(p_amount),
        'amount_rubles', trunc(abs(p_amount) / 100.0, 2), 'payment_method', p_method, 'external_id', p_external_id,
        'is_completed', true, 'description', p_description),
      'feed', p_user_id, p_now);
  END IF;
  RETURN QUERY SELECT 'posted'::text, v_transaction, v_balance;
END $$;

-- Proves the ledger for the whole database; every row is a violation, no row means clean.
CREATE FUNCTION ledger_check() RETURNS TABLE (problem text, subject_id bigint, detail text) LANGUAGE sql STABLE AS $$
  SELECT 'entries_do_not_sum_to_zero', e.transaction_id::bigint, sum(e.kopeks)::text
    FROM ledger_entries e GROUP BY e.transaction_id HAVING sum(e.kopeks) <> 0
  UNION ALL
  SELECT 'balance_differs_from_ledger', u.id::bigint, u.balance_kopeks || ' cached, ' || coalesce(w.total, 0) || ' posted'
    FROM users u LEFT JOIN (
      SELECT a.user_id, sum(e.kopeks) AS total FROM ledger_accounts a JOIN ledger_entries e ON e.account_id = a.id
      WHERE a.kind = 'user_wallet' GROUP BY a.user_id) w ON w.user_id = u.id
    WHERE u.balance_kopeks <> coalesce(w.total, 0)
  UNION ALL
  SELECT 'balance_below_zero', u.id::bigint, u.balance_kopeks::text FROM users u WHERE u.balance_kopeks < 0
  UNION ALL
  SELECT 'completed_transaction_without_entries', t.id::bigint, t.type
    FROM transactions t WHERE t.is_completed AND NOT EXISTS (SELECT 1 FROM ledger_entries e WHERE e.transaction_id = t.id)
  UNION ALL
  SELECT 'paid_top_up_without_transaction', p.id::bigint, p.method
    FROM payments p WHERE p.is_paid AND p.purpose = 'balance_topup' AND p.transaction_id IS NULL
$$;
