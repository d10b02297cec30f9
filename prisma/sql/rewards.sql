-- Rewards of the referral programme whose payment went back (spec 10 M4). What a reversal takes is in proportion to the payment, rounded down over
-- all its reversals together, so that several parts never take more than the whole takes.

-- Pays the debt of a locked referrer from p_limit kopeks that have just come to the balance. Returns what was paid.
--- pays the debt of a referrer from money that has just come
CREATE OR REPLACE FUNCTION pay_referral_debt(p_user_id integer, p_limit bigint, p_now timestamptz, p_titles jsonb DEFAULT NULL)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  v_paid bigint;
  v_posting record;
BEGIN
  SELECT least(d.kopeks, p_limit, u.balance_kopeks) INTO v_paid FROM referral_debts d JOIN users u ON u.id = d.user_id
  WHERE d.user_id = p_user_id FOR UPDATE OF d;
  IF v_paid IS NULL OR v_paid <= 0 THEN
    RETURN 0;
  END IF;
  SELECT p.* INTO v_posting FROM post_transaction(p_user_id, 'refund', -v_paid, 'referral_debt', 'referral_debt', NULL, NULL,
    title_for(p_user_id, p_titles), p_now) p;
  IF v_posting.outcome <> 'posted' THEN
    RAISE EXCEPTION 'paying a debt was %', v_posting.outcome;
  END IF;
  UPDATE referral_debts d SET kopeks = d.kopeks - v_paid, updated_at = p_now WHERE d.user_id = p_user_id;
  RETURN v_paid;
END $$;

-- The description of a movement in the language of its user, else Russian; null without descriptions.
--- a description in the language of a user
CREATE OR REPLACE FUNCTION title_for(p_user_id integer, p_titles jsonb) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT coalesce(p_titles ->> lower(split_part(split_part(u.language, '-', 1), '_', 1)), p_titles ->> 'ru') FROM users u WHERE u.id = p_user_id
$$;

-- What may be taken from the balance of a referrer for p_amount of reversed earnings: not what was withdrawn, or is held for a withdrawal.
--- what may be taken from the balance of a referrer
CREATE OR REPLACE FUNCTION unspent_earnings(p_user_id integer, p_amount bigint) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT least(p_amount, u.balance_kopeks, greatest(0, coalesce(f.earned_kopeks, 0) - w.gone))
  FROM users u LEFT JOIN referrer_stats f ON f.user_id = u.id
  CROSS JOIN LATERAL (SELECT coalesce(sum(q.amount_kopeks), 0)::bigint AS gone FROM withdrawal_requests q WHERE q.user_id = u.id
    AND (q.status IN ('approved', 'completed') OR (q.status = 'pending' AND q.reserve_transaction_id IS NOT NULL))) w
  WHERE u.id = p_user_id
$$;

