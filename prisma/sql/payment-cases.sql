-- Payments that need the decision of an administrator (spec 03a section 0.2, 0.4 and 0.5).

-- Opens a case once, with the job that tells the administrators. Returns its id; null when it is known.
CREATE OR REPLACE FUNCTION open_payment_case(p_kind text, p_method text, p_reference text, p_payment_id integer, p_user_id integer,
  p_amount bigint, p_currency text, p_details jsonb, p_now timestamptz)
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  v_id integer;
BEGIN
  INSERT INTO payment_cases (kind, method, reference, payment_id, user_id, amount_kopeks, currency, details, created_at)
  VALUES (p_kind, p_method, p_reference, p_payment_id, p_user_id, p_amount, p_currency, p_details, p_now)
  ON CONFLICT (kind, method, reference) DO NOTHING RETURNING id INTO v_id;
  IF v_id IS NOT NULL THEN
    PERFORM send_job('payments.notify-case', jsonb_build_object('caseId', v_id));
  END IF;
  RETURN v_id;
END $$;

-- The payment that a case is about: the one whose credit would deliver its money. Null for money beyond a credited invoice, and where none is
-- known. A report about another order is about the payment of that order.
CREATE OR REPLACE FUNCTION payment_of_case(p_kind text, p_method text, p_details jsonb, p_payment_id integer) RETURNS integer LANGUAGE plpgsql STABLE AS $$
DECLARE
  v_id integer;
BEGIN
  IF p_kind IN ('overpaid', 'second_payment') THEN
    RETURN NULL;
  END IF;
  SELECT p.id INTO v_id FROM payments p WHERE p.method = p_method AND p.order_id = p_details ->> 'orderId';
  IF v_id IS NULL THEN
    SELECT p.id INTO v_id FROM payments p WHERE p.method = p_method AND p.external_id = p_details ->> 'externalId';
  END IF;
  IF v_id IS NULL AND (p_kind <> 'order_mismatch' OR p_details ->> 'externalId' IS NULL) THEN
    v_id := p_payment_id;
  END IF;
  RETURN v_id;
END $$;

-- Locks the payment of a case, then the case, and says whether a decision is possible. The caller has locked the user.
-- outcome: open | unknown | resolved | credited (the money is in a balance) | reversed (the provider took it back) | refunding (the
-- provider has been asked to give it back)
CREATE OR REPLACE FUNCTION lock_payment_case(p_case_id integer) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  v_case record;
  v_payment payments;
BEGIN
  SELECT c.* INTO v_case FROM payment_cases c WHERE c.id = p_case_id;
  IF NOT FOUND THEN
    RETURN 'unknown';
  END IF;
  SELECT p.* INTO v_payment FROM payments p WHERE p.id = payment_of_case(v_case.kind, v_case.method, v_case.details, v_case.payment_id) FOR UPDATE;
  SELECT c.* INTO v_case FROM payment_cases c WHERE c.id = p_case_id FOR UPDATE;
  RETURN CASE WHEN v_case.status <> 'open' THEN 'resolved' WHEN v_payment.transaction_id IS NOT NULL THEN 'credited'
    WHEN v_payment.outcome = 'refunded' THEN 'reversed'
    WHEN EXISTS (SELECT 1 FROM payment_reversals r WHERE r.payment_id = v_payment.id AND r.status = 'requested') THEN 'refunding'
    ELSE 'open' END;
END $$;

-- A record for money that no invoice here is for, so that it is in the lists and a reversal finds it. It has the provider's ids where no
-- other payment has them. Returns its id.
CREATE OR REPLACE FUNCTION insert_payment_of_case(p_case_id integer, p_user_id integer, p_amount bigint, p_title text, p_now timestamptz)
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  v_case record;
  v_order text;
  v_external text;
  v_id integer;
BEGIN
  SELECT c.* INTO v_case FROM payment_cases c WHERE c.id = p_case_id;
  v_order := v_case.details ->> 'orderId';
  v_external := v_case.details ->> 'externalId';
  IF v_order IS NULL OR length(v_order) > 64 OR EXISTS (SELECT 1 FROM payments p WHERE p.order_id = v_order) THEN
    v_order := 'case-' || v_case.id;
  END IF;
  IF length(v_external) > 255 OR EXISTS (SELECT 1 FROM payments p WHERE p.method = v_case.method AND p.external_id = v_external) THEN
    v_external := NULL;
  END IF;
  INSERT INTO payments (method, user_id, order_id, external_id, amount_kopeks, description, status, created_at, updated_at)
  VALUES (v_case.method, p_user_id, v_order, v_external, p_amount, p_title, 'paid', v_case.created_at, p_now) RETURNING id INTO v_id;
  RETURN v_id;
END $$;

