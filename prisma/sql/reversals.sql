-- Money that goes back to a payer (spec 03a section 0.5). The balance never falls below zero: what it does not cover is a case.

-- Whose balance has the money of a payment: the payer's of a top-up, and of what was paid for and not given, so that the money went to the
-- balance (a refused spin of the wheel, a gift; spec 10 M9). Null when it was spent on what it paid for.
--- whose balance has the money of a payment
CREATE OR REPLACE FUNCTION balance_owner_of_payment(p_payment payments) RETURNS integer LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF p_payment.purpose IN ('balance_topup', 'recurrent_topup') THEN
    RETURN p_payment.user_id;
  END IF;
  RETURN coalesce(
    (SELECT t.user_id FROM transactions t WHERE t.id = p_payment.transaction_id AND t.type = 'refund' AND t.amount_kopeks > 0),
    (SELECT t.user_id FROM guest_purchases g JOIN transactions t ON t.id = g.refund_transaction_id WHERE g.payment_id = p_payment.id));
END $$;

-- Locks a payment after its payer or, for a purchase without one, its buyer (docs/database.md, Locks and their order). All null when there is
-- no such payment.
--- locks a payment after its payer, or the buyer of what it paid for
CREATE OR REPLACE FUNCTION lock_payment_with_payer(p_payment_id integer) RETURNS payments LANGUAGE plpgsql AS $$
DECLARE
  v_payment payments;
BEGIN
  PERFORM 1 FROM users u WHERE u.id IN (SELECT p.user_id FROM payments p WHERE p.id = p_payment_id
    UNION SELECT g.buyer_user_id FROM guest_purchases g WHERE g.payment_id = p_payment_id) ORDER BY u.id FOR NO KEY UPDATE;
  SELECT p.* INTO v_payment FROM payments p WHERE p.id = p_payment_id FOR UPDATE;
  RETURN v_payment;
END $$;

-- Takes p_amount, or as much of it as the balance has, from the user whose balance has the money. The user is locked. Returns what was taken
-- and its movement; nothing for payments whose money is in no balance.
--- takes a reversed amount from the balance, at most what it has
CREATE OR REPLACE FUNCTION debit_reversal(p_payment payments, p_amount bigint, p_movement_id text, p_titles jsonb, p_now timestamptz)
RETURNS TABLE (debited bigint, transaction_id integer) LANGUAGE plpgsql AS $$
DECLARE
  v_user integer := balance_owner_of_payment(p_payment);
  v_balance bigint;
  v_language text;
  v_debit bigint;
  v_posting record;
BEGIN
  SELECT u.balance_kopeks, lower(split_part(split_part(u.language, '-', 1), '_', 1)) INTO v_balance, v_language
  FROM users u WHERE u.id = v_user;
  v_debit := least(v_balance, p_amount);
  -- least() leaves out a null: there may be nobody to debit.
  IF v_balance IS NULL OR v_debit <= 0 THEN
    RETURN QUERY SELECT 0::bigint, NULL::integer;
    RETURN;
  END IF;
  SELECT p.* INTO v_posting FROM post_transaction(v_user, 'refund', -v_debit, 'provider_clearing',
    'provider:' || p_payment.method, p_payment.method, p_movement_id, coalesce(p_titles ->> v_language, p_titles ->> 'ru'), p_now) p;
  IF v_posting.outcome <> 'posted' THEN
    RAISE EXCEPTION 'posting a reversal returned %', v_posting.outcome;
  END IF;
  RETURN QUERY SELECT v_debit, v_posting.transaction_id;
END $$;

-- Whether a reversal is of the money that a payment is credited with. A refund of another charge of its invoice, whose case was decided on, is
-- not. What names no charge is.
--- whether a reversal is of the money that a payment is credited with
CREATE OR REPLACE FUNCTION is_reversal_of_credit(p_reversal payment_reversals, p_payment payments) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT p_payment.transaction_id IS NULL OR coalesce(p_reversal.charge_id = p_payment.charge_id, true)
$$;

