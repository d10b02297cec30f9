-- Completed visible deposits and subscription payments, counted by the job insight.count-sales up to statistics_mark.through_id, so that a
-- movement of money writes nothing for the statistics and waits for nothing. Readers add the rows after that id (src/domain/insight/sales).
-- What is sold is read from the ledger: the entry of the account sales:… names it (spec 06 section 4.5, no parsing of descriptions).
--
-- Renewals (payments of users whose first payment was before the period) need two days of each payment: its own, and that of its user's
-- first one. payer_cohort_days has both. A period begins at any day, so the sum over first_day < day reads whole months from
-- payer_cohort_months and only the rest of one month from payer_cohort_days (docs/performance.md, Statistics).

--- adds to a day and a month of the cohorts
CREATE OR REPLACE FUNCTION add_payer_cohort(p_first_day date, p_day date, p_payments bigint, p_kopeks bigint) RETURNS void LANGUAGE sql AS $$
  INSERT INTO payer_cohort_days AS c (first_day, day, payments, amount_kopeks) VALUES (p_first_day, p_day, p_payments, p_kopeks)
  ON CONFLICT (first_day, day) DO UPDATE SET payments = c.payments + EXCLUDED.payments, amount_kopeks = c.amount_kopeks + EXCLUDED.amount_kopeks;
  INSERT INTO payer_cohort_months AS c (first_month, day, payments, amount_kopeks)
  VALUES (date_trunc('month', p_first_day)::date, p_day, p_payments, p_kopeks)
  ON CONFLICT (day, first_month) DO UPDATE SET payments = c.payments + EXCLUDED.payments, amount_kopeks = c.amount_kopeks + EXCLUDED.amount_kopeks;
$$;

--- adds to `single_payment_days`
CREATE OR REPLACE FUNCTION add_single_payment(p_day date, p_payers bigint, p_kopeks bigint) RETURNS void LANGUAGE sql AS $$
  INSERT INTO single_payment_days AS s (day, payers, amount_kopeks) VALUES (p_day, p_payers, p_kopeks)
  ON CONFLICT (day) DO UPDATE SET payers = s.payers + EXCLUDED.payers, amount_kopeks = s.amount_kopeks + EXCLUDED.amount_kopeks
$$;

--- adds to `branch_sales`
CREATE OR REPLACE FUNCTION add_branch_sales(p_user_id integer, p_kopeks bigint) RETURNS void LANGUAGE sql AS $$
  INSERT INTO branch_sales AS r (user_id, amount_kopeks) VALUES (p_user_id, p_kopeks)
  ON CONFLICT (user_id) DO UPDATE SET amount_kopeks = r.amount_kopeks + EXCLUDED.amount_kopeks
$$;

-- Counts up to p_most more ids. Answers whether there is more to count now. Only ids are counted that transaction_count_mark says are settled.
--- counts more transactions
CREATE OR REPLACE FUNCTION count_sales(p_most integer) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  v_zone text;
  v_after integer;
  v_settled integer;
  v_through integer;
