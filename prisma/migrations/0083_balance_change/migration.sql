-- The owner's sockets hear of every movement of the wallet (spec 05 section 12.2): purchases, bonuses, prizes, manual changes.
-- Amounts are signed: +50000 came, -50000 went. Nothing else differs from 0078.
CREATE OR REPLACE FUNCTION post_transaction(
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
  SELECT u.balance_kopeks INTO v_balance FROM users u WHERE u.id = p_user_id FOR NO KEY UPDATE;
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
    -- A payment by the owner is told as balance.topup, with the name of its method, by who credits it.
    IF p_instead_key IS NULL AND p_amount <> 0 AND NOT (p_type = 'deposit' AND p_counter_kind = 'provider_clearing') THEN
      PERFORM emit_event('balance.change',
        jsonb_build_object('amount_kopeks', p_amount, 'amount_rubles', trunc(p_amount / 100.0, 2), 'new_balance_kopeks', v_balance,
          'new_balance_rubles', trunc(v_balance / 100.0, 2), 'description', p_description),
        'user', p_user_id, p_now);
    END IF;
  END IF;
  RETURN QUERY SELECT 'posted'::text, v_transaction, v_balance;
END $$;
