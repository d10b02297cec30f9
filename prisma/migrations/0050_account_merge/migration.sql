-- Account merge (spec 01 section 8): the history of the secondary account becomes the primary's.
--
-- Ledger entries never change. The secondary's balance leaves its wallet and enters the primary's by two new movements
-- (post_transaction twice, against the account account_merge, which so comes out at zero). After that the secondary's wallet sums to
-- zero, and only then do its transactions rows, the list that people read, change their owner: the moved rows together with the
-- two new ones add up to what the primary's balance gained. Entries keep pointing at the wallet that the money went through.

-- As before, but for user_id, which has a guard of its own now.
DROP TRIGGER transactions_amount_fixed ON transactions;
CREATE TRIGGER transactions_amount_fixed BEFORE UPDATE OF amount_kopeks, type, payment_method, external_id ON transactions
  FOR EACH ROW WHEN (OLD.amount_kopeks <> NEW.amount_kopeks OR OLD.type <> NEW.type
    OR OLD.payment_method IS DISTINCT FROM NEW.payment_method OR OLD.external_id IS DISTINCT FROM NEW.external_id)
  EXECUTE FUNCTION refuse_rewriting_history();

-- Refuses every change of an owner but the one that move_transactions() is making.
CREATE FUNCTION refuse_changing_owner() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('app.moving_transactions', true) IS DISTINCT FROM OLD.user_id || ' to ' || NEW.user_id THEN
    RAISE EXCEPTION 'transactions change their owner only through move_transactions()' USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER transactions_owner_fixed BEFORE UPDATE OF user_id ON transactions FOR EACH ROW
  WHEN (OLD.user_id <> NEW.user_id) EXECUTE FUNCTION refuse_changing_owner();

-- Gives all transactions rows of one user to another. The caller holds the locks of both users rows and has emptied the wallet of
-- the first: with money left on it the history and the balance would come apart, so that is an error. Returns how many moved.
CREATE FUNCTION move_transactions(p_from_user_id integer, p_to_user_id integer) RETURNS integer LANGUAGE plpgsql AS $$
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
