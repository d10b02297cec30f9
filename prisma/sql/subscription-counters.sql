-- How many subscriptions there are by status, trial and tariff (subscription_counters), trials by UTC day of their end and status
-- (trial_day_counters), and the few trials of users who have paid before (paid_trials), for the statistics of spec 06 section 4.2.
-- Rows of the two counters are only added: a change appends +1 and -1 and waits for no other transaction, so sales of two users
-- never wait for each other; occasionally a change merges the unlocked rows. A sum is exact within the reader's snapshot.

--- appends to a status, merges now and then
CREATE OR REPLACE FUNCTION add_subscription_counter(p_status text, p_is_trial boolean, p_tariff_id integer, p_subscriptions integer)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_id bigint;
BEGIN
  INSERT INTO subscription_counters (status, is_trial, tariff_id, subscriptions)
  VALUES (p_status, p_is_trial, coalesce(p_tariff_id, 0), p_subscriptions) RETURNING id INTO v_id;
  IF v_id % 64 = 0 THEN
    WITH removed AS (
      DELETE FROM subscription_counters WHERE id = ANY(ARRAY(SELECT id FROM subscription_counters FOR UPDATE SKIP LOCKED))
      RETURNING status, is_trial, tariff_id, subscriptions)
    INSERT INTO subscription_counters (status, is_trial, tariff_id, subscriptions)
    SELECT status, is_trial, tariff_id, sum(subscriptions)::int FROM removed GROUP BY 1, 2, 3 HAVING sum(subscriptions) <> 0;
  END IF;
END $$;

