-- Money of changes that wait for a second administrator (spec 01 section 4.8).

-- Moves p_amount kopeks of the user's balance to the account approval_hold:<id>, so that it cannot be spent meanwhile. Lists do not show the
-- movement; the user's sockets get the new balance. Returns whether the balance covered it; false has written nothing.
--- moves what a waiting change would take from the balance to its account
CREATE OR REPLACE FUNCTION reserve_for_approval(p_id integer, p_amount bigint, p_now timestamptz) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  v_user integer;
  v_posting record;
BEGIN
  SELECT a.user_id INTO v_user FROM approvals a WHERE a.id = p_id;
  SELECT p.* INTO v_posting FROM post_transaction(v_user, 'withdrawal', -p_amount, 'approval_hold', 'approval_hold:' || p_id, 'hold',
    'approval:' || p_id, NULL, p_now, NULL, true) p;
  IF v_posting.outcome <> 'posted' THEN
    RETURN false;
  END IF;
  UPDATE approvals a SET reserve_transaction_id = v_posting.transaction_id WHERE a.id = p_id;
  PERFORM announce_reserve(v_user, -p_amount, v_posting.balance_kopeks, NULL, p_now);
  RETURN true;
END $$;

-- Ends a waiting change: gives what it holds back to the balance and sets its state. The user is locked. An approved one is carried out by the
-- caller in the same transaction, so that nobody can spend what came back. Returns false when it does not wait any more.
--- ends a waiting change; what it holds goes back
CREATE OR REPLACE FUNCTION end_approval(p_id integer, p_status text, p_decided_by integer, p_reason text, p_now timestamptz)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  v_approval approvals;
  v_held bigint;
  v_posting record;
  v_release integer;
BEGIN
  SELECT a.* INTO v_approval FROM approvals a WHERE a.id = p_id AND a.status = 'waiting' FOR UPDATE;
  IF v_approval.id IS NULL THEN
    RETURN false;
  END IF;
  IF v_approval.reserve_transaction_id IS NOT NULL THEN
    SELECT -t.amount_kopeks INTO v_held FROM transactions t WHERE t.id = v_approval.reserve_transaction_id;
    SELECT p.* INTO v_posting FROM post_transaction(v_approval.user_id, 'withdrawal', v_held, 'approval_hold', 'approval_hold:' || p_id,
      'release', 'approval:' || p_id, NULL, p_now, NULL, true) p;
    IF v_posting.outcome <> 'posted' THEN
      RAISE EXCEPTION 'the release of approval % was %', p_id, v_posting.outcome;
    END IF;
    v_release := v_posting.transaction_id;
    IF p_status <> 'approved' THEN
      PERFORM announce_reserve(v_approval.user_id, v_held, v_posting.balance_kopeks, NULL, p_now);
    END IF;
  END IF;
  UPDATE approvals a SET status = p_status, decided_by = p_decided_by, decided_at = p_now, reason = p_reason,
    release_transaction_id = v_release
  WHERE a.id = p_id;
  RETURN true;
END $$;

-- For the erasure of a locked user: ends what waits about his balance.
--- ends the waiting changes of a user who is erased
CREATE OR REPLACE FUNCTION cancel_approvals(p_user_id integer, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM end_approval(a.id, 'withdrawn', NULL, 'The account was erased', p_now)
  FROM (SELECT id FROM approvals WHERE user_id = p_user_id AND status = 'waiting' ORDER BY id) a;
END $$;

-- Problems of held amounts: the account of a waiting change has what was taken for it, that of any other is empty.
--- lists approvals whose account has not what they hold
CREATE OR REPLACE FUNCTION ledger_check_approvals() RETURNS TABLE (problem text, row_id bigint, detail text) LANGUAGE sql STABLE AS $$
  SELECT 'hold_differs_from_approval', a.id::bigint, x.expected || ' expected, ' || x.held || ' held'
    FROM approvals a LEFT JOIN transactions t ON t.id = a.reserve_transaction_id
    CROSS JOIN LATERAL (SELECT CASE WHEN a.status = 'waiting' THEN coalesce(-t.amount_kopeks, 0) ELSE 0 END AS expected,
      coalesce((SELECT sum(e.kopeks) FROM ledger_accounts l JOIN ledger_entries e ON e.account_id = l.id
        WHERE l.key = 'approval_hold:' || a.id), 0) AS held) x
    WHERE a.reserve_transaction_id IS NOT NULL AND x.expected <> x.held
$$;
