-- Counters for the statistics of campaigns, which must be read within 50 ms with a million users and ten million transactions (spec 04
-- section 6.6). The stats of a registrant are columns of the registration; campaign_counters and campaign_day_counters hold sums over the
-- registrations of a campaign. Triggers keep both in the transaction of the change, so they are exact within a reader's snapshot. Rows of
-- the counters are only added: a change waits for no other transaction; occasionally a change merges the unlocked rows.

-- Money from outside, through a provider (spec 04 section 0.2, "real payments").
--- whether a payment method is money from outside
CREATE OR REPLACE FUNCTION is_real_payment(p_method text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce(p_method, 'balance') NOT IN ('balance', 'manual')
$$;

-- The stats of a registrant, computed from the source rows.
--- counts the columns of one registrant from the source rows
CREATE OR REPLACE FUNCTION registrant_stats(p_user_id integer)
RETURNS TABLE (deposits_kopeks bigint, spent_kopeks bigint, payments integer, conversions integer, had_paid boolean, is_trial boolean,
  is_active_trial boolean, first_payment_at timestamptz, first_payment_kopeks bigint) LANGUAGE sql STABLE AS $$
  SELECT m.deposits, m.spent, m.payments, c.total, u.has_had_paid_subscription, coalesce(s.is_trial, false),
    coalesce(s.is_trial AND s.status = 'active', false), f.at, f.kopeks
  FROM users u LEFT JOIN subscriptions s ON s.user_id = u.id
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(t.amount_kopeks) FILTER (WHERE t.type = 'deposit'), 0)::bigint AS deposits,
        coalesce(sum(abs(t.amount_kopeks)) FILTER (WHERE t.type = 'subscription_payment'), 0)::bigint AS spent,
        (count(*) FILTER (WHERE t.type = 'subscription_payment'))::int AS payments
      FROM transactions t WHERE t.user_id = u.id AND t.is_completed
        AND (t.type = 'subscription_payment' OR (t.type = 'deposit' AND is_real_payment(t.payment_method)))) m
    CROSS JOIN LATERAL (SELECT count(*)::int AS total FROM subscription_conversions v WHERE v.user_id = u.id) c
    LEFT JOIN LATERAL (
      -- The first of conversions and payments; a conversion precedes a payment of the same time.
      SELECT e.at, e.kopeks FROM (
        SELECT v.converted_at AS at, 0 AS rank, v.id, v.first_payment_amount_kopeks AS kopeks FROM subscription_conversions v
        WHERE v.user_id = u.id AND v.first_payment_amount_kopeks IS NOT NULL
        UNION ALL SELECT t.created_at, 1, t.id, abs(t.amount_kopeks) FROM transactions t
        WHERE t.user_id = u.id AND t.type = 'subscription_payment' AND t.is_completed) e
      ORDER BY e.at, e.rank, e.id LIMIT 1) f ON true
  WHERE u.id = p_user_id
$$;

-- Appends the difference that a changed registration makes. One change in sixteen, at random, merges the rows of its campaign: a rule by
-- row number might never select a campaign whose registrations alternate with those of another.
--- appends the difference of a changed registration
CREATE OR REPLACE FUNCTION count_campaign_registrant() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  v_row record;
BEGIN
  FOR v_row IN
    INSERT INTO campaign_counters AS c (campaign_id, registrations, balance_issued_kopeks, subscription_registrations,
      tariff_registrations, deposits_kopeks, spent_kopeks, payers, had_paid, conversions, trials, active_trials, first_payments,
      first_payments_kopeks, buyers, referrals)
    SELECT v.campaign_id, sum(v.sign), sum(v.sign * v.bonus), sum(v.sign * (v.bonus_type = 'subscription')::int),
      sum(v.sign * (v.bonus_type = 'tariff')::int), sum(v.sign * v.deposits), sum(v.sign * v.spent),
      sum(v.sign * (v.payments > 0 OR v.conversions > 0)::int), sum(v.sign * v.had_paid::int), sum(v.sign * v.conversions),
      sum(v.sign * v.is_trial::int), sum(v.sign * v.is_active_trial::int), sum(v.sign * (v.first_kopeks IS NOT NULL)::int),
      sum(v.sign * coalesce(v.first_kopeks, 0)), sum(v.sign * (v.payments > 0)::int), sum(v.sign * v.referrals)
    FROM (VALUES
      (-1, OLD.campaign_id, OLD.balance_bonus_kopeks, OLD.bonus_type, OLD.deposits_kopeks, OLD.spent_kopeks, OLD.payments,
        OLD.conversions, OLD.had_paid, OLD.is_trial, OLD.is_active_trial, OLD.first_payment_kopeks, OLD.referrals),
      (1, NEW.campaign_id, NEW.balance_bonus_kopeks, NEW.bonus_type, NEW.deposits_kopeks, NEW.spent_kopeks, NEW.payments,
        NEW.conversions, NEW.had_paid, NEW.is_trial, NEW.is_active_trial, NEW.first_payment_kopeks, NEW.referrals))
      AS v (sign, campaign_id, bonus, bonus_type, deposits, spent, payments, conversions, had_paid, is_trial, is_active_trial,
        first_kopeks, referrals)
    -- Not for a campaign that is being deleted: its counters are deleted too.
    JOIN advertising_campaigns a ON a.id = v.campaign_id
    GROUP BY v.campaign_id RETURNING c.campaign_id
  LOOP
    IF random() < 1.0 / 16 THEN
      PERFORM compact_campaign_counters(v_row.campaign_id);
    END IF;
  END LOOP;
  RETURN NULL;
