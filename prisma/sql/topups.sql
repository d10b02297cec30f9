-- Crediting of payments (spec 03 sections 2.2, 2.3 and 2.5). credit_topup() and credit_uninvoiced() are each one statement of the service and a
-- whole transaction: movement, paid mark, feed row, flag, events and jobs.

-- What a provider reports of a payment besides the credit, recorded with it, so that a process that ends after the credit loses none of it:
-- the fee, the money beyond the invoice (a case, see payment-cases.sql), and the saved method of the payer. A saved method that is known stays
-- as it is, also when its owner unlinked it: a late notification must not link it again. p_extras has the shape of CreditExtras
-- (src/domain/payments/credit-payment.ts).
--- fee, surplus and saved method that a provider reports with a credit
CREATE OR REPLACE FUNCTION record_credit_extras(p_payment_id integer, p_extras jsonb, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_payment payments;
  v_method jsonb := nullif(p_extras -> 'savedMethod', 'null');
BEGIN
  UPDATE payments p SET fee_kopeks = coalesce((p_extras ->> 'feeKopeks')::bigint, p.fee_kopeks) WHERE p.id = p_payment_id
  RETURNING p.* INTO v_payment;
  IF (p_extras ->> 'overpaidKopeks')::bigint > 0 THEN
    PERFORM open_payment_case('overpaid', v_payment.method, p_payment_id::text, p_payment_id, v_payment.user_id,
      (p_extras ->> 'overpaidKopeks')::bigint, v_payment.currency, '{}', p_now, 'overpaid:' || p_payment_id);
  END IF;
  IF v_method IS NOT NULL AND v_payment.user_id IS NOT NULL THEN
    INSERT INTO saved_payment_methods (user_id, provider, provider_method_id, method_type, title, card_first6, card_last4, card_type,
      expiry_month, expiry_year, created_at, updated_at)
    VALUES (v_payment.user_id, v_payment.method, v_method ->> 'providerMethodId', v_method ->> 'methodType', v_method ->> 'title',
      v_method ->> 'cardFirst6', v_method ->> 'cardLast4', v_method ->> 'cardType', v_method ->> 'expiryMonth', v_method ->> 'expiryYear',
      p_now, p_now)
    ON CONFLICT (provider_method_id) DO NOTHING;
  END IF;
END $$;

-- Marks a payment paid and credited (spec 03 H4, H5). An external id that is stored stays. p_charge_id is the provider's id of the money,
-- where it is another than the invoice's; p_extras, where there are some, see record_credit_extras(). What went back of other charges of the
-- invoice is not of this credit.
--- marks a payment paid and credited
CREATE OR REPLACE FUNCTION mark_payment_credited(p_payment_id integer, p_transaction_id integer, p_external_id text, p_status text,
  p_paid_at timestamptz, p_raw jsonb, p_now timestamptz, p_charge_id text DEFAULT NULL, p_extras jsonb DEFAULT NULL)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE payments SET is_paid = true, paid_at = p_paid_at, outcome = 'paid', status = p_status, transaction_id = p_transaction_id,
    external_id = coalesce(external_id, p_external_id), charge_id = p_charge_id, callback_payload = p_raw, updated_at = p_now
  WHERE id = p_payment_id;
  PERFORM detach_other_reversals(p_payment_id, p_charge_id, p_now);
  IF p_extras IS NOT NULL THEN
    PERFORM record_credit_extras(p_payment_id, p_extras, p_now);
  END IF;
END $$;

-- Whether a transactions row is the credit of another payment, or belongs to another user.
--- whether a movement belongs to another payment or user
CREATE OR REPLACE FUNCTION is_transaction_taken(p_transaction_id integer, p_user_id integer) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN EXISTS (SELECT 1 FROM payments p WHERE p.transaction_id = p_transaction_id)
    OR NOT EXISTS (SELECT 1 FROM transactions t WHERE t.id = p_transaction_id AND t.user_id = p_user_id);
END $$;

-- Money without a stored invoice (donations, and Stars for invoices of earlier software): the record is written with the credit, or without
-- a credit (p_transaction_id null) where there is nobody to credit. Returns its id; null when the charge has been credited before.
--- writes the record of money without an invoice
CREATE OR REPLACE FUNCTION upsert_uninvoiced_payment(p_method text, p_user_id integer, p_order_id text, p_charge_id text,
  p_amount bigint, p_description text, p_status text, p_transaction_id integer, p_update jsonb, p_now timestamptz)
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  v_id integer;
BEGIN
  INSERT INTO payments (method, user_id, order_id, external_id, amount_kopeks, description, status, outcome, is_paid, paid_at,
    callback_payload, transaction_id, created_at, updated_at)
  VALUES (p_method, p_user_id, p_order_id, p_charge_id, p_amount, p_description, p_status,
    CASE WHEN p_transaction_id IS NULL THEN 'failed' ELSE 'paid' END, p_transaction_id IS NOT NULL, p_now, p_update, p_transaction_id,
    p_now, p_now)
  ON CONFLICT (method, external_id) DO UPDATE SET user_id = EXCLUDED.user_id, status = EXCLUDED.status, outcome = EXCLUDED.outcome,
    is_paid = EXCLUDED.is_paid, amount_kopeks = EXCLUDED.amount_kopeks, transaction_id = EXCLUDED.transaction_id,
    updated_at = EXCLUDED.updated_at
  WHERE payments.transaction_id IS NULL RETURNING id INTO v_id;
  RETURN v_id;
END $$;

-- What belongs to every posted top-up, in its transaction: feed row, first-top-up flag, event to the payer and follow-up jobs. The payer
-- is locked, and p_balance is the balance after the top-up. p_method_name is the method's name for users.
--- feed row, flag, event and jobs of a posted top-up
CREATE OR REPLACE FUNCTION record_topup(p_payment_id integer, p_transaction_id integer, p_user_id integer, p_amount bigint,
  p_balance bigint, p_method_name text, p_now timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_referrer integer;
  v_is_repeat boolean;
  v_group integer;
  v_group_name text;
BEGIN
  SELECT u.referred_by_id, u.has_made_first_topup, u.promo_group_id, g.name INTO v_referrer, v_is_repeat, v_group, v_group_name
  FROM users u LEFT JOIN promo_groups g ON g.id = u.promo_group_id WHERE u.id = p_user_id;
  INSERT INTO subscription_events (event_type, user_id, transaction_id, amount_kopeks, currency, occurred_at, extra, created_at)
  VALUES ('balance_topup', p_user_id, p_transaction_id, p_amount, 'RUB', p_now,
    jsonb_build_object('status', CASE WHEN v_is_repeat THEN 'repeat' ELSE 'first' END, 'balance_before', p_balance - p_amount,
      'balance_after', p_balance,
      'referrer_info', CASE WHEN v_referrer IS NOT NULL THEN jsonb_build_object('user_id', v_referrer) END,
      'promo_group_id', v_group, 'promo_group_name', v_group_name), p_now);
  -- With a referrer the flag belongs to the referral bonus (spec 03 section 2.3).
  IF v_referrer IS NULL AND NOT v_is_repeat THEN
    UPDATE users SET has_made_first_topup = true, updated_at = p_now WHERE id = p_user_id;
  END IF;
  PERFORM emit_event('balance.topup',
    jsonb_build_object('amount_kopeks', p_amount, 'amount_rubles', trim_scale(p_amount / 100.0), 'new_balance_kopeks', p_balance,
      'new_balance_rubles', trim_scale(p_balance / 100.0), 'description', p_method_name),
    'user', p_user_id, p_now);
  PERFORM send_job('payments.after-topup', jsonb_build_object('paymentId', p_payment_id));
  -- Only the referrer of this moment earns by this payment; one that is recorded later does not.
  IF v_referrer IS NOT NULL THEN
    PERFORM send_job('referrals.accrue', jsonb_build_object('transactionId', p_transaction_id));
  END IF;
END $$;

-- Credits a top-up that the caller has classified as one to credit. The parameters from p_user_id to p_currency are what the caller saw of
-- the payment and classified by; when they are no longer so under the locks, or the payment is credited, nothing is done.
--
-- p_titles is the description of the movement by language; the user's decides, else Russian. p_charge_id is the provider's id of the money,
-- where it is another than the invoice's; it identifies the movement. p_extras: see record_credit_extras(); only with 'credited'.
-- p_reversal_titles describe, like p_titles, what is taken at once because it was given back before.
--
-- outcome: credited | already_credited (the movement was there, only its link to this payment was missing) | changed (classify again) |
-- no_user | taken (the movement belongs to another payment or user). 'changed', 'no_user' and 'taken' have written nothing.
--- credits a top-up with everything that belongs to it
CREATE OR REPLACE FUNCTION credit_topup(p_payment_id integer, p_user_id integer, p_order_id text, p_external_id text, p_amount bigint,
  p_currency text, p_reported_external_id text, p_status text, p_paid_at timestamptz, p_raw jsonb, p_titles jsonb,
  p_method_name text, p_now timestamptz, p_charge_id text DEFAULT NULL, p_extras jsonb DEFAULT NULL, p_reversal_titles jsonb DEFAULT NULL)
RETURNS TABLE (outcome text, transaction_id integer) LANGUAGE plpgsql AS $$
DECLARE
  v_has_user boolean;
  v_language text;
  v_method text;
  v_created_at timestamptz;
  v_posting record;
BEGIN
  -- The user first (docs/database.md, Locks and their order). Nobody could spend what comes to an erased account (spec 03 H5).
  SELECT lower(split_part(split_part(u.language, '-', 1), '_', 1)), u.referral_code IS DISTINCT FROM 'erased:' || u.id
  INTO v_language, v_has_user FROM users u WHERE u.id = p_user_id FOR NO KEY UPDATE;
  SELECT p.method, p.created_at INTO v_method, v_created_at FROM payments p
  WHERE p.id = p_payment_id AND p.user_id = p_user_id AND p.order_id = p_order_id AND p.external_id IS NOT DISTINCT FROM p_external_id
    AND p.amount_kopeks = p_amount AND p.currency = p_currency AND p.transaction_id IS NULL AND NOT p.is_paid
    -- Given back since it was seen: nothing is credited any more (spec 03a section 0.4).
    AND NOT is_charge_reversed(p, p_charge_id) FOR UPDATE;
  IF NOT FOUND THEN
    RETURN QUERY SELECT 'changed'::text, NULL::integer;
    RETURN;
  END IF;
  IF v_has_user IS NOT TRUE THEN
    RETURN QUERY SELECT 'no_user'::text, NULL::integer;
    RETURN;
  END IF;

  SELECT p.* INTO v_posting FROM post_transaction(p_user_id, 'deposit', p_amount, 'provider_clearing', 'provider:' || v_method, v_method,
    coalesce(p_charge_id, p_external_id, p_reported_external_id, p_order_id), coalesce(p_titles ->> v_language, p_titles ->> 'ru'), p_now, v_created_at) p;
  IF v_posting.outcome NOT IN ('posted', 'duplicate') THEN
    RAISE EXCEPTION 'posting a deposit returned %', v_posting.outcome;
  END IF;
  IF v_posting.outcome = 'duplicate' AND is_transaction_taken(v_posting.transaction_id, p_user_id) THEN
    RETURN QUERY SELECT 'taken'::text, v_posting.transaction_id;
    RETURN;
  END IF;
  PERFORM mark_payment_credited(p_payment_id, v_posting.transaction_id, p_reported_external_id, p_status, p_paid_at, p_raw, p_now,
    p_charge_id, CASE WHEN v_posting.outcome = 'posted' THEN p_extras END);
  IF v_posting.outcome = 'duplicate' THEN
    RETURN QUERY SELECT 'already_credited'::text, v_posting.transaction_id;
    RETURN;
  END IF;
  PERFORM record_topup(p_payment_id, v_posting.transaction_id, p_user_id, p_amount, v_posting.balance_kopeks, p_method_name, p_now);
  PERFORM debit_earlier_reversals(p_payment_id, coalesce(p_reversal_titles, p_titles), p_now);
  RETURN QUERY SELECT 'credited'::text, v_posting.transaction_id;
END $$;

-- Credits money without a stored invoice to its payer, once per charge of the method, and writes its record.
-- outcome: credited | already_credited | no_user. Only 'credited' has written anything.
--- credits money without an invoice with everything that belongs to it
CREATE OR REPLACE FUNCTION credit_uninvoiced(p_method text, p_user_id integer, p_order_id text, p_charge_id text, p_amount bigint,
  p_description text, p_update jsonb, p_method_name text, p_now timestamptz)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  v_posting record;
  v_payment integer;
BEGIN
  SELECT p.* INTO v_posting FROM post_transaction(p_user_id, 'deposit', p_amount, 'provider_clearing', 'provider:' || p_method,
    p_method, p_charge_id, p_description, p_now) p;
  IF v_posting.outcome = 'no_user' THEN
    RETURN 'no_user';
  ELSIF v_posting.outcome = 'duplicate' THEN
    RETURN 'already_credited';
  ELSIF v_posting.outcome <> 'posted' THEN
    RAISE EXCEPTION 'posting a deposit returned %', v_posting.outcome;
  END IF;
  v_payment := upsert_uninvoiced_payment(p_method, p_user_id, p_order_id, p_charge_id, p_amount, p_description, 'paid',
    v_posting.transaction_id, p_update, p_now);
  IF v_payment IS NULL THEN
    RAISE EXCEPTION 'a charge of % has a credited record without its ledger row', p_method;
  END IF;
  PERFORM record_topup(v_payment, v_posting.transaction_id, p_user_id, p_amount, v_posting.balance_kopeks, p_method_name, p_now);
  RETURN 'credited';
END $$;
