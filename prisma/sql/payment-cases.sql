-- Payments that need the decision of an administrator (spec 03a section 0.2, 0.4 and 0.5).

-- Opens a case once, with the job that tells the administrators. p_charge_id is the provider's id of the money, by which reports that it went
-- back find the case, in any order. A second charge for which the same case would be opened is money of its own, and a case of its own. Returns
-- its id; null when it is known, or needs no decision because its money went back before.
--- opens a case once, with the job that tells the administrators
CREATE OR REPLACE FUNCTION open_payment_case(p_kind text, p_method text, p_reference text, p_payment_id integer, p_user_id integer,
  p_amount bigint, p_currency text, p_details jsonb, p_now timestamptz, p_charge_id text DEFAULT NULL)
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  v_id integer;
BEGIN
  IF p_charge_id IS NOT NULL THEN
    PERFORM lock_charge(p_method, p_charge_id);
  END IF;
  -- A charge that had a case before its invoice was credited with another one: two cases of the same money could be decided on twice.
  IF p_kind = 'second_payment' AND EXISTS (SELECT 1 FROM payment_cases c WHERE c.method = p_method AND c.charge_id = p_charge_id
      AND (c.resolution IN ('credit', 'refund')
        OR (c.kind IN ('amount_mismatch', 'no_user', 'no_purchase') AND c.details ->> 'chargeId' = p_charge_id))
      AND c.kind <> 'second_payment') THEN
    RETURN NULL;
  END IF;
  v_id := insert_payment_case(p_kind, p_method, p_reference, p_payment_id, p_user_id, p_amount, p_currency, p_details, p_now, p_charge_id);
  IF v_id IS NULL AND p_kind <> 'reversal_unknown' AND EXISTS (SELECT 1 FROM payment_cases c WHERE c.kind = p_kind AND c.method = p_method
      AND c.reference = p_reference AND c.details ->> 'chargeId' <> p_details ->> 'chargeId') THEN
    v_id := insert_payment_case(p_kind, p_method, p_reference || ':' || (p_details ->> 'chargeId'), p_payment_id, p_user_id, p_amount, p_currency,
      p_details, p_now, p_charge_id);
  END IF;
  IF v_id IS NOT NULL THEN
    PERFORM settle_charge(p_method, p_charge_id, p_now);
    SELECT c.id INTO v_id FROM payment_cases c WHERE c.id = v_id AND c.status = 'open';
  END IF;
  IF v_id IS NOT NULL THEN
    PERFORM send_job('payments.notify-case', jsonb_build_object('caseId', v_id));
  END IF;
  RETURN v_id;
END $$;

-- Returns the id; null when there is a case of this kind and reference.
--- the row of a case, once of a kind and reference
CREATE OR REPLACE FUNCTION insert_payment_case(p_kind text, p_method text, p_reference text, p_payment_id integer, p_user_id integer,
  p_amount bigint, p_currency text, p_details jsonb, p_now timestamptz, p_charge_id text)
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  v_id integer;
BEGIN
  INSERT INTO payment_cases (kind, method, reference, charge_id, payment_id, user_id, amount_kopeks, currency, details, created_at)
  VALUES (p_kind, p_method, p_reference, p_charge_id, p_payment_id, p_user_id, p_amount, p_currency, p_details, p_now)
  ON CONFLICT (kind, method, reference) DO NOTHING RETURNING id INTO v_id;
  RETURN v_id;
END $$;

-- Serialises what is reported of one charge: that its money came, and that it went back (docs/database.md, Locks and their order).
--- serialises what is reported of one charge: its money came, it went back
CREATE OR REPLACE FUNCTION lock_charge(p_method text, p_charge_id text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('payments.charge:' || p_method || ':' || p_charge_id));
END $$;

-- How much of the money of a case the provider reported as given back: what its reports of this charge say together, p_amount at most.
--- how much of the money of a case its provider reported as given back
CREATE OR REPLACE FUNCTION returned_of_charge(p_method text, p_charge_id text, p_amount bigint, p_currency text) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
BEGIN
  -- A report without an amount is of the whole.
  RETURN (SELECT least(coalesce(sum(coalesce(r.amount_kopeks, p_amount)), 0), p_amount) FROM payment_cases r
    WHERE r.kind = 'reversal_unknown' AND r.method = p_method AND r.charge_id = p_charge_id
      AND coalesce(r.currency, p_currency) IS NOT DISTINCT FROM coalesce(p_currency, r.currency));