BEGIN
  INSERT INTO statistics_mark (id) VALUES (1) ON CONFLICT (id) DO NOTHING;
  SELECT zone, through_id INTO v_zone, v_after FROM statistics_mark WHERE id = 1 FOR UPDATE;
  v_settled := coalesce((SELECT through_id FROM transaction_count_mark WHERE id = 1), 0);
  v_through := least(v_settled::bigint, v_after::bigint + p_most);
  IF v_through <= v_after THEN
    RETURN false;
  END IF;

  INSERT INTO sales_days AS d (day, type, payment_method, product, payments, amount_kopeks)
  SELECT (t.created_at AT TIME ZONE v_zone)::date, t.type, coalesce(t.payment_method, ''),
    coalesce((SELECT substr(a.key, 7) FROM ledger_entries e JOIN ledger_accounts a ON a.id = e.account_id
      WHERE e.transaction_id = t.id AND a.kind = 'sales_revenue' LIMIT 1), ''), count(*), sum(abs(t.amount_kopeks))
  FROM transactions t WHERE t.id > v_after AND t.id <= v_through AND t.type IN ('deposit', 'subscription_payment')
    AND t.is_completed AND NOT t.is_internal
  GROUP BY 1, 2, 3, 4
  ON CONFLICT (day, type, payment_method, product) DO UPDATE SET payments = d.payments + EXCLUDED.payments,
    amount_kopeks = d.amount_kopeks + EXCLUDED.amount_kopeks;

  PERFORM add_payer_cohort(c.first_day, c.day, c.payments, c.kopeks) FROM (
    WITH sale AS (
      SELECT t.user_id, t.created_at, abs(t.amount_kopeks) AS kopeks FROM transactions t
      WHERE t.id > v_after AND t.id <= v_through AND t.type = 'subscription_payment' AND t.is_completed AND NOT t.is_internal),
    first AS (
      SELECT s.user_id, max(p.first_paid_at) AS before, least(max(p.first_paid_at), min(s.created_at)) AS now
      FROM sale s LEFT JOIN payers p ON p.user_id = s.user_id GROUP BY s.user_id),
    change AS (
      SELECT (f.now AT TIME ZONE v_zone)::date AS first_day, (s.created_at AT TIME ZONE v_zone)::date AS day, 1 AS payments, s.kopeks
      FROM sale s JOIN first f ON f.user_id = s.user_id
      UNION ALL
      -- A payment that is dated before all of its user moves those that are counted.
      SELECT x.first_day, (t.created_at AT TIME ZONE v_zone)::date, x.sign, x.sign * abs(t.amount_kopeks) FROM first f
      JOIN transactions t ON t.user_id = f.user_id AND t.id <= v_after AND t.type = 'subscription_payment' AND t.is_completed
        AND NOT t.is_internal
      CROSS JOIN LATERAL (VALUES ((f.before AT TIME ZONE v_zone)::date, -1), ((f.now AT TIME ZONE v_zone)::date, 1)) AS x (first_day, sign)
      WHERE f.now < f.before)
    SELECT first_day, day, sum(payments)::bigint AS payments, sum(kopeks)::bigint AS kopeks FROM change GROUP BY 1, 2
    HAVING sum(payments) <> 0 OR sum(kopeks) <> 0) c;

  WITH added AS (
    SELECT t.user_id, count(*)::int AS payments, sum(abs(t.amount_kopeks))::bigint AS kopeks, min(t.created_at) AS first_paid_at
    FROM transactions t WHERE t.id > v_after AND t.id <= v_through AND t.type = 'subscription_payment' AND t.is_completed
      AND NOT t.is_internal GROUP BY t.user_id),
  singles AS (
    SELECT (a.first_paid_at AT TIME ZONE v_zone)::date AS day, count(*) AS payers, sum(a.kopeks) AS kopeks FROM added a
    WHERE a.payments = 1 AND NOT EXISTS (SELECT 1 FROM payers p WHERE p.user_id = a.user_id) GROUP BY 1
    UNION ALL
    SELECT (p.first_paid_at AT TIME ZONE v_zone)::date, -count(*), -sum(p.amount_kopeks) FROM added a JOIN payers p ON p.user_id = a.user_id
    WHERE p.payments = 1 GROUP BY 1),
  single AS (SELECT add_single_payment(day, payers, kopeks::bigint) FROM singles),
  referrers AS (
    SELECT add_branch_sales(u.referred_by_id, sum(a.kopeks)::bigint) FROM added a JOIN users u ON u.id = a.user_id
    WHERE u.referred_by_id IS NOT NULL GROUP BY u.referred_by_id),
  saved AS (
    INSERT INTO payers AS p (user_id, first_paid_at, payments, amount_kopeks)
    SELECT user_id, first_paid_at, payments, kopeks FROM added
    ON CONFLICT (user_id) DO UPDATE SET first_paid_at = least(p.first_paid_at, EXCLUDED.first_paid_at),
      payments = p.payments + EXCLUDED.payments, amount_kopeks = p.amount_kopeks + EXCLUDED.amount_kopeks RETURNING 1)
  -- All parts are read, so that all of them are executed.
  SELECT (SELECT count(*) FROM single) + (SELECT count(*) FROM referrers) + (SELECT count(*) FROM saved) INTO v_after;

  UPDATE statistics_mark SET through_id = v_through WHERE id = 1;
  RETURN v_through < v_settled;
