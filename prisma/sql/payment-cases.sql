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