END $$;

-- Settles the money of a charge that waits for a decision with the reports that it went back, whichever came first: the reports need no
-- decision then, and a case whose whole money went back is resolved as 'reversed' (spec 10 M8). Of a part the case stays open for the rest.
-- The charge is locked.
--- settles a case with the reports that its money went back
CREATE OR REPLACE FUNCTION settle_charge(p_method text, p_charge_id text, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_case payment_cases;
  v_returned bigint;
BEGIN
  SELECT c.* INTO v_case FROM payment_cases c
  WHERE c.method = p_method AND c.charge_id = p_charge_id AND c.kind <> 'reversal_unknown' ORDER BY c.id LIMIT 1 FOR UPDATE;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  v_returned := returned_of_charge(p_method, p_charge_id, v_case.amount_kopeks, v_case.currency);
  IF v_returned > 0 THEN
    UPDATE payment_cases c SET status = 'resolved', resolution = 'reversed', resolved_by = 'provider', resolved_at = p_now
    WHERE c.method = p_method AND c.charge_id = p_charge_id AND c.status = 'open'
      AND (c.kind = 'reversal_unknown' OR v_returned >= v_case.amount_kopeks);
  END IF;
END $$;

-- Applies a reversal of money that is not the credit of the reported payment: another charge of its invoice, an unknown one, or what was paid
-- beyond an invoice. No balance is touched, unless an administrator credited this charge: then that credit is reversed. It is recorded as a
-- case 'reversal_unknown', which needs a decision only while no other case says what the money was (spec 10 M1). p_amount null = the whole.
-- p_charge_id null = it cannot be said which money it is.
--
-- outcome: unknown (the case is open) | known (was applied before, or settled another case), or as reverse_payment()
--- applies a reversal of money that is not the credit of its payment; moves money only where a case was credited
CREATE OR REPLACE FUNCTION return_charge(p_method text, p_charge_id text, p_payment_id integer, p_user_id integer, p_reversal_id text,
  p_kind text, p_amount bigint, p_currency text, p_details jsonb, p_titles jsonb, p_now timestamptz)
RETURNS TABLE (outcome text, debited bigint, remainder bigint) LANGUAGE plpgsql AS $$
DECLARE
  v_credited integer;
  v_case integer;
BEGIN
  -- The users first (docs/database.md, Locks and their order): a decision about the case of the charge has locked its user, too.
  PERFORM 1 FROM users u WHERE u.id IN (SELECT p_user_id UNION
    SELECT p.user_id FROM payments p WHERE p.id = payment_of_credited_charge(p_method, p_charge_id)) ORDER BY u.id FOR NO KEY UPDATE;
  v_credited := payment_of_credited_charge(p_method, p_charge_id);
  IF v_credited IS NULL THEN
    IF EXISTS (SELECT 1 FROM payment_reversals r WHERE r.method = p_method AND r.reversal_id = p_reversal_id) THEN
      RETURN QUERY SELECT 'known'::text, 0::bigint, 0::bigint;
      RETURN;
    END IF;
    v_case := open_payment_case('reversal_unknown', p_method, p_reversal_id, p_payment_id, p_user_id, p_amount, p_currency,
      p_details || jsonb_build_object('kind', p_kind), p_now, p_charge_id);
    -- Credited while the case of the charge was waited for.
    v_credited := payment_of_credited_charge(p_method, p_charge_id);
  END IF;
  IF v_credited IS NOT NULL THEN
    RETURN QUERY SELECT r.* FROM reverse_payment(v_credited, p_reversal_id, p_kind, p_amount, p_titles, p_now, p_charge_id) r;
    UPDATE payment_cases c SET status = 'resolved', resolution = 'reversed', resolved_by = 'provider', resolved_at = p_now
    WHERE c.id = v_case;
    RETURN;
  END IF;
  RETURN QUERY SELECT CASE WHEN v_case IS NULL THEN 'known' ELSE 'unknown' END, 0::bigint, 0::bigint;
END $$;

-- The payment by which an administrator credited the money of a charge; null where nobody did.
--- the payment by which an administrator credited a charge
CREATE OR REPLACE FUNCTION payment_of_credited_charge(p_method text, p_charge_id text) RETURNS integer LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT p.id FROM payment_cases c JOIN payments p ON p.transaction_id = c.transaction_id
    WHERE c.method = p_method AND c.charge_id = p_charge_id AND c.resolution = 'credit' ORDER BY c.id LIMIT 1);
