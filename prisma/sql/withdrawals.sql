-- Withdrawal requests (spec 03 section 6): their counter, and the deletion of what they say about a person.

-- How many requests there are by status, and what they sum to (withdrawal_counters): the administrators' list shows an exact total and the
-- pending amount at any size. Rows are only added; occasionally a change merges the unlocked rows. A sum is exact within the reader's snapshot.
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
CREATE OR REPLACE FUNCTION recount_withdrawals() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  LOCK TABLE withdrawal_requests IN SHARE MODE;
  DELETE FROM withdrawal_counters;
  INSERT INTO withdrawal_counters (status, requests, amount_kopeks)
  SELECT status, count(*)::int, sum(amount_kopeks)::bigint FROM withdrawal_requests GROUP BY status;
END $$;

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

CREATE OR REPLACE TRIGGER withdrawal_requests_count AFTER INSERT OR DELETE ON withdrawal_requests
  FOR EACH ROW EXECUTE FUNCTION count_withdrawal();
CREATE OR REPLACE TRIGGER withdrawal_requests_count_change AFTER UPDATE OF status, amount_kopeks ON withdrawal_requests FOR EACH ROW
  WHEN (OLD.status <> NEW.status OR OLD.amount_kopeks <> NEW.amount_kopeks) EXECUTE FUNCTION count_withdrawal();

-- For the erasure of a locked user (spec 01 H18): cancels pending requests, and deletes payment details, comments and analyses. An approved
-- request keeps its payment details, because the money has left the balance and is still to be paid out; they go when it is completed.
CREATE OR REPLACE FUNCTION erase_withdrawals(p_user_id integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE withdrawal_requests r SET status = CASE WHEN r.status = 'pending' THEN 'cancelled' ELSE r.status END, risk_analysis = NULL,
    payment_details = CASE WHEN r.status = 'approved' THEN r.payment_details END, admin_comment = NULL, first_comment = NULL
  WHERE r.user_id = p_user_id;
END $$;
