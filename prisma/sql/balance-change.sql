-- Changes a balance by hand (spec 01 sections 10, 11.2 and H16) as one statement, which is a whole transaction: the idempotency key, the
-- movement, the answer and the stored answer.
--
-- p_key null = without an idempotency key. The user is the one with p_messenger_id, else the one with p_user_id; either may be null.
-- p_amount is in kopeks, positive adds; 0 changes nothing. p_answer is the form of the answer, which is stored with the key:
--   'view':   {"view": user_view(), "at": p_now}; the moment decides what an ended subscription is shown as
--   'change': {"value": {"oldBalanceKopeks", "newBalanceKopeks"}}, the form in which runOnce() stores an answer
--
-- outcome: changed | no_user | insufficient | repeated. Only 'changed' has written anything. With 'repeated' the other columns are those of
-- the stored key, which the caller compares with its request; they are null when the key was removed in the meantime.
-- Raises SQLSTATE AM001 when a number of JSON could not hold the new balance exactly.
--
-- A second call with one key waits in claim_key() for the first one. A refusal deletes the row of the key again, so the key may be used
-- again, and the call that waited for it goes on.
--- a balance changed by hand: key, movement, answer and stored answer
CREATE OR REPLACE FUNCTION change_balance(
  p_actor text, p_key text, p_operation text, p_body_hash text, p_messenger_id bigint, p_user_id integer, p_amount bigint,
  p_description text, p_internal boolean, p_answer text, p_now timestamptz)
RETURNS TABLE (outcome text, balance_kopeks bigint, response json, operation text, body_hash text) LANGUAGE plpgsql AS $$
DECLARE
  v_claim record;
  v_user integer;
  v_outcome text;
  v_balance bigint;
  v_response json;
BEGIN
  SELECT c.* INTO v_claim FROM claim_key(p_actor, p_key, p_operation, p_body_hash, p_now) c;
  IF NOT v_claim.claimed THEN
    RETURN QUERY SELECT 'repeated'::text, NULL::bigint, (v_claim.known).response, (v_claim.known).operation::text,
      (v_claim.known).body_hash::text;
    RETURN;
  END IF;

  -- Locked already here: an account that is being erased is awaited, and then found no longer (spec 10 U8).
  SELECT u.id INTO v_user FROM users u
  WHERE u.id = coalesce((SELECT m.id FROM users m WHERE m.messenger_id = p_messenger_id), p_user_id)
    AND u.referral_code <> 'erased:' || u.id FOR NO KEY UPDATE;
  IF p_amount = 0 THEN
    SELECT 'posted', u.balance_kopeks INTO v_outcome, v_balance FROM users u WHERE u.id = v_user FOR NO KEY UPDATE;
    IF NOT FOUND THEN
      v_outcome := 'no_user';
    END IF;
  ELSE
    SELECT p.outcome, p.balance_kopeks INTO v_outcome, v_balance
    FROM post_transaction(v_user, CASE WHEN p_amount > 0 THEN 'deposit' ELSE 'withdrawal' END, p_amount, 'manual_adjustment',
      'manual_adjustment', 'manual', NULL, p_description, p_now, NULL, p_internal) p;
  END IF;
  IF v_outcome <> 'posted' THEN
    DELETE FROM idempotency_keys k WHERE k.actor = p_actor AND k.key = p_key;
    RETURN QUERY SELECT v_outcome, v_balance, NULL::json, NULL::text, NULL::text;
    RETURN;
  END IF;
  IF v_balance > 9007199254740991 THEN
    RAISE EXCEPTION 'the balance of user % would be too large', v_user USING ERRCODE = 'AM001';
  END IF;

  IF p_answer = 'view' THEN
    v_response := json_build_object('view', user_view(v_user), 'at', p_now);
  ELSE
    v_response := json_build_object('value',
      json_build_object('oldBalanceKopeks', v_balance - p_amount, 'newBalanceKopeks', v_balance));
  END IF;
  IF p_key IS NOT NULL THEN
    UPDATE idempotency_keys k SET response = v_response WHERE k.actor = p_actor AND k.key = p_key;
  END IF;
  RETURN QUERY SELECT 'changed'::text, v_balance, v_response, p_operation, p_body_hash;
END $$;
