-- Money moves through post_transaction() alone (spec 00, Ledger).

-- Refuses writes that do not come through post_transaction(), which sets and clears this transaction-local flag.
--- refuses money that `post_transaction` does not move
CREATE OR REPLACE FUNCTION refuse_direct_money() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('app.posting', true) IS DISTINCT FROM '1' THEN
    RAISE EXCEPTION 'money moves only through post_transaction()' USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NEW;
END $$;

--- refuses any change
CREATE OR REPLACE FUNCTION refuse_rewriting_history() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END $$;

-- Refuses every change of the owner except the one that move_transactions() makes.
--- refuses a new owner of a transaction
CREATE OR REPLACE FUNCTION refuse_changing_owner() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('app.moving_transactions', true) IS DISTINCT FROM OLD.user_id || ' to ' || NEW.user_id THEN
    RAISE EXCEPTION 'transactions change their owner only through move_transactions()' USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NEW;
END $$;

--- the balance changes through `post_transaction` only
CREATE OR REPLACE TRIGGER users_balance_guard BEFORE UPDATE OF balance_kopeks ON users FOR EACH ROW
  WHEN (OLD.balance_kopeks IS DISTINCT FROM NEW.balance_kopeks) EXECUTE FUNCTION refuse_direct_money();
--- an account begins with an empty balance
CREATE OR REPLACE TRIGGER users_initial_balance_guard BEFORE INSERT ON users FOR EACH ROW
  WHEN (NEW.balance_kopeks <> 0) EXECUTE FUNCTION refuse_direct_money();

--- entries are written by `post_transaction` only
CREATE OR REPLACE TRIGGER ledger_entries_guard BEFORE INSERT ON ledger_entries
  FOR EACH ROW EXECUTE FUNCTION refuse_direct_money();
--- entries cannot be rewritten
CREATE OR REPLACE TRIGGER ledger_entries_append_only BEFORE UPDATE OR DELETE ON ledger_entries
  FOR EACH ROW EXECUTE FUNCTION refuse_rewriting_history();

--- rows are written by `post_transaction` only
CREATE OR REPLACE TRIGGER transactions_guard BEFORE INSERT ON transactions
  FOR EACH ROW EXECUTE FUNCTION refuse_direct_money();
--- rows are never deleted
CREATE OR REPLACE TRIGGER transactions_no_delete BEFORE DELETE ON transactions
  FOR EACH ROW EXECUTE FUNCTION refuse_rewriting_history();
--- amount, type, method and external id never change
CREATE OR REPLACE TRIGGER transactions_amount_fixed BEFORE UPDATE OF amount_kopeks, type, payment_method, external_id ON transactions
  FOR EACH ROW WHEN (OLD.amount_kopeks <> NEW.amount_kopeks OR OLD.type <> NEW.type
    OR OLD.payment_method IS DISTINCT FROM NEW.payment_method OR OLD.external_id IS DISTINCT FROM NEW.external_id)
  EXECUTE FUNCTION refuse_rewriting_history();
--- the owner changes through `move_transactions` only
CREATE OR REPLACE TRIGGER transactions_owner_fixed BEFORE UPDATE OF user_id ON transactions FOR EACH ROW
  WHEN (OLD.user_id <> NEW.user_id) EXECUTE FUNCTION refuse_changing_owner();

