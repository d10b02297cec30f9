-- statistics_days: numbers and sums by day for the statistics of the administration (spec 06 sections 4.3 and 4.5), in the transaction of the
-- change. Kinds, with the moment that gives the day, the key, and the amount:
--   registrations  users.created_at; paid or unpaid; -
--   trials         creation of the trial; way to sign in (trial_origins); -
--   sold           creation of a subscription that is no trial; tariff, 0 for none; -
--   sold_periods   the same; days from start to end; -
--   conversions    converted_at; timed or untimed; trial_duration_days
--   traffic        traffic_purchases.created_at; GB; GB
--   servers        subscription_servers.connected_at; empty; paid_price_kopeks
-- Rows are only added: a change appends -1 and +1 and waits for no other transaction; the job insight.count-sales merges them every minute. A
-- sum is exact within the reader's snapshot. Days are those of the zone in statistics_mark.

--- the time zone of the statistics' days
CREATE OR REPLACE FUNCTION statistics_zone() RETURNS text LANGUAGE sql STABLE AS $$
  SELECT coalesce((SELECT zone FROM statistics_mark WHERE id = 1), 'UTC')
$$;

--- the day of a given time in that zone
CREATE OR REPLACE FUNCTION statistics_day(p_moment timestamptz) RETURNS date LANGUAGE sql STABLE AS $$
  SELECT (p_moment AT TIME ZONE statistics_zone())::date
$$;

-- The first moment of a day. Where clocks are put back from 01:00 to 00:00 the day has two midnights, and PostgreSQL answers the second one.
--- the start of such a day
CREATE OR REPLACE FUNCTION statistics_day_start(p_day date) RETURNS timestamptz LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN ((m.moment - interval '1 hour') AT TIME ZONE m.zone)::date = p_day THEN m.moment - interval '1 hour' ELSE m.moment END
  FROM (SELECT p_day::timestamp AT TIME ZONE z.zone AS moment, z.zone FROM (SELECT statistics_zone() AS zone) z) m
$$;

-- Appends a change: what was counted before, and what is to be counted now; a moment that is null is counted nowhere. Every renewal comes
-- here, so nothing else is done than this.
--- appends a change to `statistics_days`
CREATE OR REPLACE FUNCTION count_statistics(p_kind text, p_old_moment timestamptz, p_old_key text, p_old_amount bigint,
  p_new_moment timestamptz, p_new_key text, p_new_amount bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_zone text := coalesce((SELECT zone FROM statistics_mark WHERE id = 1), 'UTC');
  v_old_day date := (p_old_moment AT TIME ZONE v_zone)::date;
  v_new_day date := (p_new_moment AT TIME ZONE v_zone)::date;
BEGIN
  IF (v_old_day, p_old_key, p_old_amount) IS NOT DISTINCT FROM (v_new_day, p_new_key, p_new_amount) THEN
    RETURN;
  END IF;
  INSERT INTO statistics_days (kind, day, key, total, amount)
  SELECT p_kind, c.day, c.key, c.total, c.amount
  FROM (VALUES (v_old_day, p_old_key, -1, -p_old_amount), (v_new_day, p_new_key, 1, p_new_amount)) AS c (day, key, total, amount)
  WHERE c.day IS NOT NULL;
END $$;

-- Merges the rows of each kind, day and key that no transaction has locked. Not during a recount, whose snapshot would not contain the merged
-- rows.
--- merges the rows of `statistics_days`
CREATE OR REPLACE FUNCTION compact_statistics() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('statistics_days'));
  WITH several AS (SELECT kind, day FROM statistics_days GROUP BY kind, day HAVING count(*) > count(DISTINCT key)),
  removed AS (
    DELETE FROM statistics_days WHERE id = ANY(ARRAY(
      SELECT s.id FROM statistics_days s JOIN several v ON v.kind = s.kind AND v.day = s.day FOR UPDATE OF s SKIP LOCKED))
    RETURNING kind, day, key, total, amount)
  INSERT INTO statistics_days (kind, day, key, total, amount)
  SELECT kind, day, key, sum(total), sum(amount) FROM removed GROUP BY 1, 2, 3 HAVING sum(total) <> 0 OR sum(amount) <> 0;