-- Takes what was given back in part before the payment was credited, since reports come in any order, and what a requested refund of the
-- money is about to give back. The payment has just been credited, so that the balance covers it; its user and row are locked. No more than
-- the credit is taken. Where the money is in no balance, because it paid for something, what was given back of it is a case.
--- takes what was given back, or is about to be, before the credit
CREATE OR REPLACE FUNCTION debit_earlier_reversals(p_payment_id integer, p_titles jsonb, p_now timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_payment payments;
  v_reversal record;
  v_debit record;
  v_left bigint;
  v_amount bigint;
BEGIN
  FOR v_reversal IN SELECT r.* FROM payment_reversals r JOIN payments p ON p.id = r.payment_id AND is_reversal_of_credit(r, p)
    WHERE r.payment_id = p_payment_id AND r.status <> 'failed' AND r.transaction_id IS NULL AND r.debited_kopeks = 0 ORDER BY r.id
  LOOP
    SELECT p.* INTO v_payment FROM payments p WHERE p.id = p_payment_id;
    v_left := coalesce(v_left, v_payment.amount_kopeks);
    v_amount := least(v_reversal.amount_kopeks, v_left);
    SELECT d.* INTO v_debit FROM debit_reversal(v_payment, v_amount,
      CASE WHEN v_reversal.reversal_id IS NULL THEN 'refund:' || v_reversal.id ELSE 'reversal:' || v_reversal.reversal_id END, p_titles,
      p_now) d;
    v_left := v_left - v_amount;
    UPDATE payment_reversals r SET debited_kopeks = v_debit.debited, transaction_id = v_debit.transaction_id WHERE r.id = v_reversal.id;
    IF v_reversal.status = 'done' THEN
      PERFORM send_job('payments.after-reversal', jsonb_build_object('reversalId', v_reversal.id));
      IF v_amount > v_debit.debited THEN
        PERFORM open_payment_case('reversal_remainder', v_payment.method, v_reversal.reversal_id, p_payment_id, v_payment.user_id,
          v_amount - v_debit.debited, v_payment.currency,
          jsonb_build_object('kind', v_reversal.kind, 'amount_kopeks', v_amount, 'debited_kopeks', v_debit.debited), p_now);
      END IF;
    END IF;
  END LOOP;
  IF v_left IS NOT NULL THEN
    PERFORM mark_payment_reversed(p_payment_id, p_now);
  END IF;
END $$;

-- Whether the money of a charge of a payment went back before it was credited, so that it is credited no more (spec 03a section 0.4). What
-- went back of other charges of the invoice does not count. p_charge_id null = the report names none.
--- whether the money of a charge went back before it was credited
CREATE OR REPLACE FUNCTION is_charge_reversed(p_payment payments, p_charge_id text) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF p_payment.outcome <> 'refunded' THEN
    RETURN false;
  END IF;
  RETURN NOT EXISTS (SELECT 1 FROM payment_reversals r WHERE r.payment_id = p_payment.id AND r.status = 'done' AND r.charge_id <> p_charge_id)
    OR p_payment.amount_kopeks <= (SELECT coalesce(sum(r.amount_kopeks), 0) FROM payment_reversals r
      WHERE r.payment_id = p_payment.id AND r.status = 'done' AND coalesce(r.charge_id = p_charge_id, true));
END $$;

-- Records that a charge which is not credited, because its money went back, is the one that the reversals without a charge are of: they are of
-- one charge of the invoice, and another one that comes later is credited (spec 10 M1). Returns false when the charge is not, or no longer,
-- one whose money went back.
--- records that the reversals without a charge are of a charge that is not credited because of them
CREATE OR REPLACE FUNCTION claim_reversals(p_payment_id integer, p_charge_id text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  v_payment payments := lock_payment_with_payer(p_payment_id);
BEGIN
  IF v_payment.transaction_id IS NOT NULL OR NOT is_charge_reversed(v_payment, p_charge_id) THEN
    RETURN false;
  END IF;
  UPDATE payment_reversals r SET charge_id = p_charge_id
  WHERE r.payment_id = p_payment_id AND r.status = 'done' AND r.charge_id IS NULL AND p_charge_id IS NOT NULL;
  RETURN true;
END $$;

-- Takes reversals of other charges away from a payment that has just been credited with p_charge_id: while it was not credited, any charge of
-- its invoice could have been the one (spec 10 M1). The payment is locked.
--- takes reversals of other charges away from a payment that was just credited
CREATE OR REPLACE FUNCTION detach_other_reversals(p_payment_id integer, p_charge_id text, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_payment payments;
  v_reversal payment_reversals;
BEGIN
  FOR v_reversal IN DELETE FROM payment_reversals r
    WHERE r.payment_id = p_payment_id AND r.status = 'done' AND r.requested_by IS NULL AND r.transaction_id IS NULL AND r.charge_id <> p_charge_id
    RETURNING r.*
  LOOP
    SELECT p.* INTO v_payment FROM payments p WHERE p.id = p_payment_id;
    PERFORM return_charge(v_reversal.method, v_reversal.charge_id, p_payment_id, v_payment.user_id, v_reversal.reversal_id, v_reversal.kind,
      v_reversal.amount_kopeks, v_payment.currency,
      jsonb_build_object('orderId', v_payment.order_id, 'externalId', v_payment.external_id, 'chargeId', v_reversal.charge_id), '{}', p_now);
  END LOOP;
END $$;

-- Hands the debit of a requested refund over to another reversal of the same money, as far as both together are more than is left of the
-- payment: the provider will hardly give the money back twice, and when it refuses the refund, only the rest of the debit goes back. The
-- payment and its payer are locked. Returns how much the other reversal need not debit.
--- hands the debit of a requested refund over to another reversal of the same money
CREATE OR REPLACE FUNCTION take_over_refund_debit(p_payment_id integer, p_amount bigint, p_left bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  v_refund record;
  v_debited bigint;
BEGIN
  SELECT r.id, r.amount_kopeks, r.debited_kopeks INTO v_refund FROM payment_reversals r
  WHERE r.payment_id = p_payment_id AND r.status = 'requested' FOR UPDATE;
  IF NOT FOUND THEN
    RETURN 0;
  END IF;
  v_debited := least(greatest(v_refund.amount_kopeks + p_amount - p_left, 0), v_refund.debited_kopeks, p_amount);
  UPDATE payment_reversals r SET debited_kopeks = r.debited_kopeks - v_debited WHERE r.id = v_refund.id;
  RETURN v_debited;
END $$;

-- Applies a reversal that was classified as one of the money of a payment (src/domain/payments/classify-report.ts), under the locks:
-- p_seen_transaction_id is the credit that the payment had when it was classified. Nothing is done when it has another one by now ('changed':
-- classify again), and when the report names no charge while a second one of the same invoice waits for a decision ('ambiguous': it may be
-- either). A reversal that is a case of this payment was decided on before, and stays one ('known'). Money that an administrator decided to give
-- back in the cabinet of the provider is in no balance, so that its refund takes nothing from one. Else as reverse_payment().
--- applies a reported reversal to the credit that it was classified for
CREATE OR REPLACE FUNCTION reverse_reported(p_payment_id integer, p_seen_transaction_id integer, p_external_id text, p_charge_id text,
  p_reversal_id text, p_kind text, p_amount bigint, p_titles jsonb, p_now timestamptz)
RETURNS TABLE (outcome text, debited bigint, remainder bigint) LANGUAGE plpgsql AS $$
DECLARE
  v_payment payments := lock_payment_with_payer(p_payment_id);
BEGIN
  IF v_payment.transaction_id IS DISTINCT FROM p_seen_transaction_id THEN
    RETURN QUERY SELECT 'changed'::text, 0::bigint, 0::bigint;
  ELSIF EXISTS (SELECT 1 FROM payment_cases c WHERE c.kind = 'reversal_unknown' AND c.method = v_payment.method
      AND c.reference = p_reversal_id AND c.payment_id = p_payment_id) THEN
    RETURN QUERY SELECT 'known'::text, 0::bigint, 0::bigint;
  ELSIF p_charge_id IS NULL AND EXISTS (SELECT 1 FROM payment_cases c
      WHERE c.payment_id = p_payment_id AND c.kind = 'second_payment' AND (c.status = 'open' OR (c.resolution = 'refund'
          AND returned_of_charge(c.method, c.charge_id, c.amount_kopeks, c.currency) < c.amount_kopeks))
        AND coalesce(c.details ->> 'externalId', p_external_id) IS NOT DISTINCT FROM coalesce(p_external_id, c.details ->> 'externalId'))
    AND NOT EXISTS (SELECT 1 FROM payment_reversals r WHERE r.payment_id = p_payment_id
      AND (r.reversal_id = p_reversal_id OR r.status = 'requested')) THEN
    RETURN QUERY SELECT 'ambiguous'::text, 0::bigint, 0::bigint;
  ELSIF p_kind = 'refund' AND is_refund_of_surplus(v_payment, p_reversal_id, p_amount) THEN
    RETURN QUERY SELECT r.* FROM return_charge(v_payment.method, 'overpaid:' || p_payment_id, p_payment_id, v_payment.user_id, p_reversal_id,
      p_kind, p_amount, v_payment.currency, '{}', p_titles, p_now) r;
  ELSE
    RETURN QUERY SELECT r.* FROM reverse_payment(p_payment_id, p_reversal_id, p_kind, p_amount, p_titles, p_now, p_charge_id) r;
  END IF;
END $$;

-- Whether a refund is of what was paid beyond the invoice, which is in no balance: exactly that while its case waits, or a part of it after an
-- administrator decided to give it back. Not a refund that was applied before, or was requested here.
--- whether a refund is of what was paid beyond the invoice
CREATE OR REPLACE FUNCTION is_refund_of_surplus(p_payment payments, p_reversal_id text, p_amount bigint) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN EXISTS (SELECT 1 FROM payment_cases c
      CROSS JOIN LATERAL (SELECT c.amount_kopeks - returned_of_charge(c.method, c.charge_id, c.amount_kopeks, c.currency) AS kopeks) rest
      WHERE c.method = p_payment.method AND c.charge_id = 'overpaid:' || p_payment.id
        AND CASE WHEN c.status = 'open' THEN p_amount = rest.kopeks ELSE c.resolution = 'refund' AND p_amount <= rest.kopeks END)
    AND NOT EXISTS (SELECT 1 FROM payment_reversals r WHERE r.payment_id = p_payment.id
      AND (r.reversal_id = p_reversal_id OR r.status = 'requested'));
END $$;

-- Applies a reversal that the provider has reported or confirmed, once per (method, p_reversal_id). A refund that was requested here for
-- the same amount and has no id yet is this one. p_amount null = everything that has not been reversed yet. What is beyond the payment went
-- back of the money that was paid beyond it, whose case is settled with it. p_charge_id: the money that went back, where the report names it.
--
-- outcome: reversed | known (was applied before, or requested here) | uncredited (the payment was never credited; only its state changes) |
-- unknown (no such payment).
--- applies a reversal once
CREATE OR REPLACE FUNCTION reverse_payment(p_payment_id integer, p_reversal_id text, p_kind text, p_amount bigint, p_titles jsonb,
  p_now timestamptz, p_charge_id text DEFAULT NULL)
RETURNS TABLE (outcome text, debited bigint, remainder bigint) LANGUAGE plpgsql AS $$
DECLARE
  v_payment payments;
  v_known integer;
  v_left bigint;
  v_amount bigint;
  v_debited bigint := 0;
  v_debit record;
  v_transaction integer;
  v_reversal integer;
BEGIN
  v_payment := lock_payment_with_payer(p_payment_id);
  IF v_payment.id IS NULL THEN
    RETURN QUERY SELECT 'unknown'::text, 0::bigint, 0::bigint;
    RETURN;
  END IF;

  -- A requested refund has given nothing back yet, and may be refused.
  SELECT v_payment.amount_kopeks - coalesce(sum(r.amount_kopeks), 0) INTO v_left FROM payment_reversals r
  WHERE r.payment_id = p_payment_id AND r.status = 'done' AND coalesce(r.charge_id = p_charge_id, true);
  v_amount := least(coalesce(p_amount, v_payment.amount_kopeks), v_left);

  SELECT r.id INTO v_known FROM payment_reversals r WHERE r.method = v_payment.method AND r.reversal_id = p_reversal_id;
  IF v_known IS NULL AND p_kind = 'refund' THEN
    UPDATE payment_reversals r SET reversal_id = p_reversal_id, status = 'done', finished_at = p_now
    WHERE r.id = (SELECT r.id FROM payment_reversals r WHERE r.payment_id = p_payment_id AND r.status = 'requested' AND r.reversal_id IS NULL
      AND (p_amount IS NULL OR r.amount_kopeks = p_amount) AND coalesce(r.charge_id = p_charge_id, true) ORDER BY r.id LIMIT 1)
    RETURNING r.id INTO v_known;
    v_reversal := v_known;
  ELSIF v_known IS NOT NULL THEN
    UPDATE payment_reversals r SET status = 'done', finished_at = p_now WHERE r.id = v_known AND r.status = 'requested'
    RETURNING r.id INTO v_reversal;
  END IF;
  -- A requested refund that is confirmed has its consequences now.
  IF v_reversal IS NOT NULL THEN
    PERFORM send_job('payments.after-reversal', jsonb_build_object('reversalId', v_reversal));
  END IF;
  IF v_known IS NULL AND (p_amount IS NULL OR p_amount > v_amount) AND EXISTS (SELECT 1 FROM payment_cases c
      WHERE c.method = v_payment.method AND c.charge_id = 'overpaid:' || p_payment_id) THEN
    PERFORM return_charge(v_payment.method, 'overpaid:' || p_payment_id, p_payment_id, v_payment.user_id,
      p_reversal_id || ':overpaid', p_kind, p_amount - v_amount, v_payment.currency, '{}', p_titles, p_now);
  END IF;
  IF v_known IS NOT NULL OR v_amount <= 0 THEN
    PERFORM mark_payment_reversed(p_payment_id, p_now);
    -- Beyond the invoice, and of a charge that is not named: two charges of it may have come and gone before either was reported.
    IF v_known IS NULL AND v_payment.transaction_id IS NULL AND p_charge_id IS NULL AND p_amount > 0 THEN
      RETURN QUERY SELECT r.* FROM return_charge(v_payment.method, NULL, p_payment_id, v_payment.user_id, p_reversal_id, p_kind, p_amount,
        v_payment.currency, jsonb_build_object('externalId', v_payment.external_id, 'orderId', v_payment.order_id), p_titles, p_now) r;
      RETURN;
    END IF;
    RETURN QUERY SELECT 'known'::text, 0::bigint, 0::bigint;
    RETURN;
  END IF;

  IF v_payment.transaction_id IS NOT NULL THEN
    v_debited := take_over_refund_debit(p_payment_id, v_amount, v_left);
    SELECT d.debited, d.transaction_id INTO v_debit
    FROM debit_reversal(v_payment, v_amount - v_debited, 'reversal:' || p_reversal_id, p_titles, p_now) d;
    v_debited := v_debited + v_debit.debited;
    v_transaction := v_debit.transaction_id;
  END IF;
  INSERT INTO payment_reversals (method, payment_id, kind, reversal_id, charge_id, amount_kopeks, debited_kopeks, status, transaction_id,
    created_at, finished_at)
  VALUES (v_payment.method, p_payment_id, p_kind, p_reversal_id, p_charge_id, v_amount, v_debited, 'done', v_transaction, p_now, p_now)
  RETURNING id INTO v_reversal;
  PERFORM mark_payment_reversed(p_payment_id, p_now);
  IF v_payment.transaction_id IS NULL THEN
    RETURN QUERY SELECT 'uncredited'::text, 0::bigint, 0::bigint;
    RETURN;
  END IF;
  IF v_amount > v_debited THEN
    PERFORM open_payment_case('reversal_remainder', v_payment.method, p_reversal_id, p_payment_id, v_payment.user_id, v_amount - v_debited,
      v_payment.currency, jsonb_build_object('kind', p_kind, 'amount_kopeks', v_amount, 'debited_kopeks', v_debited), p_now);
  END IF;
  PERFORM send_job('payments.after-reversal', jsonb_build_object('reversalId', v_reversal));
  RETURN QUERY SELECT 'reversed'::text, v_debited, v_amount - v_debited;
END $$;

-- A payment that is reversed as a whole is refunded; one that is reversed in part stays paid. A case about its money, which was not credited,
-- needs no decision any more (spec 10 M8). What a provider has given back beyond a
-- credited payment, because it carried out a refund besides a chargeback, is a case.
--- marks a payment refunded that was reversed as a whole; opens a case for what was given back beyond it
CREATE OR REPLACE FUNCTION mark_payment_reversed(p_payment_id integer, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_payment payments;
  v_reversed bigint;
BEGIN
  SELECT p.* INTO v_payment FROM payments p WHERE p.id = p_payment_id;
  SELECT coalesce(sum(r.amount_kopeks), 0) INTO v_reversed FROM payment_reversals r
  WHERE r.payment_id = p_payment_id AND r.status = 'done' AND is_reversal_of_credit(r, v_payment);
  UPDATE payments p SET outcome = 'refunded', updated_at = p_now
  WHERE p.id = p_payment_id AND p.outcome <> 'refunded' AND p.amount_kopeks <= v_reversed;
  IF v_payment.transaction_id IS NULL THEN
    -- Less than the invoice may have come. No more than the invoice is recorded as reversed.
    UPDATE payment_cases c SET status = 'resolved', resolution = 'reversed', resolved_by = 'provider', resolved_at = p_now
    WHERE c.payment_id = p_payment_id AND c.status = 'open' AND c.kind IN ('unknown_payment', 'amount_mismatch', 'no_user', 'no_purchase')
      AND (SELECT sum(r.amount_kopeks) FROM payment_reversals r WHERE r.payment_id = p_payment_id AND r.status = 'done'
        AND coalesce(r.charge_id = c.charge_id, true))
        >= least(CASE WHEN c.currency = v_payment.currency THEN c.amount_kopeks END, v_payment.amount_kopeks);
  END IF;
  IF v_payment.transaction_id IS NOT NULL AND v_reversed > v_payment.amount_kopeks THEN
    PERFORM open_payment_case('reversal_remainder', v_payment.method, 'surplus:' || p_payment_id, p_payment_id, v_payment.user_id,
      v_reversed - v_payment.amount_kopeks, v_payment.currency, jsonb_build_object('kind', 'surplus', 'reversed_kopeks', v_reversed), p_now);
  END IF;
END $$;

-- Requests a refund, before the provider is asked. Of a credited payment the balance is debited at once with what it has, so that the payer
-- cannot spend it meanwhile. With p_uncredited it is money that came and was credited to nobody: p_amount of it, and no balance is touched.
-- One request of a payment at a time (payment_reversals_one_requested).
--
-- outcome: requested | unknown | not_credited | credited (with p_uncredited) | too_much (more than is left of the payment) | requested_before
--- requests a refund and debits the balance
CREATE OR REPLACE FUNCTION request_refund(p_payment_id integer, p_amount bigint, p_requested_by text, p_reason text, p_titles jsonb,
  p_now timestamptz, p_uncredited boolean DEFAULT false)
RETURNS TABLE (outcome text, reversal_id integer, debited bigint, left_kopeks bigint) LANGUAGE plpgsql AS $$
DECLARE
  v_payment payments;
  v_left bigint;
  v_amount bigint;
  v_id integer;
  v_debit record;
BEGIN
  v_payment := lock_payment_with_payer(p_payment_id);
  IF v_payment.id IS NULL THEN
    RETURN QUERY SELECT 'unknown'::text, NULL::integer, 0::bigint, 0::bigint;
    RETURN;
  END IF;
  SELECT v_payment.amount_kopeks - coalesce(sum(r.amount_kopeks), 0) INTO v_left FROM payment_reversals r
  WHERE r.payment_id = p_payment_id AND r.status <> 'failed' AND is_reversal_of_credit(r, v_payment);
  v_amount := coalesce(p_amount, v_left);
  IF p_uncredited THEN
    -- Another sum than the invoice's may have come.
    v_left := v_amount;
  END IF;
  IF p_uncredited AND v_payment.transaction_id IS NOT NULL THEN
    RETURN QUERY SELECT 'credited'::text, NULL::integer, 0::bigint, v_left;
    RETURN;
  ELSIF NOT p_uncredited AND v_payment.transaction_id IS NULL THEN
    RETURN QUERY SELECT 'not_credited'::text, NULL::integer, 0::bigint, v_left;
    RETURN;
  ELSIF EXISTS (SELECT 1 FROM payment_reversals r WHERE r.payment_id = p_payment_id AND r.status = 'requested') THEN
    RETURN QUERY SELECT 'requested_before'::text, NULL::integer, 0::bigint, v_left;
    RETURN;
  ELSIF v_amount <= 0 OR v_amount > v_left THEN
    RETURN QUERY SELECT 'too_much'::text, NULL::integer, 0::bigint, v_left;
    RETURN;
  END IF;
  INSERT INTO payment_reversals (method, payment_id, kind, amount_kopeks, status, requested_by, reason, created_at)
  VALUES (v_payment.method, p_payment_id, 'refund', v_amount, 'requested', p_requested_by, p_reason, p_now) RETURNING id INTO v_id;
  PERFORM send_job('payments.send-refund', jsonb_build_object('reversalId', v_id));
  IF p_uncredited THEN
    RETURN QUERY SELECT 'requested'::text, v_id, 0::bigint, v_left;
    RETURN;
  END IF;
  SELECT d.debited, d.transaction_id INTO v_debit
  FROM debit_reversal(v_payment, v_amount, 'refund:' || v_id, p_titles, p_now) d;
  UPDATE payment_reversals r SET debited_kopeks = v_debit.debited, transaction_id = v_debit.transaction_id WHERE r.id = v_id;
  RETURN QUERY SELECT 'requested'::text, v_id, v_debit.debited, v_left;
END $$;

-- Ends a requested refund that the provider has carried out. Returns false when it was ended before.
--- ends a requested refund
CREATE OR REPLACE FUNCTION complete_refund(p_id integer, p_reversal_id text, p_now timestamptz) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  v_payment integer;
BEGIN
  UPDATE payment_reversals r SET status = 'done', reversal_id = coalesce(r.reversal_id, p_reversal_id), finished_at = p_now
  WHERE r.id = p_id AND r.status = 'requested' RETURNING r.payment_id INTO v_payment;
  IF v_payment IS NULL THEN
    RETURN false;
  END IF;
  PERFORM mark_payment_reversed(v_payment, p_now);
  PERFORM send_job('payments.after-reversal', jsonb_build_object('reversalId', p_id));
  RETURN true;
END $$;

-- Ends a requested refund that the provider refuses: what was debited goes back to the balance that it came from. Returns false when it was
-- ended before.
--- ends a refused refund and gives the debit back
CREATE OR REPLACE FUNCTION fail_refund(p_id integer, p_error text, p_titles jsonb, p_now timestamptz) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  v_reversal record;
  v_user integer;
  v_language text;
  v_posting record;
BEGIN
  SELECT t.user_id INTO v_user FROM payment_reversals r JOIN transactions t ON t.id = r.transaction_id WHERE r.id = p_id;
  SELECT lower(split_part(split_part(u.language, '-', 1), '_', 1)) INTO v_language FROM users u WHERE u.id = v_user FOR NO KEY UPDATE;
  UPDATE payment_reversals r SET status = 'failed', last_error = left(p_error, 500), finished_at = p_now
  WHERE r.id = p_id AND r.status = 'requested' RETURNING r.* INTO v_reversal;
  IF v_reversal.id IS NULL THEN
    RETURN false;
  END IF;
  IF v_reversal.debited_kopeks > 0 THEN
    SELECT p.* INTO v_posting FROM post_transaction(v_user, 'refund', v_reversal.debited_kopeks, 'provider_clearing',
      'provider:' || v_reversal.method, v_reversal.method, 'refund-failed:' || p_id, coalesce(p_titles ->> v_language, p_titles ->> 'ru'), p_now) p;
    IF v_posting.outcome <> 'posted' THEN
      RAISE EXCEPTION 'returning a debit was %', v_posting.outcome;
    END IF;
  END IF;
  RETURN true;
END $$;
