-- How many users there are by status, promo group and whether they have paid (user_counters), and by UTC day of creation and status
-- (user_day_counters: a page far down the list of users is reached from its day instead of skipping half a million rows). Rows are
-- only added: a change appends +1 and -1 and waits for no other transaction; occasionally a change merges the unlocked rows. A sum is
-- exact within the reader's snapshot.

--- the UTC day of a given time
CREATE OR REPLACE FUNCTION utc_day(p_moment timestamptz) RETURNS date LANGUAGE sql IMMUTABLE AS $$
  SELECT (p_moment AT TIME ZONE 'UTC')::date
$$;

-- The status under which a user is counted and listed: an erased account (spec 10 U8) is in no list of users and in no count, so it has a
-- status of its own there, 'erased'. Its row in users stays, 'deleted', for what the books say about it.
--- the status under which a user is counted and listed: that of an erased account is `erased`
CREATE OR REPLACE FUNCTION listed_status(p_status text, p_id integer, p_referral_code text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN p_referral_code = 'erased:' || p_id THEN 'erased' ELSE p_status END
$$;

--- appends to a status and group, merges now and then
CREATE OR REPLACE FUNCTION add_user_counter(p_status text, p_promo_group_id integer, p_has_paid boolean, p_users integer)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_id bigint;
BEGIN
  INSERT INTO user_counters (status, promo_group_id, has_paid, users) VALUES (p_status, p_promo_group_id, p_has_paid, p_users)
  RETURNING id INTO v_id;
  IF v_id % 64 = 0 THEN
    WITH removed AS (
      DELETE FROM user_counters WHERE id = ANY(ARRAY(SELECT id FROM user_counters FOR UPDATE SKIP LOCKED))
      RETURNING status, promo_group_id, has_paid, users)
    INSERT INTO user_counters (status, promo_group_id, has_paid, users)
    SELECT status, promo_group_id, has_paid, sum(users)::int FROM removed GROUP BY 1, 2, 3 HAVING sum(users) <> 0;
  END IF;
END $$;

--- appends to a day and status, merges now and then
CREATE OR REPLACE FUNCTION add_user_day(p_day date, p_status text, p_users integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO user_day_counters (day, status, users) VALUES (p_day, p_status, p_users);
  IF random() < 1.0 / 16 THEN
    WITH removed AS (
      DELETE FROM user_day_counters WHERE id = ANY(ARRAY(SELECT id FROM user_day_counters WHERE day = p_day FOR UPDATE SKIP LOCKED))
      RETURNING status, users)
    INSERT INTO user_day_counters (day, status, users)
    SELECT p_day, status, sum(users)::int FROM removed GROUP BY status HAVING sum(users) <> 0;
  END IF;
END $$;

-- Recount everything, for example after a bulk load without triggers. Writers of users wait until they end.
--- recounts `user_counters`
CREATE OR REPLACE FUNCTION recount_users() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  LOCK TABLE users IN SHARE MODE;
  DELETE FROM user_counters;
  INSERT INTO user_counters (status, promo_group_id, has_paid, users)
  SELECT listed_status(status, id, referral_code), promo_group_id, has_had_paid_subscription, count(*)::int FROM users GROUP BY 1, 2, 3;
END $$;

--- recounts `user_day_counters`
CREATE OR REPLACE FUNCTION recount_user_days() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  LOCK TABLE users IN SHARE MODE;
  DELETE FROM user_day_counters;
  INSERT INTO user_day_counters (day, status, users) SELECT utc_day(created_at), listed_status(status, id, referral_code), count(*)::int
  FROM users GROUP BY 1, 2;
END $$;

--- counts added and removed users
CREATE OR REPLACE FUNCTION count_users() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    PERFORM add_user_counter(g.status, g.promo_group_id, g.has_paid, g.users)
      FROM (SELECT listed_status(status, id, referral_code) AS status, promo_group_id, has_had_paid_subscription AS has_paid,
          count(*)::int AS users
        FROM new_users GROUP BY 1, 2, 3) AS g;
  ELSIF TG_OP = 'DELETE' THEN
    PERFORM add_user_counter(g.status, g.promo_group_id, g.has_paid, -g.users)
      FROM (SELECT listed_status(status, id, referral_code) AS status, promo_group_id, has_had_paid_subscription AS has_paid,
          count(*)::int AS users
        FROM old_users GROUP BY 1, 2, 3) AS g;
  ELSE
    DELETE FROM user_counters;
  END IF;
  RETURN NULL;
END $$;

-- Row-level, because a trigger on certain columns cannot have transition tables. Updates of other columns do not fire it.
--- counts a user with a new status or group, or who has paid
CREATE OR REPLACE FUNCTION count_changed_user() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM add_user_counter(listed_status(OLD.status, OLD.id, OLD.referral_code), OLD.promo_group_id, OLD.has_had_paid_subscription, -1);
  PERFORM add_user_counter(listed_status(NEW.status, NEW.id, NEW.referral_code), NEW.promo_group_id, NEW.has_had_paid_subscription, 1);
  RETURN NULL;
END $$;

--- counts added and removed users by day
CREATE OR REPLACE FUNCTION count_user_days() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    PERFORM add_user_day(g.day, g.status, g.users)
      FROM (SELECT utc_day(created_at) AS day, listed_status(status, id, referral_code) AS status, count(*)::int AS users
        FROM new_users GROUP BY 1, 2) AS g;
  ELSIF TG_OP = 'DELETE' THEN
    PERFORM add_user_day(g.day, g.status, -g.users)
      FROM (SELECT utc_day(created_at) AS day, listed_status(status, id, referral_code) AS status, count(*)::int AS users
        FROM old_users GROUP BY 1, 2) AS g;
  ELSE
    DELETE FROM user_day_counters;
  END IF;
  RETURN NULL;
END $$;

--- counts a user with a new status or day
CREATE OR REPLACE FUNCTION count_changed_user_day() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM add_user_day(utc_day(OLD.created_at), listed_status(OLD.status, OLD.id, OLD.referral_code), -1);
  PERFORM add_user_day(utc_day(NEW.created_at), listed_status(NEW.status, NEW.id, NEW.referral_code), 1);
  RETURN NULL;
END $$;

--- keeps `user_counters`
CREATE OR REPLACE TRIGGER users_totals_insert AFTER INSERT ON users REFERENCING NEW TABLE AS new_users
  FOR EACH STATEMENT EXECUTE FUNCTION count_users();
--- keeps `user_counters`
CREATE OR REPLACE TRIGGER users_totals_delete AFTER DELETE ON users REFERENCING OLD TABLE AS old_users
  FOR EACH STATEMENT EXECUTE FUNCTION count_users();
--- keeps `user_counters`
CREATE OR REPLACE TRIGGER users_totals_truncate AFTER TRUNCATE ON users FOR EACH STATEMENT EXECUTE FUNCTION count_users();
--- keeps `user_counters`
CREATE OR REPLACE TRIGGER users_totals_change AFTER UPDATE OF status, referral_code, promo_group_id, has_had_paid_subscription ON users
  FOR EACH ROW WHEN (OLD.status <> NEW.status OR OLD.referral_code <> NEW.referral_code OR OLD.promo_group_id IS DISTINCT FROM NEW.promo_group_id
    OR OLD.has_had_paid_subscription <> NEW.has_had_paid_subscription) EXECUTE FUNCTION count_changed_user();

--- keeps `user_day_counters`
CREATE OR REPLACE TRIGGER users_day_insert AFTER INSERT ON users REFERENCING NEW TABLE AS new_users
  FOR EACH STATEMENT EXECUTE FUNCTION count_user_days();
--- keeps `user_day_counters`
CREATE OR REPLACE TRIGGER users_day_delete AFTER DELETE ON users REFERENCING OLD TABLE AS old_users
  FOR EACH STATEMENT EXECUTE FUNCTION count_user_days();
--- keeps `user_day_counters`
CREATE OR REPLACE TRIGGER users_day_truncate AFTER TRUNCATE ON users FOR EACH STATEMENT EXECUTE FUNCTION count_user_days();
--- keeps `user_day_counters`
CREATE OR REPLACE TRIGGER users_day_change AFTER UPDATE OF status, referral_code, created_at ON users FOR EACH ROW
  WHEN (OLD.status <> NEW.status OR OLD.referral_code <> NEW.referral_code OR OLD.created_at <> NEW.created_at)
  EXECUTE FUNCTION count_changed_user_day();
