-- Withdrawal requests (spec 03 section 6): their counter, and the deletion of what they say about a person.

-- How many requests there are by status, and what they sum to (withdrawal_counters): the administrators' list shows an exact total and the
-- pending amount at any size. Rows are only added; occasionally a change merges the unlocked rows. A sum is exact within the reader's snapshot.
--- appends to a status, merges now and then
CREATE OR REPLACE FUNCTION add_withdrawal_counter(p_status text, p_requests integer, p_amount bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_id bigint;
BEGIN
  INSERT INTO withdrawal_counters (status, requests, amount_kopeks) VALUES (p_status, p_requests, p_amount) RETURNING id INTO v_id;
  IF v_id % 64 = 0 THEN
    WITH removed AS (
      DELETE FROM withdrawal_counters WHERE id = ANY(ARRAY(SELECT id FROM withdrawal_counters FOR UPDATE SKIP LOCKED))
      RETURNING status, requests, amount_kopeks)
    INSERT INTO withdrawal_counters (status, requests, amount_kopeks)
    SELECT status, sum(requests)::int, sum(amount_kopeks)::bigint FROM removed GROUP BY status
    HAVING sum(requests) <> 0 OR sum(amount_kopeks) <> 0;
  END IF;
END $$;

-- Recounts everything, for example after a bulk load without triggers. Writers of requests wait until it ends.
--- recounts `withdrawal_counters`
CREATE OR REPLACE FUNCTION recount_withdrawals() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  LOCK TABLE withdrawal_requests IN SHARE MODE;
  DELETE FROM withdrawal_counters;
  INSERT INTO withdrawal_counters (status, requests, amount_kopeks)
  SELECT status, count(*)::int, sum(amount_kopeks)::bigint FROM withdrawal_requests GROUP BY status;
END $$;

--- counts a changed request for a payout
CREATE OR REPLACE FUNCTION count_withdrawal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    PERFORM add_withdrawal_counter(OLD.status, -1, -OLD.amount_kopeks);
  END IF;
  IF TG_OP <> 'DELETE' THEN
    PERFORM add_withdrawal_counter(NEW.status, 1, NEW.amount_kopeks);
  END IF;
  RETURN NULL;
END $$;

--- keeps `withdrawal_counters`
CREATE OR REPLACE TRIGGER withdrawal_requests_count AFTER INSERT OR DELETE ON withdrawal_requests
  FOR EACH ROW EXECUTE FUNCTION count_withdrawal();
--- keeps `withdrawal_counters`
CREATE OR REPLACE TRIGGER withdrawal_requests_count_change AFTER UPDATE OF status, amount_kopeks ON withdrawal_requests FOR EACH ROW
  WHEN (OLD.status <> NEW.status OR OLD.amount_kopeks <> NEW.amount_kopeks) EXECUTE FUNCTION count_withdrawal();

-- Moves the amount of a new request from the balance to the account withdrawal_hold:<id>, so that it cannot be spent (spec 10 M5). The user is
-- locked. Lists do not show the movement: the approval is the withdrawal. The user's sockets are told of the balance. Returns whether the
-- balance covered it; false has written nothing.
--- moves the amount of a request from the balance to its account
CREATE OR REPLACE FUNCTION reserve_withdrawal(p_request_id integer, p_description text, p_now timestamptz) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  v_request withdrawal_requests;
  v_posting record;
BEGIN
  SELECT r.* INTO v_request FROM withdrawal_requests r WHERE r.id = p_request_id;
  SELECT p.* INTO v_posting FROM post_transaction(v_request.user_id, 'withdrawal', -v_request.amount_kopeks, 'withdrawal_hold',
    'withdrawal_hold:' || p_request_id, 'hold', 'withdrawal:' || p_request_id, p_description, p_now, NULL, true) p;
  IF v_posting.outcome <> 'posted' THEN
    RETURN false;
  END IF;
  UPDATE withdrawal_requests r SET reserve_transaction_id = v_posting.transaction_id WHERE r.id = p_request_id;
  PERFORM announce_reserve(v_request.user_id, -v_request.amount_kopeks, v_posting.balance_kopeks, p_description, p_now);
  RETURN true;
END $$;

--- sends the user's sockets the balance
CREATE OR REPLACE FUNCTION announce_reserve(p_user_id integer, p_amount bigint, p_balance bigint, p_description text, p_now timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM emit_event('balance.change',
    jsonb_build_object('amount_kopeks', p_amount, 'amount_rubles', trunc(p_amount / 100.0, 2), 'new_balance_kopeks', p_balance,
      'new_balance_rubles', trunc(p_balance / 100.0, 2), 'description', p_description),
    'user', p_user_id, p_now);
END $$;

-- Ends a pending request that is not approved, and gives the held amount back to the balance; a debt of the referrer is paid from it first
-- (spec 10 M4). The user is locked. Returns false when the request is not a pending one of this user.
--- ends a request without an approval; what it reserves goes back
CREATE OR REPLACE FUNCTION end_withdrawal(p_request_id integer, p_user_id integer, p_status text, p_description text, p_now timestamptz,
  p_debt_titles jsonb DEFAULT NULL)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  v_request withdrawal_requests;
  v_posting record;
  v_release integer;
BEGIN
  SELECT r.* INTO v_request FROM withdrawal_requests r
  WHERE r.id = p_request_id AND r.user_id = p_user_id AND r.status = 'pending' FOR UPDATE;
  IF v_request.id IS NULL THEN
    RETURN false;
  END IF;
  IF v_request.reserve_transaction_id IS NOT NULL THEN
    SELECT p.* INTO v_posting FROM post_transaction(p_user_id, 'withdrawal', v_request.amount_kopeks, 'withdrawal_hold',
      'withdrawal_hold:' || p_request_id, 'release', 'withdrawal:' || p_request_id, p_description, p_now, NULL, true) p;
    IF v_posting.outcome <> 'posted' THEN
      RAISE EXCEPTION 'the release of withdrawal request % was %', p_request_id, v_posting.outcome;
    END IF;
    v_release := v_posting.transaction_id;
  END IF;
  UPDATE withdrawal_requests r SET status = p_status, release_transaction_id = v_release WHERE r.id = p_request_id;
  IF v_release IS NOT NULL THEN
    PERFORM announce_reserve(p_user_id, v_request.amount_kopeks, v_posting.balance_kopeks, p_description, p_now);
    PERFORM pay_referral_debt(p_user_id, v_request.amount_kopeks, p_now, p_debt_titles);
  END IF;
  RETURN true;
END $$;

-- Cancels the pending requests of a locked user who is about to be erased.
--- cancels the pending requests of a user who is erased
CREATE OR REPLACE FUNCTION cancel_withdrawals(p_user_id integer, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM end_withdrawal(r.id, p_user_id, 'cancelled', NULL, p_now)
  FROM (SELECT id FROM withdrawal_requests WHERE user_id = p_user_id AND status = 'pending' ORDER BY id) r;
END $$;

-- For the erasure of a user (spec 01 H18): deletes payment details, comments and analyses. An approved request keeps its payment details,
-- because the money has left the balance and is still to be paid out; they go when it is completed.
--- deletes what the requests of an erased user say about the person
CREATE OR REPLACE FUNCTION erase_withdrawals(p_user_id integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE withdrawal_requests r SET risk_analysis = NULL,
    payment_details = CASE WHEN r.status = 'approved' THEN r.payment_details END, admin_comment = NULL, first_comment = NULL
  WHERE r.user_id = p_user_id;
END $$;