--- appends to a day and status, merges now and then
CREATE OR REPLACE FUNCTION add_trial_day(p_day date, p_status text, p_trials integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO trial_day_counters (day, status, trials) VALUES (p_day, p_status, p_trials);
  IF random() < 1.0 / 16 THEN
    WITH removed AS (
      DELETE FROM trial_day_counters WHERE id = ANY(ARRAY(SELECT id FROM trial_day_counters WHERE day = p_day FOR UPDATE SKIP LOCKED))
      RETURNING status, trials)
    INSERT INTO trial_day_counters (day, status, trials)
    SELECT p_day, status, sum(trials)::int FROM removed GROUP BY status HAVING sum(trials) <> 0;
  END IF;
END $$;

-- Recounts everything, for example after a bulk load without triggers. Writers of users and subscriptions wait until it ends.
--- recounts `subscription_counters`, `trial_day_counters` and `paid_trials`
CREATE OR REPLACE FUNCTION recount_subscriptions() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  LOCK TABLE users, subscriptions IN SHARE MODE;
  DELETE FROM subscription_counters;
  DELETE FROM trial_day_counters;
  DELETE FROM paid_trials;
  INSERT INTO subscription_counters (status, is_trial, tariff_id, subscriptions)
  SELECT status, is_trial, coalesce(tariff_id, 0), count(*)::int FROM subscriptions GROUP BY 1, 2, 3;
  INSERT INTO trial_day_counters (day, status, trials)
  SELECT utc_day(end_date), status, count(*)::int FROM subscriptions WHERE is_trial GROUP BY 1, 2;
  INSERT INTO paid_trials (subscription_id, end_date)
  SELECT s.id, s.end_date FROM subscriptions s JOIN users u ON u.id = s.user_id WHERE s.is_trial AND u.has_had_paid_subscription;
END $$;

-- Renewals of paid subscriptions, the most frequent change, do not come here (see the triggers).
--- counts a changed subscription
CREATE OR REPLACE FUNCTION count_subscription() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'UPDATE' OR (OLD.status, OLD.is_trial, OLD.tariff_id) IS DISTINCT FROM (NEW.status, NEW.is_trial, NEW.tariff_id) THEN
    IF TG_OP <> 'INSERT' THEN
      PERFORM add_subscription_counter(OLD.status, OLD.is_trial, OLD.tariff_id, -1);
    END IF;
    IF TG_OP <> 'DELETE' THEN
      PERFORM add_subscription_counter(NEW.status, NEW.is_trial, NEW.tariff_id, 1);
    END IF;
  END IF;
  IF TG_OP <> 'INSERT' AND OLD.is_trial THEN
    PERFORM add_trial_day(utc_day(OLD.end_date), OLD.status, -1);
  END IF;
  IF TG_OP <> 'DELETE' AND NEW.is_trial THEN
    PERFORM add_trial_day(utc_day(NEW.end_date), NEW.status, 1);
  END IF;
  RETURN NULL;
END $$;

-- paid_trials is compared with the rows as they are, not changed by differences: a sale changes the user and the subscription in one
-- statement, and neither of the two triggers sees the other row as it was before.
--- adds or deletes the row of a subscription
CREATE OR REPLACE FUNCTION set_paid_trial(p_subscription_id integer, p_is_trial boolean, p_end_date timestamptz, p_has_paid boolean)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF p_is_trial AND p_has_paid THEN
    INSERT INTO paid_trials (subscription_id, end_date) VALUES (p_subscription_id, p_end_date)
    ON CONFLICT (subscription_id) DO UPDATE SET end_date = EXCLUDED.end_date;
  ELSE
    DELETE FROM paid_trials WHERE subscription_id = p_subscription_id;
  END IF;
END $$;

-- A subscription that is new to its user is not visible to a concurrent transaction that marks the user as paid. FOR SHARE waits for it.
-- For any other change the row of the subscription is the lock (see set_paid_trial_of_user).
--- sets the row of a changed subscription
CREATE OR REPLACE FUNCTION set_paid_trial_of_subscription() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  v_has_paid boolean;
BEGIN
  IF TG_OP = 'INSERT' OR OLD.user_id <> NEW.user_id THEN
    SELECT has_had_paid_subscription INTO v_has_paid FROM users WHERE id = NEW.user_id FOR SHARE;
  ELSE
    SELECT has_had_paid_subscription INTO v_has_paid FROM users WHERE id = NEW.user_id;
  END IF;
  PERFORM set_paid_trial(NEW.id, NEW.is_trial, NEW.end_date, v_has_paid);
  RETURN NULL;
END $$;

-- Locks the subscription after its user, as every transaction does, in any state: one that is becoming a trial is read afterwards.
--- sets the rows of a user whose `has_had_paid_subscription` changed
CREATE OR REPLACE FUNCTION set_paid_trial_of_user() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  v_subscription record;
BEGIN
  SELECT id, is_trial, end_date INTO v_subscription FROM subscriptions WHERE user_id = NEW.id FOR NO KEY UPDATE;
  IF FOUND THEN
    PERFORM set_paid_trial(v_subscription.id, v_subscription.is_trial, v_subscription.end_date, NEW.has_had_paid_subscription);
  END IF;
  RETURN NULL;
END $$;

--- keeps `subscription_counters` and `trial_day_counters`
CREATE OR REPLACE TRIGGER subscriptions_counters_insert AFTER INSERT ON subscriptions FOR EACH ROW EXECUTE FUNCTION count_subscription();
--- keeps `subscription_counters` and `trial_day_counters`
CREATE OR REPLACE TRIGGER subscriptions_counters_delete AFTER DELETE ON subscriptions FOR EACH ROW EXECUTE FUNCTION count_subscription();
--- keeps `subscription_counters` and `trial_day_counters`
CREATE OR REPLACE TRIGGER subscriptions_counters_change AFTER UPDATE OF status, is_trial, tariff_id, end_date ON subscriptions FOR EACH ROW
  WHEN (OLD.status <> NEW.status OR OLD.is_trial <> NEW.is_trial OR OLD.tariff_id IS DISTINCT FROM NEW.tariff_id OR (NEW.is_trial AND OLD.end_date <> NEW.end_date))
  EXECUTE FUNCTION count_subscription();
--- keeps `paid_trials`
CREATE OR REPLACE TRIGGER subscriptions_paid_trial_insert AFTER INSERT ON subscriptions FOR EACH ROW
  WHEN (NEW.is_trial) EXECUTE FUNCTION set_paid_trial_of_subscription();
--- keeps `paid_trials`
CREATE OR REPLACE TRIGGER subscriptions_paid_trial_change AFTER UPDATE OF is_trial, end_date, user_id ON subscriptions FOR EACH ROW
  WHEN (OLD.is_trial <> NEW.is_trial OR (NEW.is_trial AND (OLD.end_date <> NEW.end_date OR OLD.user_id <> NEW.user_id)))
  EXECUTE FUNCTION set_paid_trial_of_subscription();
--- keeps `paid_trials`
CREATE OR REPLACE TRIGGER users_paid_trial_change AFTER UPDATE OF has_had_paid_subscription ON users FOR EACH ROW
  WHEN (OLD.has_had_paid_subscription <> NEW.has_had_paid_subscription) EXECUTE FUNCTION set_paid_trial_of_user();