END $$;

-- Moves what is counted of transactions that are completed, hidden, dated or given to another user later. All payments of the users are
-- counted again, from the rows before and after the change.
--- moves what is counted of changed transactions
CREATE OR REPLACE FUNCTION move_sales() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  v_zone text;
  v_through integer;
  v_users integer[];
BEGIN
  v_users := ARRAY(SELECT DISTINCT unnest(ARRAY[o.user_id, n.user_id]) FROM old_rows o JOIN new_rows n ON n.id = o.id
    WHERE (o.user_id, o.is_completed, o.is_internal, o.created_at) IS DISTINCT FROM (n.user_id, n.is_completed, n.is_internal, n.created_at)
    ORDER BY 1);
  IF v_users = '{}' THEN
    RETURN NULL;
  END IF;
  SELECT zone, through_id INTO v_zone, v_through FROM statistics_mark WHERE id = 1 FOR SHARE;

  INSERT INTO sales_days AS d (day, type, payment_method, product, payments, amount_kopeks)
  SELECT (r.created_at AT TIME ZONE v_zone)::date, r.type, coalesce(r.payment_method, ''), coalesce((SELECT substr(a.key, 7) FROM ledger_entries e JOIN ledger_accounts a ON a.id = e.account_id
      WHERE e.transaction_id = r.id AND a.kind = 'sales_revenue' LIMIT 1), ''),
    sum(r.sign), sum(r.sign * abs(r.amount_kopeks))
  FROM (SELECT o.*, -1 AS sign FROM old_rows o UNION ALL SELECT n.*, 1 FROM new_rows n) r
  WHERE r.id <= v_through AND r.type IN ('deposit', 'subscription_payment') AND r.is_completed AND NOT r.is_internal
  GROUP BY 1, 2, 3, 4 HAVING sum(r.sign) <> 0 OR sum(r.sign * abs(r.amount_kopeks)) <> 0 ORDER BY 1, 2, 3, 4
  ON CONFLICT (day, type, payment_method, product) DO UPDATE SET payments = d.payments + EXCLUDED.payments,
    amount_kopeks = d.amount_kopeks + EXCLUDED.amount_kopeks;

  PERFORM add_payer_cohort(c.first_day, c.day, c.payments, c.kopeks) FROM (
    WITH sale AS (
      SELECT t.user_id, t.created_at, abs(t.amount_kopeks) AS kopeks, 1 AS sign FROM transactions t
      WHERE t.user_id = ANY (v_users) AND t.id <= v_through AND t.type = 'subscription_payment' AND t.is_completed AND NOT t.is_internal
      UNION ALL
      SELECT t.user_id, t.created_at, abs(t.amount_kopeks), -1 FROM (
        SELECT * FROM old_rows WHERE user_id = ANY (v_users) UNION ALL
        SELECT * FROM transactions u WHERE u.user_id = ANY (v_users) AND NOT EXISTS (SELECT 1 FROM new_rows n WHERE n.id = u.id)) t
      WHERE t.id <= v_through AND t.type = 'subscription_payment' AND t.is_completed AND NOT t.is_internal),
    first AS (
      SELECT s.user_id, -1 AS sign, p.first_paid_at FROM (SELECT DISTINCT user_id FROM sale WHERE sign = -1) s JOIN payers p ON p.user_id = s.user_id
      UNION ALL SELECT user_id, 1, min(created_at) FROM sale WHERE sign = 1 GROUP BY user_id)
    SELECT (f.first_paid_at AT TIME ZONE v_zone)::date AS first_day, (s.created_at AT TIME ZONE v_zone)::date AS day, sum(s.sign)::bigint AS payments,
      sum(s.sign * s.kopeks)::bigint AS kopeks
    FROM sale s JOIN first f ON f.user_id = s.user_id AND f.sign = s.sign GROUP BY 1, 2
    HAVING sum(s.sign) <> 0 OR sum(s.sign * s.kopeks) <> 0 ORDER BY 1, 2) c;

  PERFORM set_payer(u.id, v_zone, v_through) FROM unnest(v_users) AS u (id);
  RETURN NULL;