-- Returns the id of the account with this key; creates the account when it does not exist.
--- finds or creates an account
CREATE OR REPLACE FUNCTION ledger_account_id(p_kind text, p_key text, p_user_id integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  v_id integer;
BEGIN
  SELECT id INTO v_id FROM ledger_accounts WHERE key = p_key;
  IF v_id IS NULL THEN
    INSERT INTO ledger_accounts (kind, key, user_id) VALUES (p_kind, p_key, p_user_id) ON CONFLICT (key) DO NOTHING RETURNING id INTO v_id;
    IF v_id IS NULL THEN
      SELECT id INTO v_id FROM ledger_accounts WHERE key = p_key;
    END IF;
  END IF;
  RETURN v_id;
END $$;

-- Posts one movement of money. p_amount is in kopeks and signed by its effect on the user: +50000 is a credit of 500 rubles, -50000 a
-- debit. The contra entry goes to the account (p_contra_kind, p_contra_key). With p_instead_kind and p_instead_key the user's side is
-- that account instead of the wallet (a purchase that is paid at a provider directly). (p_method, p_external_id) is the guard against
-- posting a payment twice. A p_internal movement is hidden from lists and emits no event.
--
-- outcome: posted | duplicate | insufficient | no_user. Only 'posted' has changed anything.
--
-- The user's row is locked FOR NO KEY UPDATE: this excludes every other change of the row, but not the foreign key checks of rows that
-- refer to the user. A transaction that writes one subscription twice makes such a check (PostgreSQL does so for a row version of its own
-- transaction), and with FOR UPDATE here two such transactions can deadlock.
--- posts one movement of money
CREATE OR REPLACE FUNCTION post_transaction(
  p_user_id integer, p_type text, p_amount bigint, p_contra_kind text, p_contra_key text, p_method text, p_external_id text,
  p_description text, p_now timestamptz, p_created_at timestamptz DEFAULT NULL, p_internal boolean DEFAULT false,
  p_instead_kind text DEFAULT NULL, p_instead_key text DEFAULT NULL)
RETURNS TABLE (outcome text, transaction_id integer, balance_kopeks bigint) LANGUAGE plpgsql AS $$
DECLARE
  v_balance bigint;
  v_transaction integer;
  v_account integer;
  v_contra_account integer;
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
  -- Concurrent movements of two users with one external id both find no row above; the unique key makes the second one a duplicate.
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
    v_account := ledger_account_id('user_wallet', 'wallet:' || p_user_id, p_user_id);
    UPDATE users u SET balance_kopeks = u.balance_kopeks + p_amount WHERE u.id = p_user_id RETURNING u.balance_kopeks INTO v_balance;
  ELSE
    v_account := ledger_account_id(p_instead_kind, p_instead_key, NULL);
  END IF;
  v_contra_account := ledger_account_id(p_contra_kind, p_contra_key, NULL);
  INSERT INTO ledger_entries (transaction_id, account_id, kopeks, created_at)
  VALUES (v_transaction, v_account, p_amount, p_now), (v_transaction, v_contra_account, -p_amount, p_now);
  PERFORM set_config('app.posting', '', true);

  IF NOT p_internal THEN
    PERFORM emit_event(
      CASE WHEN p_type = 'deposit' THEN 'payment.completed' ELSE 'transaction.created' END,
      jsonb_build_object('transaction_id', v_transaction, 'user_id', p_user_id, 'type', p_type, 'amount_kopeks', abs(p_amount),
        'amount_rubles', trunc(abs(p_amount) / 100.0, 2), 'payment_method', p_method, 'external_id', p_external_id,
        'is_completed', true, 'description', p_description),
      'feed', p_user_id, p_now);
    -- The user's sockets receive every movement of the wallet, with a signed amount (spec 05 section 12.2). A payment through a provider
    -- is excluded: the code that credits it emits balance.topup with the name of the method.
    IF p_instead_key IS NULL AND p_amount <> 0 AND NOT (p_type = 'deposit' AND p_contra_kind = 'provider_clearing') THEN
      PERFORM emit_event('balance.change',
        jsonb_build_object('amount_kopeks', p_amount, 'amount_rubles', trunc(p_amount / 100.0, 2), 'new_balance_kopeks', v_balance,
          'new_balance_rubles', trunc(v_balance / 100.0, 2), 'description', p_description),
        'user', p_user_id, p_now);
    END IF;
    -- Money that a provider took from the user, whether it went to the wallet or paid for something (spec 05 section 12.2).
    IF (p_type = 'deposit' AND p_contra_kind = 'provider_clearing' AND p_amount > 0)
      OR (p_instead_kind = 'provider_clearing' AND p_amount < 0) THEN
      PERFORM emit_event('payment.received',
        jsonb_build_object('amount_kopeks', abs(p_amount), 'amount_rubles', trunc(abs(p_amount) / 100.0, 2), 'payment_method', p_method),
        'user', p_user_id, p_now);
    END IF;
  END IF;
  RETURN QUERY SELECT 'posted'::text, v_transaction, v_balance;
END $$;

-- Gives all transactions rows of one user to another, for an account merge (spec 01 section 8). Returns the number of rows.
--
-- Ledger entries never change. The merge first moves the balance by two movements (post_transaction twice, against the account
-- account_merge, which sums to zero afterwards). Then the wallet of the first user sums to zero, and only then do the transactions rows,
-- which the lists show, change their owner: the moved rows and the two new ones sum to the amount that the second balance gained.
-- Entries still refer to the wallet in which the money was. The caller has locked both users rows and emptied the first wallet; if the
-- wallet is not empty, history and balance would differ, so this is an error.
--- gives the transactions of one user to another
CREATE OR REPLACE FUNCTION move_transactions(p_from_user_id integer, p_to_user_id integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  v_moved integer;
BEGIN
  IF NOT EXISTS (SELECT 1 FROM users WHERE id = p_from_user_id AND balance_kopeks = 0) THEN
    RAISE EXCEPTION 'transactions of user % cannot move while there is money on the balance', p_from_user_id;
  END IF;
  PERFORM set_config('app.moving_transactions', p_from_user_id || ' to ' || p_to_user_id, true);
  UPDATE transactions SET user_id = p_to_user_id WHERE user_id = p_from_user_id;
  GET DIAGNOSTICS v_moved = ROW_COUNT;
  PERFORM set_config('app.moving_transactions', '', true);
  RETURN v_moved;
END $$;

-- Problems of the transactions with p_after < id <= p_through, and of entries that name such a transaction.
--- lists violations of a range of transactions
CREATE OR REPLACE FUNCTION ledger_check_transactions(p_after bigint, p_through bigint)
RETURNS TABLE (problem text, row_id bigint, detail text) LANGUAGE sql STABLE AS $$
  SELECT 'entries_do_not_sum_to_zero', e.transaction_id::bigint, sum(e.kopeks)::text
    FROM ledger_entries e WHERE e.transaction_id > p_after AND e.transaction_id <= p_through
    GROUP BY e.transaction_id HAVING sum(e.kopeks) <> 0
  UNION ALL
  SELECT 'completed_transaction_without_entries', t.id::bigint, t.type
    FROM transactions t WHERE t.id > p_after AND t.id <= p_through AND t.is_completed
      AND NOT EXISTS (SELECT 1 FROM ledger_entries e WHERE e.transaction_id = t.id)
$$;

-- Problems of the withdrawal requests with p_after < id <= p_through: the account of a pending one has its amount, that of any other is empty
-- (spec 10 M5).
--- lists withdrawal requests whose account has not what they reserve
CREATE OR REPLACE FUNCTION ledger_check_reserves(p_after bigint, p_through bigint)
RETURNS TABLE (problem text, row_id bigint, detail text) LANGUAGE sql STABLE AS $$
  SELECT 'reserve_differs_from_request', r.id::bigint, x.expected || ' requested, ' || x.held || ' held'
    FROM withdrawal_requests r
    CROSS JOIN LATERAL (SELECT CASE WHEN r.status = 'pending' AND r.reserve_transaction_id IS NOT NULL THEN r.amount_kopeks ELSE 0 END AS expected,
      coalesce((SELECT sum(e.kopeks) FROM ledger_accounts a JOIN ledger_entries e ON e.account_id = a.id
        WHERE a.key = 'withdrawal_hold:' || r.id), 0) AS held) x
    WHERE r.id > p_after AND r.id <= p_through AND x.expected <> x.held
$$;

-- Problems of rewards that were taken back (spec 10 M4): the account of the debts has what the referrers owe, and no bonus is taken back by
-- more than it was (a CHECK refuses that for earnings). These tables are as small as the number of reversed payments.
--- lists violations of what was taken back of rewards
CREATE OR REPLACE FUNCTION ledger_check_rewards() RETURNS TABLE (problem text, row_id bigint, detail text) LANGUAGE sql STABLE AS $$
  SELECT 'debts_differ_from_ledger', 0::bigint, x.owed || ' owed, ' || x.posted || ' posted'
    FROM (SELECT coalesce((SELECT sum(d.kopeks) FROM referral_debts d), 0) AS owed,
      coalesce((SELECT -sum(e.kopeks) FROM ledger_accounts a JOIN ledger_entries e ON e.account_id = a.id WHERE a.key = 'referral_debt'), 0)
        AS posted) x WHERE x.owed <> x.posted
  UNION ALL
  SELECT 'bonus_reversed_beyond', b.transaction_id::bigint, sum(r.amount_kopeks)::text
    FROM reward_reversals r JOIN referral_bonuses b ON b.transaction_id = r.bonus_transaction_id JOIN transactions t ON t.id = b.transaction_id
    GROUP BY b.transaction_id, t.amount_kopeks HAVING sum(r.amount_kopeks) > t.amount_kopeks
  UNION ALL
  SELECT 'reward_reversal_differs_from_ledger', r.id::bigint, r.debited_kopeks || ' recorded'
    FROM reward_reversals r LEFT JOIN transactions t ON t.id = r.transaction_id LEFT JOIN transactions d ON d.id = r.debt_transaction_id
    WHERE r.debited_kopeks <> coalesce(-t.amount_kopeks, 0)
      OR (r.earning_id IS NOT NULL AND r.amount_kopeks - r.debited_kopeks <> coalesce(-d.amount_kopeks, 0))
$$;

-- Problems of the balances of the users with p_after < id <= p_through, and of their withdrawal requests. The entries are summed wallet by wallet: for a join of the range with
-- all entries the planner reads the whole table.
--- lists violations of the balances of a range of users, and of their withdrawal requests
CREATE OR REPLACE FUNCTION ledger_check_balances(p_after bigint, p_through bigint)
RETURNS TABLE (problem text, row_id bigint, detail text) LANGUAGE sql STABLE AS $$
  SELECT 'balance_differs_from_ledger', u.id::bigint, u.balance_kopeks || ' cached, ' || coalesce(w.total, 0) || ' posted'
    FROM users u LEFT JOIN ledger_accounts a ON a.user_id = u.id AND a.kind = 'user_wallet' AND a.user_id > p_after AND a.user_id <= p_through
    CROSS JOIN LATERAL (SELECT sum(e.kopeks) AS total FROM ledger_entries e WHERE e.account_id = a.id) w
    WHERE u.id > p_after AND u.id <= p_through AND u.balance_kopeks <> coalesce(w.total, 0)
  UNION ALL
  SELECT 'balance_below_zero', u.id::bigint, u.balance_kopeks::text
    FROM users u WHERE u.id > p_after AND u.id <= p_through AND u.balance_kopeks < 0
  UNION ALL
  SELECT h.problem, h.row_id, h.detail FROM withdrawal_requests r CROSS JOIN LATERAL ledger_check_reserves(r.id - 1, r.id) h
    WHERE r.user_id > p_after AND r.user_id <= p_through
$$;

-- Problems of payments, and of rewards that were taken back with them. The index payments_without_transaction has nothing but these rows, so
-- every check reads all of them.
--- lists paid top-ups without a transaction, and what `ledger_check_rewards` and `ledger_check_approvals` list
CREATE OR REPLACE FUNCTION ledger_check_payments() RETURNS TABLE (problem text, row_id bigint, detail text) LANGUAGE sql STABLE AS $$
  SELECT 'paid_top_up_without_transaction', p.id::bigint, p.method
    FROM payments p WHERE p.is_paid AND p.purpose = 'balance_topup' AND p.transaction_id IS NULL AND p.imported_at IS NULL
  UNION ALL
  SELECT * FROM ledger_check_rewards()
  UNION ALL
  SELECT * FROM ledger_check_approvals()
$$;

-- Checks the ledger of the whole database in one statement. Every row is a violation; no row means that the ledger is correct. The
-- bounds are outside the range of the ids, which are integers. The service checks the same by ranges (src/domain/ledger/check).
--- lists violations of the whole ledger
CREATE OR REPLACE FUNCTION ledger_check() RETURNS TABLE (problem text, row_id bigint, detail text) LANGUAGE sql STABLE AS $$
  SELECT * FROM ledger_check_transactions(-2147483649, 2147483647)
  UNION ALL
  SELECT * FROM ledger_check_balances(-2147483649, 2147483647)
  UNION ALL
  SELECT * FROM ledger_check_payments()
$$;

-- Problems of what the entries with p_after < id <= p_through changed: earlier transactions (id <= p_through_transaction) that got another
-- entry, and wallets that moved. Of a wallet only the entries after its checked sum are read; where they do not give the balance, the
-- whole wallet decides.
--- lists violations of what a range of entries changed
CREATE OR REPLACE FUNCTION ledger_check_entries(p_after bigint, p_through bigint, p_through_transaction bigint)
RETURNS TABLE (problem text, row_id bigint, detail text) LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN QUERY
  SELECT p.problem, p.row_id, p.detail
    FROM (SELECT DISTINCT e.transaction_id::bigint AS id FROM ledger_entries e
      WHERE e.id > p_after AND e.id <= p_through AND e.transaction_id <= p_through_transaction) changed
    CROSS JOIN LATERAL ledger_check_transactions(changed.id - 1, changed.id) p
  UNION ALL
  SELECT p.problem, p.row_id, p.detail
    FROM (SELECT u.id::bigint AS id
      FROM (SELECT DISTINCT e.account_id FROM ledger_entries e WHERE e.id > p_after AND e.id <= p_through) moved
      JOIN ledger_accounts a ON a.id = moved.account_id AND a.kind = 'user_wallet'
      JOIN users u ON u.id = a.user_id
      LEFT JOIN ledger_checked_balances c ON c.account_id = a.id
      WHERE u.balance_kopeks < 0 OR u.balance_kopeks <> coalesce(c.kopeks, 0) + coalesce((SELECT sum(e.kopeks) FROM ledger_entries e
        WHERE e.account_id = a.id AND e.id > coalesce(c.through_entry_id, 0)), 0)) differing
    CROSS JOIN LATERAL ledger_check_balances(differing.id - 1, differing.id) p
  UNION ALL
  SELECT p.problem, p.row_id, p.detail
    FROM (SELECT DISTINCT substr(a.key, length('withdrawal_hold:') + 1)::bigint AS id FROM ledger_entries e
      JOIN ledger_accounts a ON a.id = e.account_id AND a.kind = 'withdrawal_hold'
      WHERE e.id > p_after AND e.id <= p_through) moved
    CROSS JOIN LATERAL ledger_check_reserves(moved.id - 1, moved.id) p
  UNION ALL
  -- A request whose state was changed without its money has no new entry.
  SELECT p.problem, p.row_id, p.detail FROM withdrawal_requests r CROSS JOIN LATERAL ledger_check_reserves(r.id - 1, r.id) p
    WHERE r.status = 'pending';
END $$;