END $$;

-- The payment that a case is about: the one whose credit would deliver its money. Null for money beyond a credited invoice, and where none is
-- known. A report about another order is about the payment of that order. Where a payment is credited with another charge than that of the
-- case, this is money besides.
--- the payment whose credit would deliver the money of a case
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
  IF EXISTS (SELECT 1 FROM payments p WHERE p.id = v_id AND p.transaction_id IS NOT NULL AND p.charge_id <> p_details ->> 'chargeId') THEN
    RETURN NULL;
  END IF;
  RETURN v_id;
END $$;

-- Locks the payment of a case, then the case, and says whether a decision is possible. The caller has locked the user.
-- outcome: open | unknown | resolved | credited (the money is in a balance) | reversed (the provider took it back) | refunding (the
-- provider has been asked to give it back)
--- locks payment and case, and says whether a decision is possible
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
  -- Credited with another charge while the lock was waited for.
  IF v_payment.transaction_id IS NOT NULL AND v_payment.charge_id <> v_case.details ->> 'chargeId' THEN
    v_payment := NULL;
  END IF;
  SELECT c.* INTO v_case FROM payment_cases c WHERE c.id = p_case_id FOR UPDATE;
  RETURN CASE WHEN v_case.status <> 'open' THEN 'resolved' WHEN v_payment.transaction_id IS NOT NULL THEN 'credited'
    WHEN v_payment.outcome = 'refunded' AND is_charge_reversed(v_payment, v_case.details ->> 'chargeId') THEN 'reversed'
    WHEN EXISTS (SELECT 1 FROM payment_reversals r WHERE r.payment_id = v_payment.id AND r.status = 'requested') THEN 'refunding'
    ELSE 'open' END;
END $$;

-- A record for money that no invoice here is for, so that it is in the lists and a reversal finds it. It has the provider's ids where no
-- other payment has them. Returns its id.
--- a record for money without an invoice
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
--- credits the money of a case to a user, once
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
  v_returned bigint;
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
  -- A new record has the id of the invoice, where no other payment has it.
  PERFORM mark_payment_credited(v_payment_id, v_posting.transaction_id,
    CASE WHEN v_payment.id IS NOT NULL THEN v_case.details ->> 'externalId' END, 'paid', p_now,
    v_payment.callback_payload, p_now, v_charge);
  PERFORM record_topup(v_payment_id, v_posting.transaction_id, p_user_id, p_amount, v_posting.balance_kopeks, p_method_name, p_now);
  PERFORM debit_earlier_reversals(v_payment_id, coalesce(p_reversal_titles, p_titles), p_now);
  v_returned := returned_of_charge(v_case.method, v_case.charge_id, p_amount, v_case.currency);
  IF v_returned > 0 THEN
    PERFORM reverse_payment(v_payment_id, 'case:' || p_case_id, 'refund', v_returned, coalesce(p_reversal_titles, p_titles), p_now);
  END IF;
  UPDATE payment_cases c SET status = 'resolved', resolution = 'credit', resolved_by = p_resolved_by, comment = p_comment, resolved_at = p_now,
    transaction_id = v_posting.transaction_id, payment_id = coalesce(c.payment_id, v_payment_id), user_id = coalesce(c.user_id, p_user_id),
    details = c.details || jsonb_strip_nulls(jsonb_build_object('invoiceKopeks', v_payment.amount_kopeks))
  WHERE c.id = p_case_id;
  RETURN QUERY SELECT 'done'::text, v_posting.transaction_id;
END $$;

-- Resolves a case without moving money. p_resolution: 'refund' (not of money that is in a balance) | 'ignore'.
-- outcome: done, or as lock_payment_case(). Only 'done' has written anything.
--- resolves a case without moving money
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