END $$;

-- By which way a user signs in, the first of these (spec 06 section 4.5).
--- by which way a user signs in
CREATE OR REPLACE FUNCTION sign_in_provider(p_user users) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN p_user.vk_id IS NOT NULL THEN 'vk' WHEN p_user.yandex_id IS NOT NULL THEN 'yandex'
    WHEN p_user.google_id IS NOT NULL THEN 'google' WHEN p_user.discord_id IS NOT NULL THEN 'discord'
    WHEN p_user.auth_type = 'email' THEN 'email' ELSE 'messenger' END
$$;

-- Days from the start to the end of a subscription, rounded to the nearest.
--- days from the start to the end of a subscription
CREATE OR REPLACE FUNCTION period_days(p_start timestamptz, p_end timestamptz) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT round(extract(epoch FROM p_end - p_start) / 86400)::bigint::text
$$;

--- counts a user by day and whether he ever paid
CREATE OR REPLACE FUNCTION count_registration() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM count_statistics('registrations',
    OLD.created_at, CASE WHEN OLD.has_had_paid_subscription THEN 'paid' ELSE 'unpaid' END, 0,
    NEW.created_at, CASE WHEN NEW.has_had_paid_subscription THEN 'paid' ELSE 'unpaid' END, 0);
  RETURN NULL;
END $$;

--- counts a trial by day and way of signing in
CREATE OR REPLACE FUNCTION count_trial_origin() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM count_statistics('trials', OLD.created_at, OLD.provider, 0, NEW.created_at, NEW.provider, 0);
  RETURN NULL;
END $$;

--- counts a subscription that is no trial by day and tariff, and by day and length
CREATE OR REPLACE FUNCTION count_sold() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  v_old_moment timestamptz := CASE WHEN NOT OLD.is_trial THEN OLD.created_at END;
  v_new_moment timestamptz := CASE WHEN NOT NEW.is_trial THEN NEW.created_at END;
BEGIN
  PERFORM count_statistics('sold', v_old_moment, coalesce(OLD.tariff_id, 0)::text, 0, v_new_moment, coalesce(NEW.tariff_id, 0)::text, 0);
  PERFORM count_statistics('sold_periods', v_old_moment, period_days(OLD.start_date, OLD.end_date), 0,
    v_new_moment, period_days(NEW.start_date, NEW.end_date), 0);
  RETURN NULL;
END $$;

--- counts a change from trial to paid
CREATE OR REPLACE FUNCTION count_conversion() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM count_statistics('conversions',
    OLD.converted_at, CASE WHEN OLD.trial_duration_days IS NULL THEN 'untimed' ELSE 'timed' END, coalesce(OLD.trial_duration_days, 0),
    NEW.converted_at, CASE WHEN NEW.trial_duration_days IS NULL THEN 'untimed' ELSE 'timed' END, coalesce(NEW.trial_duration_days, 0));
  RETURN NULL;
END $$;

--- counts a traffic package
CREATE OR REPLACE FUNCTION count_traffic_purchase() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM count_statistics('traffic', OLD.created_at, OLD.traffic_gb::text, OLD.traffic_gb, NEW.created_at, NEW.traffic_gb::text, NEW.traffic_gb);
  RETURN NULL;
END $$;

--- counts what was paid for a server
CREATE OR REPLACE FUNCTION count_server_price() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM count_statistics('servers', CASE WHEN OLD.paid_price_kopeks <> 0 THEN OLD.connected_at END, '', OLD.paid_price_kopeks,
    CASE WHEN NEW.paid_price_kopeks <> 0 THEN NEW.connected_at END, '', NEW.paid_price_kopeks);
  RETURN NULL;
END $$;

-- trial_origins is compared with the rows as they are, not changed by differences, as paid_trials is: a statement may change the user and the
-- subscription, and neither of the two triggers sees the other row as it was before.
--- adds, changes or removes a row of `trial_origins`
CREATE OR REPLACE FUNCTION set_trial_origin(p_subscription_id integer, p_is_trial boolean, p_created_at timestamptz, p_provider text)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF p_is_trial THEN
    INSERT INTO trial_origins AS o (subscription_id, created_at, provider) VALUES (p_subscription_id, p_created_at, p_provider)
    ON CONFLICT (subscription_id) DO UPDATE SET created_at = EXCLUDED.created_at, provider = EXCLUDED.provider
      WHERE (o.created_at, o.provider) <> (EXCLUDED.created_at, EXCLUDED.provider);
  ELSE
    DELETE FROM trial_origins WHERE subscription_id = p_subscription_id;
  END IF;