END $$;

--- merges the counter rows of a campaign
CREATE OR REPLACE FUNCTION compact_campaign_counters(p_campaign_id integer) RETURNS void LANGUAGE sql AS $$
  WITH removed AS (
    DELETE FROM campaign_counters WHERE id = ANY(ARRAY(
      SELECT id FROM campaign_counters WHERE campaign_id = p_campaign_id FOR UPDATE SKIP LOCKED)) RETURNING *)
  INSERT INTO campaign_counters (campaign_id, registrations, balance_issued_kopeks, subscription_registrations, tariff_registrations,
    deposits_kopeks, spent_kopeks, payers, had_paid, conversions, trials, active_trials, first_payments, first_payments_kopeks, buyers, referrals)
  SELECT p_campaign_id, sum(registrations), sum(balance_issued_kopeks), sum(subscription_registrations), sum(tariff_registrations),
    sum(deposits_kopeks), sum(spent_kopeks), sum(payers), sum(had_paid), sum(conversions), sum(trials), sum(active_trials),
    sum(first_payments), sum(first_payments_kopeks), sum(buyers), sum(referrals)
  FROM removed HAVING count(*) > 0
$$;

--- appends to a day of a campaign, merges now and then
CREATE OR REPLACE FUNCTION add_campaign_day(p_campaign_id integer, p_day date, p_registrations integer, p_deposits_kopeks bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO campaign_day_counters (campaign_id, day, registrations, deposits_kopeks)
  VALUES (p_campaign_id, p_day, p_registrations, p_deposits_kopeks);
  IF random() < 1.0 / 16 THEN
    WITH removed AS (
      DELETE FROM campaign_day_counters WHERE id = ANY(ARRAY(
        SELECT id FROM campaign_day_counters WHERE campaign_id = p_campaign_id AND day = p_day FOR UPDATE SKIP LOCKED))
      RETURNING registrations, deposits_kopeks)
    INSERT INTO campaign_day_counters (campaign_id, day, registrations, deposits_kopeks)
    SELECT p_campaign_id, p_day, sum(registrations), sum(deposits_kopeks) FROM removed HAVING count(*) > 0;
  END IF;
END $$;

-- For a registration that is added, removed or gets another user: updates the day of the registration and the days of all deposits of the
-- user.
--- counts the days of a changed registration
CREATE OR REPLACE FUNCTION count_campaign_days() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM add_campaign_day(d.campaign_id, d.day, d.registrations, d.kopeks) FROM (
    SELECT e.campaign_id, e.day, sum(e.registrations)::int AS registrations, sum(e.kopeks)::bigint AS kopeks FROM (
      SELECT v.campaign_id, (v.created_at AT TIME ZONE 'UTC')::date AS day, v.sign AS registrations, 0::bigint AS kopeks
      FROM (VALUES (-1, OLD.campaign_id, OLD.created_at), (1, NEW.campaign_id, NEW.created_at)) AS v (sign, campaign_id, created_at)
      UNION ALL
      SELECT v.campaign_id, (t.created_at AT TIME ZONE 'UTC')::date, 0, v.sign * t.amount_kopeks
      FROM (VALUES (-1, OLD.campaign_id, OLD.user_id), (1, NEW.campaign_id, NEW.user_id)) AS v (sign, campaign_id, user_id)
      JOIN transactions t ON t.user_id = v.user_id AND t.type = 'deposit' AND t.is_completed AND is_real_payment(t.payment_method)) e
    JOIN advertising_campaigns a ON a.id = e.campaign_id
    GROUP BY e.campaign_id, e.day) d
  WHERE d.registrations <> 0 OR d.kopeks <> 0;
  RETURN NULL;
END $$;

-- Fills a new registration, or one that an account merge gives to another user, with the stats of the user's history.
--- fills a new registration
CREATE OR REPLACE FUNCTION fill_registrant_stats() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- The caller has locked the users row; the subscription can change without that lock.
  PERFORM 1 FROM subscriptions WHERE user_id = NEW.user_id FOR SHARE;
  -- A referral of the user that another transaction adds updates the registration afterwards, when it is visible.
  PERFORM 1 FROM referrer_stats WHERE user_id = NEW.user_id FOR SHARE;
  NEW.referrals := coalesce((SELECT f.referrals FROM referrer_stats f WHERE f.user_id = NEW.user_id), 0);
  SELECT f.deposits_kopeks, f.spent_kopeks, f.payments, f.conversions, f.had_paid, f.is_trial, f.is_active_trial, f.first_payment_at,
      f.first_payment_kopeks
    INTO NEW.deposits_kopeks, NEW.spent_kopeks, NEW.payments, NEW.conversions, NEW.had_paid, NEW.is_trial, NEW.is_active_trial,
      NEW.first_payment_at, NEW.first_payment_kopeks
    FROM registrant_stats(NEW.user_id) f;
  RETURN NEW;
END $$;

-- Recounts one registrant after a rare change; a new payment is only added. The row is locked first, so that the following statement sees
-- the changes of the same user that another transaction has just committed.
--- counts one registrant again
CREATE OR REPLACE FUNCTION recount_registrant(p_user_id integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM advertising_campaign_registrations WHERE user_id = p_user_id FOR UPDATE;
  IF FOUND THEN
    UPDATE advertising_campaign_registrations r SET deposits_kopeks = f.deposits_kopeks, spent_kopeks = f.spent_kopeks,
      payments = f.payments, conversions = f.conversions, had_paid = f.had_paid, is_trial = f.is_trial,
      is_active_trial = f.is_active_trial, first_payment_at = f.first_payment_at, first_payment_kopeks = f.first_payment_kopeks
    FROM registrant_stats(p_user_id) f WHERE r.user_id = p_user_id;
  END IF;
END $$;

--- adds a payment to its registrant
CREATE OR REPLACE FUNCTION add_registrant_payment() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  v_campaign integer;
BEGIN
  IF NEW.type = 'deposit' THEN
    UPDATE advertising_campaign_registrations SET deposits_kopeks = deposits_kopeks + NEW.amount_kopeks WHERE user_id = NEW.user_id
    RETURNING campaign_id INTO v_campaign;
    IF v_campaign IS NOT NULL THEN
      PERFORM add_campaign_day(v_campaign, (NEW.created_at AT TIME ZONE 'UTC')::date, 0, NEW.amount_kopeks);
    END IF;
  ELSE
    UPDATE advertising_campaign_registrations SET spent_kopeks = spent_kopeks + abs(NEW.amount_kopeks), payments = payments + 1,
      first_payment_kopeks = CASE WHEN NEW.created_at < coalesce(first_payment_at, 'infinity') THEN abs(NEW.amount_kopeks)
        ELSE first_payment_kopeks END,
      first_payment_at = least(first_payment_at, NEW.created_at)
    WHERE user_id = NEW.user_id;
  END IF;
  RETURN NULL;
END $$;

-- Transactions that are completed later, or that an account merge gives to another user.
--- recounts registrants of changed transactions
CREATE OR REPLACE FUNCTION recount_changed_payments() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM add_campaign_day(d.campaign_id, d.day, 0, d.kopeks) FROM (
    SELECT r.campaign_id, (e.created_at AT TIME ZONE 'UTC')::date AS day, sum(e.kopeks)::bigint AS kopeks FROM (
      SELECT user_id, created_at, -amount_kopeks AS kopeks FROM old_rows
      WHERE type = 'deposit' AND is_completed AND is_real_payment(payment_method)
      UNION ALL SELECT user_id, created_at, amount_kopeks FROM new_rows
      WHERE type = 'deposit' AND is_completed AND is_real_payment(payment_method)) e
    JOIN advertising_campaign_registrations r ON r.user_id = e.user_id
    GROUP BY 1, 2 HAVING sum(e.kopeks) <> 0) d;
  PERFORM recount_registrant(c.user_id) FROM (
    SELECT unnest(ARRAY[o.user_id, n.user_id]) AS user_id FROM old_rows o JOIN new_rows n ON n.id = o.id
    WHERE (o.user_id, o.is_completed, o.created_at) IS DISTINCT FROM (n.user_id, n.is_completed, n.created_at)
    GROUP BY 1 ORDER BY 1) c;
  RETURN NULL;
END $$;

--- copies `has_had_paid_subscription`
CREATE OR REPLACE FUNCTION update_registrant_flag() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE advertising_campaign_registrations SET had_paid = NEW.has_had_paid_subscription WHERE user_id = NEW.id;
  RETURN NULL;
END $$;

-- Who referred whom is counted in referrer_stats; the registration of the referrer has the same number.
--- copies the number of referrals
CREATE OR REPLACE FUNCTION update_registrant_referrals() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE advertising_campaign_registrations SET referrals = NEW.referrals WHERE user_id = NEW.user_id AND referrals <> NEW.referrals;
  RETURN NULL;
END $$;

--- recounts the registrant of a changed row
CREATE OR REPLACE FUNCTION recount_registrant_of_row() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    PERFORM recount_registrant(OLD.user_id);
  END IF;
  IF TG_OP = 'INSERT' OR (TG_OP = 'UPDATE' AND NEW.user_id IS DISTINCT FROM OLD.user_id) THEN
    PERFORM recount_registrant(NEW.user_id);
  END IF;
  RETURN NULL;
END $$;

--- deletes the counters of a campaign
CREATE OR REPLACE FUNCTION delete_campaign_counters() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM campaign_counters WHERE campaign_id = OLD.id;
  DELETE FROM campaign_day_counters WHERE campaign_id = OLD.id;
  RETURN NULL;
END $$;

-- Recounts everything, for example after a bulk load without triggers. Writers of registrations wait until it ends.
--- recounts registrations and campaign counters
CREATE OR REPLACE FUNCTION recount_campaigns() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  LOCK TABLE advertising_campaign_registrations IN EXCLUSIVE MODE;
  PERFORM set_config('app.recounting_campaigns', '1', true);
  UPDATE advertising_campaign_registrations r SET deposits_kopeks = f.deposits_kopeks, spent_kopeks = f.spent_kopeks,
    payments = f.payments, conversions = f.conversions, had_paid = f.had_paid, is_trial = f.is_trial,
    is_active_trial = f.is_active_trial, first_payment_at = f.first_payment_at, first_payment_kopeks = f.first_payment_kopeks
  FROM advertising_campaign_registrations o CROSS JOIN LATERAL registrant_stats(o.user_id) f WHERE o.id = r.id;
  UPDATE advertising_campaign_registrations r SET referrals = coalesce(f.referrals, 0)
  FROM advertising_campaign_registrations o LEFT JOIN referrer_stats f ON f.user_id = o.user_id WHERE o.id = r.id;
  PERFORM set_config('app.recounting_campaigns', '', true);
  DELETE FROM campaign_counters;
  INSERT INTO campaign_counters (campaign_id, registrations, balance_issued_kopeks, subscription_registrations, tariff_registrations,
    deposits_kopeks, spent_kopeks, payers, had_paid, conversions, trials, active_trials, first_payments, first_payments_kopeks, buyers, referrals)
  SELECT campaign_id, count(*), sum(balance_bonus_kopeks), count(*) FILTER (WHERE bonus_type = 'subscription'),
    count(*) FILTER (WHERE bonus_type = 'tariff'), sum(deposits_kopeks), sum(spent_kopeks),
    count(*) FILTER (WHERE payments > 0 OR conversions > 0), count(*) FILTER (WHERE had_paid), sum(conversions),
    count(*) FILTER (WHERE is_trial), count(*) FILTER (WHERE is_active_trial), count(first_payment_kopeks),
    coalesce(sum(first_payment_kopeks), 0), count(*) FILTER (WHERE payments > 0), sum(referrals)
  FROM advertising_campaign_registrations GROUP BY campaign_id;
  DELETE FROM campaign_day_counters;
  INSERT INTO campaign_day_counters (campaign_id, day, registrations, deposits_kopeks)
  SELECT e.campaign_id, e.day, sum(e.registrations), sum(e.kopeks) FROM (
    SELECT campaign_id, (created_at AT TIME ZONE 'UTC')::date AS day, 1 AS registrations, 0::bigint AS kopeks
    FROM advertising_campaign_registrations
    UNION ALL SELECT r.campaign_id, (t.created_at AT TIME ZONE 'UTC')::date, 0, t.amount_kopeks
    FROM advertising_campaign_registrations r JOIN transactions t ON t.user_id = r.user_id
    WHERE t.type = 'deposit' AND t.is_completed AND is_real_payment(t.payment_method)) e
  GROUP BY 1, 2;
END $$;

--- a registration begins with the history of its user
CREATE OR REPLACE TRIGGER campaign_registrations_fill BEFORE INSERT OR UPDATE OF user_id ON advertising_campaign_registrations FOR EACH ROW
  EXECUTE FUNCTION fill_registrant_stats();
--- keeps `campaign_counters`
CREATE OR REPLACE TRIGGER campaign_registrations_totals AFTER INSERT OR DELETE ON advertising_campaign_registrations FOR EACH ROW
  EXECUTE FUNCTION count_campaign_registrant();
--- keeps `campaign_counters`; not during `recount_campaigns`
CREATE OR REPLACE TRIGGER campaign_registrations_totals_change AFTER UPDATE ON advertising_campaign_registrations FOR EACH ROW
  WHEN (OLD.* IS DISTINCT FROM NEW.* AND current_setting('app.recounting_campaigns', true) IS DISTINCT FROM '1')
  EXECUTE FUNCTION count_campaign_registrant();
--- keeps `campaign_day_counters`
CREATE OR REPLACE TRIGGER campaign_registrations_days AFTER INSERT OR DELETE ON advertising_campaign_registrations FOR EACH ROW
  EXECUTE FUNCTION count_campaign_days();
--- keeps `campaign_day_counters`
CREATE OR REPLACE TRIGGER campaign_registrations_days_change AFTER UPDATE OF user_id, campaign_id, created_at
  ON advertising_campaign_registrations FOR EACH ROW EXECUTE FUNCTION count_campaign_days();
-- Triggers of one event run in the order of their names: this one runs after the cascade that deletes the registrations.
--- the counters of a deleted campaign are deleted
CREATE OR REPLACE TRIGGER campaigns_delete_counters AFTER DELETE ON advertising_campaigns FOR EACH ROW EXECUTE FUNCTION delete_campaign_counters();

--- keeps the registration and `campaign_day_counters`
CREATE OR REPLACE TRIGGER transactions_registrant_insert AFTER INSERT ON transactions FOR EACH ROW
  WHEN (NEW.is_completed AND (NEW.type = 'subscription_payment' OR (NEW.type = 'deposit' AND is_real_payment(NEW.payment_method))))
  EXECUTE FUNCTION add_registrant_payment();
--- keeps the registration and `campaign_day_counters`
CREATE OR REPLACE TRIGGER transactions_registrant_change AFTER UPDATE ON transactions REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION recount_changed_payments();
--- keeps `had_paid` of the registration
CREATE OR REPLACE TRIGGER users_registrant_change AFTER UPDATE OF has_had_paid_subscription ON users FOR EACH ROW
  WHEN (OLD.has_had_paid_subscription <> NEW.has_had_paid_subscription) EXECUTE FUNCTION update_registrant_flag();
--- keeps the trial columns of the registration
CREATE OR REPLACE TRIGGER subscriptions_trial_insert AFTER INSERT ON subscriptions FOR EACH ROW
  WHEN (NEW.is_trial) EXECUTE FUNCTION recount_registrant_of_row();
--- keeps the trial columns of the registration
CREATE OR REPLACE TRIGGER subscriptions_trial_delete AFTER DELETE ON subscriptions FOR EACH ROW
  WHEN (OLD.is_trial) EXECUTE FUNCTION recount_registrant_of_row();
--- keeps the trial columns of the registration
CREATE OR REPLACE TRIGGER subscriptions_trial_change AFTER UPDATE OF is_trial, status, user_id ON subscriptions FOR EACH ROW
  WHEN ((OLD.is_trial OR NEW.is_trial) AND (OLD.is_trial <> NEW.is_trial OR OLD.status <> NEW.status OR OLD.user_id <> NEW.user_id))
  EXECUTE FUNCTION recount_registrant_of_row();
--- keeps the counter columns of the registration
CREATE OR REPLACE TRIGGER conversions_registrant AFTER INSERT OR UPDATE OR DELETE ON subscription_conversions FOR EACH ROW
  EXECUTE FUNCTION recount_registrant_of_row();
--- keeps the referrals of the registration
CREATE OR REPLACE TRIGGER referrer_stats_registrant AFTER INSERT OR UPDATE OF referrals ON referrer_stats FOR EACH ROW
  EXECUTE FUNCTION update_registrant_referrals();