-- Takes back an earning or a bonus of a locked user for one reversal of its payment, once. p_credited is what the reward was, p_share how much of
-- the payment went back, of p_paid. An earning that the balance does not have becomes a debt, a bonus a case.
--- takes back one earning or bonus for one reversal
CREATE OR REPLACE FUNCTION reverse_reward(p_reversal payment_reversals, p_earning_id integer, p_bonus_id integer, p_user_id integer,
  p_credited bigint, p_done bigint, p_share bigint, p_paid bigint, p_titles jsonb, p_now timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_amount bigint := greatest(0, floor(p_credited::numeric * p_share / p_paid)::bigint - p_done);
  v_debit bigint;
  v_posting record;
  v_transaction integer;
  v_debt integer;
  v_title text := title_for(p_user_id, p_titles);
BEGIN
  v_debit := CASE WHEN p_earning_id IS NULL THEN (SELECT least(v_amount, u.balance_kopeks) FROM users u WHERE u.id = p_user_id)
    ELSE unspent_earnings(p_user_id, v_amount) END;
  IF v_debit > 0 THEN
    SELECT p.* INTO v_posting FROM post_transaction(p_user_id, 'refund', -v_debit, 'referral_expense', 'referral_expense', NULL, NULL, v_title,
      p_now) p;
    v_transaction := v_posting.transaction_id;
  END IF;
  IF v_amount > v_debit AND p_earning_id IS NOT NULL THEN
    SELECT p.* INTO v_posting FROM post_transaction(p_user_id, 'refund', v_debit - v_amount, 'referral_expense', 'referral_expense', NULL, NULL,
      v_title, p_now, NULL, true, 'referral_debt', 'referral_debt') p;
    v_debt := v_posting.transaction_id;
    INSERT INTO referral_debts AS d (user_id, kopeks, updated_at) VALUES (p_user_id, v_amount - v_debit, p_now)
    ON CONFLICT (user_id) DO UPDATE SET kopeks = d.kopeks + EXCLUDED.kopeks, updated_at = EXCLUDED.updated_at;
  ELSIF v_amount > v_debit THEN
    PERFORM open_payment_case('reversal_remainder', p_reversal.method, 'bonus:' || p_reversal.id, p_reversal.payment_id, p_user_id,
      v_amount - v_debit, 'RUB', jsonb_build_object('kind', 'bonus', 'amount_kopeks', v_amount, 'debited_kopeks', v_debit), p_now);
  END IF;
  INSERT INTO reward_reversals (reversal_id, earning_id, bonus_transaction_id, amount_kopeks, debited_kopeks, transaction_id,
    debt_transaction_id, created_at)
  VALUES (p_reversal.id, p_earning_id, p_bonus_id, v_amount, v_debit, v_transaction, v_debt, p_now);
  UPDATE referral_earnings e SET amount_kopeks = e.amount_kopeks - v_amount WHERE e.id = p_earning_id AND v_amount > 0;
END $$;

-- Takes back what a payment has earned, for every reversal of it that has not been applied to its rewards yet; may run at any time and any number
-- of times. Locks the payer and the earners first. p_transaction_id is the credit of the payment.
--- revokes what a payment has earned
CREATE OR REPLACE FUNCTION reverse_rewards(p_transaction_id integer, p_titles jsonb, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_payment payments;
  v_paid bigint;
  v_users integer[];
  v_reversal payment_reversals;
  v_reward record;
BEGIN
  SELECT array_agg(x.id) INTO v_users FROM (SELECT t.user_id AS id FROM transactions t WHERE t.id = p_transaction_id
    UNION SELECT u.referred_by_id FROM transactions t JOIN users u ON u.id = t.user_id WHERE t.id = p_transaction_id AND u.referred_by_id IS NOT NULL
    UNION SELECT e.user_id FROM referral_earnings e WHERE e.referral_transaction_id = p_transaction_id) x;
  PERFORM 1 FROM users u WHERE u.id = ANY(v_users) ORDER BY u.id FOR NO KEY UPDATE;
  SELECT p.* INTO v_payment FROM payments p WHERE p.transaction_id = p_transaction_id;
  SELECT abs(t.amount_kopeks) INTO v_paid FROM transactions t WHERE t.id = p_transaction_id;
  IF v_payment.id IS NULL OR v_paid = 0 THEN
    RETURN;
  END IF;
  FOR v_reversal IN SELECT r.* FROM payment_reversals r WHERE r.payment_id = v_payment.id AND r.status = 'done'
    AND is_reversal_of_credit(r, v_payment) ORDER BY r.id LOOP
    FOR v_reward IN
      SELECT e.id AS earning_id, NULL::integer AS bonus_id, e.user_id, e.amount_kopeks + d.done AS credited, d.done, d.reversed
      FROM referral_earnings e
      CROSS JOIN LATERAL (SELECT coalesce(sum(w.amount_kopeks), 0)::bigint AS done, coalesce(sum(r.amount_kopeks), 0)::bigint AS reversed
        FROM reward_reversals w JOIN payment_reversals r ON r.id = w.reversal_id WHERE w.earning_id = e.id) d
      WHERE e.referral_transaction_id = p_transaction_id
        AND NOT EXISTS (SELECT 1 FROM reward_reversals w WHERE w.earning_id = e.id AND w.reversal_id = v_reversal.id)
      UNION ALL
      SELECT NULL, b.transaction_id, t.user_id, t.amount_kopeks, d.done, d.reversed
      FROM referral_bonuses b JOIN transactions t ON t.id = b.transaction_id
      CROSS JOIN LATERAL (SELECT coalesce(sum(w.amount_kopeks), 0)::bigint AS done, coalesce(sum(r.amount_kopeks), 0)::bigint AS reversed
        FROM reward_reversals w JOIN payment_reversals r ON r.id = w.reversal_id WHERE w.bonus_transaction_id = b.transaction_id) d
      WHERE b.source_transaction_id = p_transaction_id
        AND NOT EXISTS (SELECT 1 FROM reward_reversals w WHERE w.bonus_transaction_id = b.transaction_id AND w.reversal_id = v_reversal.id)
    LOOP
      -- A merge at the same moment gave the reward to somebody who is not locked: the job starts again.
      IF NOT v_reward.user_id = ANY(v_users) THEN
        RAISE EXCEPTION 'the owner of a reward of transaction % has changed', p_transaction_id;
      END IF;
      PERFORM reverse_reward(v_reversal, v_reward.earning_id, v_reward.bonus_id, v_reward.user_id, v_reward.credited, v_reward.done,
        least(v_reward.reversed + v_reversal.amount_kopeks, v_paid), v_paid, p_titles, p_now);
    END LOOP;
  END LOOP;
END $$;

-- How much of the payment behind a credit went back; 0 where it is no payment.
--- how much of a payment went back
CREATE OR REPLACE FUNCTION reversed_of_transaction(p_transaction_id integer) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT coalesce(sum(r.amount_kopeks), 0)::bigint FROM payments p JOIN payment_reversals r ON r.payment_id = p.id AND r.status = 'done'
    AND is_reversal_of_credit(r, p)
  WHERE p.transaction_id = p_transaction_id
$$;

-- Gives the debt of one user to another, for an account merge. Both are locked.
--- moves the debt of a merged account to the one that remains
CREATE OR REPLACE FUNCTION move_referral_debt(p_from_user_id integer, p_to_user_id integer, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_kopeks bigint;
BEGIN
  DELETE FROM referral_debts d WHERE d.user_id = p_from_user_id RETURNING d.kopeks INTO v_kopeks;
  IF v_kopeks > 0 THEN
    INSERT INTO referral_debts AS d (user_id, kopeks, updated_at) VALUES (p_to_user_id, v_kopeks, p_now)
    ON CONFLICT (user_id) DO UPDATE SET kopeks = d.kopeks + EXCLUDED.kopeks, updated_at = EXCLUDED.updated_at;
  END IF;
END $$;