END $$;

-- Locks as set_paid_trial_of_subscription and set_paid_trial_of_user do, for the same reasons.
--- sets the row of a changed subscription
CREATE OR REPLACE FUNCTION set_trial_origin_of_subscription() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  v_provider text;
BEGIN
  IF TG_OP = 'INSERT' OR OLD.user_id <> NEW.user_id THEN
    SELECT sign_in_provider(u) INTO v_provider FROM users u WHERE u.id = NEW.user_id FOR SHARE;
  ELSE
    SELECT sign_in_provider(u) INTO v_provider FROM users u WHERE u.id = NEW.user_id;
  END IF;
  PERFORM set_trial_origin(NEW.id, NEW.is_trial, NEW.created_at, v_provider);
  RETURN NULL;
END $$;

--- sets the row of a user who signs in in another way
CREATE OR REPLACE FUNCTION set_trial_origin_of_user() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  v_subscription record;
BEGIN
  SELECT id, is_trial, created_at INTO v_subscription FROM subscriptions WHERE user_id = NEW.id FOR NO KEY UPDATE;
  IF FOUND THEN
    PERFORM set_trial_origin(v_subscription.id, v_subscription.is_trial, v_subscription.created_at, sign_in_provider(NEW));
  END IF;
  RETURN NULL;
END $$;

-- Counts everything again, in the days of another zone or after a bulk load without triggers. Writers of these tables wait until it ends. What
-- statistics-sales.sql counts begins anew: until the job has counted it, statistics read the transactions themselves.
--- counts all statistics again, in days of a zone
CREATE OR REPLACE FUNCTION recount_statistics(p_zone text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('statistics_days'));
  LOCK TABLE users, subscriptions, trial_origins, subscription_conversions, traffic_purchases, subscription_servers IN SHARE ROW EXCLUSIVE MODE;
  INSERT INTO statistics_mark AS m (id, zone) VALUES (1, p_zone) ON CONFLICT (id) DO UPDATE SET zone = EXCLUDED.zone, through_id = 0;
  DELETE FROM sales_days;
  DELETE FROM payers;
  DELETE FROM payer_cohort_days;
  DELETE FROM payer_cohort_months;
  DELETE FROM single_payment_days;
  DELETE FROM branch_sales;

  PERFORM set_config('app.recounting_statistics', '1', true);
  DELETE FROM trial_origins;
  INSERT INTO trial_origins (subscription_id, created_at, provider)
  SELECT s.id, s.created_at, sign_in_provider(u) FROM subscriptions s JOIN users u ON u.id = s.user_id WHERE s.is_trial;
  PERFORM set_config('app.recounting_statistics', '', true);
  DELETE FROM statistics_days;
  INSERT INTO statistics_days (kind, day, key, total, amount)
  SELECT c.kind, (c.moment AT TIME ZONE p_zone)::date, c.key, count(*), sum(c.amount) FROM (
    SELECT 'registrations' AS kind, created_at AS moment, CASE WHEN has_had_paid_subscription THEN 'paid' ELSE 'unpaid' END AS key,
      0 AS amount FROM users
    UNION ALL SELECT 'trials', created_at, provider, 0 FROM trial_origins
    UNION ALL SELECT 'sold', created_at, coalesce(tariff_id, 0)::text, 0 FROM subscriptions WHERE NOT is_trial
    UNION ALL SELECT 'sold_periods', created_at, period_days(start_date, end_date), 0 FROM subscriptions WHERE NOT is_trial
    UNION ALL SELECT 'conversions', converted_at, CASE WHEN trial_duration_days IS NULL THEN 'untimed' ELSE 'timed' END,
      coalesce(trial_duration_days, 0) FROM subscription_conversions
    UNION ALL SELECT 'traffic', created_at, traffic_gb::text, traffic_gb FROM traffic_purchases
    UNION ALL SELECT 'servers', connected_at, '', paid_price_kopeks FROM subscription_servers WHERE paid_price_kopeks <> 0) c
  GROUP BY 1, 2, 3;