END $$;

-- Counts one user again: what payers has, and what depends on it.
--- counts one user of changed transactions again
CREATE OR REPLACE FUNCTION set_payer(p_user_id integer, p_zone text, p_through integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_old payers;
  v_new payers;
  v_referrer integer;
BEGIN
  SELECT p.* INTO v_old FROM payers p WHERE p.user_id = p_user_id;
  SELECT p_user_id, min(t.created_at), count(*), coalesce(sum(abs(t.amount_kopeks)), 0) INTO v_new FROM transactions t
  WHERE t.user_id = p_user_id AND t.id <= p_through AND t.type = 'subscription_payment' AND t.is_completed AND NOT t.is_internal;
  IF v_old.payments = 1 THEN
    PERFORM add_single_payment((v_old.first_paid_at AT TIME ZONE p_zone)::date, -1, -v_old.amount_kopeks);
  END IF;
  IF v_new.payments = 1 THEN
    PERFORM add_single_payment((v_new.first_paid_at AT TIME ZONE p_zone)::date, 1, v_new.amount_kopeks);
  END IF;
  SELECT referred_by_id INTO v_referrer FROM users WHERE id = p_user_id;
  IF v_referrer IS NOT NULL AND v_new.amount_kopeks <> coalesce(v_old.amount_kopeks, 0) THEN
    PERFORM add_branch_sales(v_referrer, v_new.amount_kopeks - coalesce(v_old.amount_kopeks, 0));
  END IF;
  IF v_new.payments = 0 THEN
    DELETE FROM payers p WHERE p.user_id = p_user_id;
  ELSE
    INSERT INTO payers VALUES (v_new.*) ON CONFLICT (user_id) DO UPDATE SET first_paid_at = EXCLUDED.first_paid_at,
      payments = EXCLUDED.payments, amount_kopeks = EXCLUDED.amount_kopeks;
  END IF;
END $$;

-- What a user paid moves to another referrer. The mark is locked first: the counting job reads the referrer under its lock.
--- moves what a user paid to another referrer
CREATE OR REPLACE FUNCTION move_branch_sales() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM statistics_mark WHERE id = 1 FOR SHARE;
  PERFORM add_branch_sales(x.user_id, x.sign * p.amount_kopeks) FROM payers p
  CROSS JOIN LATERAL (VALUES (OLD.referred_by_id, -1), (NEW.referred_by_id, 1)) AS x (user_id, sign)
  WHERE p.user_id = NEW.id AND x.user_id IS NOT NULL;
  RETURN NULL;
END $$;

--- keeps `sales_days` and what is counted with it
CREATE OR REPLACE TRIGGER transactions_sales_change AFTER UPDATE ON transactions REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION move_sales();
--- keeps `branch_sales`
CREATE OR REPLACE TRIGGER users_branch_sales AFTER UPDATE OF referred_by_id ON users FOR EACH ROW
  WHEN (OLD.referred_by_id IS DISTINCT FROM NEW.referred_by_id) EXECUTE FUNCTION move_branch_sales();