-- Credits the money of a case to a user, once: movement, payment, feed row, event and jobs as of a top-up, and the resolved case. The
-- movement has the provider's id of the money where it is known, so that the key of the ledger refuses it to a callback that comes late, and
-- this to money that a callback has credited; else it has the case's. What was given back of it before is taken from the credit at once.
--
-- outcome: done | no_user, or as lock_payment_case(). Only 'done' has written anything.
CREATE OR REPLACE FUNCTION credit_payment_case(p_case_id integer, p_user_id integer, p_amount bigint, p_titles jsonb, p_method_name text,
  p_resolved_by text, p_comment text, p_now timestamptz, p_reversal_titles jsonb DEFAULT NULL)
RETURNS TABLE (outcome text, transaction_id integer) LANGUAGE plpgsql AS $$
DECLARE
  v_language text;
  v_title text;
  v_outcome text;
  v_case record;
  v_payment payments;
  v_charge text;
  v_posting record;
  v_payment_id integer;
BEGIN
  -- The user first (docs/database.md, Locks and their order); an erased account is none.
  SELECT lower(split_part(split_part(u.language, '-', 1), '_', 1)) INTO v_language FROM users u
  WHERE u.id = p_user_id AND u.referral_code IS DISTINCT FROM 'erased:' || u.id FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN QUERY SELECT 'no_user'::text, NULL::integer;
    RETURN;
  END IF;
  v_outcome := lock_payment_case(p_case_id);
  IF v_outcome <> 'open' THEN
    RETURN QUERY SELECT v_outcome, NULL::integer;
    RETURN;
  END IF;
  SELECT c.* INTO v_case FROM payment_cases c WHERE c.id = p_case_id;
  SELECT p.* INTO v_payment FROM payments p WHERE p.id = payment_of_case(v_case.kind, v_case.method, v_case.details, v_case.payment_id);
  v_charge := coalesce(v_case.details ->> 'chargeId', v_payment.charge_id);
  -- The reference of unknown money is the id of the money, where the provider has one besides the invoice's.
  IF v_charge IS NULL AND v_case.kind = 'unknown_payment' AND v_case.reference <> v_case.details ->> 'externalId' THEN
    v_charge := v_case.reference;
  END IF;
  v_title := coalesce(p_titles ->> v_language, p_titles ->> 'ru');

  SELECT t.* INTO v_posting FROM post_transaction(p_user_id, 'deposit', p_amount, 'provider_clearing', 'provider:' || v_case.method,
    v_case.method, coalesce(v_charge, v_payment.external_id, v_case.details ->> 'externalId', 'case:' || v_case.id), v_title, p_now) t;
  IF v_posting.outcome = 'duplicate' THEN
    RETURN QUERY SELECT 'credited'::text, v_posting.transaction_id;
    RETURN;
  ELSIF v_posting.outcome <> 'posted' THEN
    RAISE EXCEPTION 'posting a case returned %', v_posting.outcome;
  END IF;

  v_payment_id := v_payment.id;
  IF v_payment_id IS NULL THEN
    v_payment_id := insert_payment_of_case(p_case_id, p_user_id, p_amount, v_title, p_now);
  ELSE
    -- From now on it is a top-up of this user with this amount: a reversal takes back what was credited.
    UPDATE payments p SET user_id = p_user_id, amount_kopeks = p_amount, currency = 'RUB', purpose = 'balance_topup' WHERE p.id = v_payment_id;
  END IF;
  PERFORM mark_payment_credited(v_payment_id, v_posting.transaction_id, v_case.details ->> 'externalId', 'paid', p_now,
    v_payment.callback_payload, p_now, v_charge);
  PERFORM record_topup(v_payment_id, v_posting.transaction_id, p_user_id, p_amount, v_posting.balance_kopeks, p_method_name, p_now);
  PERFORM debit_earlier_reversals(v_payment_id, coalesce(p_reversal_titles, p_titles), p_now);
  UPDATE payment_cases c SET status = 'resolved', resolution = 'credit', resolved_by = p_resolved_by, comment = p_comment, resolved_at = p_now,
    transaction_id = v_posting.transaction_id, payment_id = coalesce(c.payment_id, v_payment_id), user_id = coalesce(c.user_id, p_user_id),
    details = c.details || jsonb_strip_nulls(jsonb_build_object('invoiceKopeks', v_payment.amount_kopeks))
  WHERE c.id = p_case_id;
  RETURN QUERY SELECT 'done'::text, v_posting.transaction_id;
END $$;

-- Resolves a case without moving money. p_resolution: 'refund' (not of money that is in a balance) | 'ignore'.
-- outcome: done, or as lock_payment_case(). Only 'done' has written anything.
CREATE OR REPLACE FUNCTION close_payment_case(p_case_id integer, p_resolution text, p_resolved_by text, p_comment text, p_now timestamptz)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  v_outcome text;
BEGIN
  v_outcome := lock_payment_case(p_case_id);
  IF v_outcome IN ('unknown', 'resolved') OR (v_outcome <> 'open' AND p_resolution <> 'ignore') THEN
    RETURN v_outcome;
  END IF;
  UPDATE payment_cases c SET status = 'resolved', resolution = p_resolution, resolved_by = p_resolved_by, comment = p_comment,
    resolved_at = p_now
  WHERE c.id = p_case_id;
  RETURN 'done';
END $$;