END $$;

--- keeps `statistics_days`
CREATE OR REPLACE TRIGGER users_statistics_insert AFTER INSERT OR DELETE ON users FOR EACH ROW EXECUTE FUNCTION count_registration();
--- keeps `statistics_days`
CREATE OR REPLACE TRIGGER users_statistics_change AFTER UPDATE OF has_had_paid_subscription, created_at ON users FOR EACH ROW
  WHEN (OLD.has_had_paid_subscription <> NEW.has_had_paid_subscription OR OLD.created_at <> NEW.created_at)
  EXECUTE FUNCTION count_registration();
--- keeps `trial_origins`
CREATE OR REPLACE TRIGGER users_trial_origin AFTER UPDATE OF vk_id, yandex_id, google_id, discord_id, auth_type ON users FOR EACH ROW
  WHEN (sign_in_provider(OLD) <> sign_in_provider(NEW)) EXECUTE FUNCTION set_trial_origin_of_user();
--- keeps `trial_origins`
CREATE OR REPLACE TRIGGER subscriptions_origin_insert AFTER INSERT ON subscriptions FOR EACH ROW
  WHEN (NEW.is_trial) EXECUTE FUNCTION set_trial_origin_of_subscription();
--- keeps `trial_origins`
CREATE OR REPLACE TRIGGER subscriptions_origin_change AFTER UPDATE OF is_trial, created_at, user_id ON subscriptions FOR EACH ROW
  WHEN (OLD.is_trial <> NEW.is_trial OR (NEW.is_trial AND (OLD.created_at <> NEW.created_at OR OLD.user_id <> NEW.user_id)))
  EXECUTE FUNCTION set_trial_origin_of_subscription();
--- keeps `statistics_days`
CREATE OR REPLACE TRIGGER trial_origins_statistics AFTER INSERT OR UPDATE OR DELETE ON trial_origins FOR EACH ROW
  WHEN (current_setting('app.recounting_statistics', true) IS DISTINCT FROM '1') EXECUTE FUNCTION count_trial_origin();
--- keeps `statistics_days`
CREATE OR REPLACE TRIGGER subscriptions_sold_insert AFTER INSERT ON subscriptions FOR EACH ROW
  WHEN (NOT NEW.is_trial) EXECUTE FUNCTION count_sold();
--- keeps `statistics_days`
CREATE OR REPLACE TRIGGER subscriptions_sold_delete AFTER DELETE ON subscriptions FOR EACH ROW
  WHEN (NOT OLD.is_trial) EXECUTE FUNCTION count_sold();
--- keeps `statistics_days`
CREATE OR REPLACE TRIGGER subscriptions_sold_change AFTER UPDATE OF is_trial, created_at, tariff_id, start_date, end_date ON subscriptions
  FOR EACH ROW WHEN (OLD.is_trial <> NEW.is_trial OR (NOT NEW.is_trial AND (OLD.created_at <> NEW.created_at
    OR OLD.tariff_id IS DISTINCT FROM NEW.tariff_id OR OLD.start_date <> NEW.start_date OR OLD.end_date <> NEW.end_date)))
  EXECUTE FUNCTION count_sold();
--- keeps `statistics_days`
CREATE OR REPLACE TRIGGER conversions_statistics AFTER INSERT OR UPDATE OR DELETE ON subscription_conversions FOR EACH ROW
  EXECUTE FUNCTION count_conversion();
--- keeps `statistics_days`
CREATE OR REPLACE TRIGGER traffic_purchases_statistics AFTER INSERT OR UPDATE OR DELETE ON traffic_purchases FOR EACH ROW
  EXECUTE FUNCTION count_traffic_purchase();
--- keeps `statistics_days`
CREATE OR REPLACE TRIGGER subscription_servers_statistics AFTER INSERT OR UPDATE OR DELETE ON subscription_servers FOR EACH ROW
  EXECUTE FUNCTION count_server_price();
