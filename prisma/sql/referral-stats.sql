-- Counters for the stats of the referral programme, which must be read within 50 ms with a million users (spec 04 sections 1 and 2):
-- referrer_stats in total by referrer, referrer_days by referrer and UTC day (of the referral's registration, of the earning),
-- referral_day_counters by day for everyone together. Triggers keep them in the transaction of the change, so they are exact within a
-- reader's snapshot.

-- Adds to the stats of a referrer; negative numbers subtract. A referrer whose row is being deleted has no stats.
--- adds to the stats of a referrer, a day and everyone
CREATE OR REPLACE FUNCTION add_referral_stats(p_user_id integer, p_moment timestamptz, p_referrals integer, p_paid integer, p_kopeks bigint)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_day date := (p_moment AT TIME ZONE 'UTC')::date;
  v_id bigint;
BEGIN
  IF EXISTS (SELECT 1 FROM users WHERE id = p_user_id) THEN
    -- A new row has the referrer of the user, who must not change before the row is there to be changed with it.
    IF NOT EXISTS (SELECT 1 FROM referrer_stats WHERE user_id = p_user_id) THEN
      PERFORM 1 FROM users WHERE id = p_user_id FOR SHARE;
    END IF;
    INSERT INTO referrer_stats AS f (user_id, referrals, paid_referrals, earned_kopeks, referred_by_id)
    VALUES (p_user_id, p_referrals, p_paid, p_kopeks, (SELECT referred_by_id FROM users WHERE id = p_user_id))
    ON CONFLICT (user_id) DO UPDATE SET referrals = f.referrals + EXCLUDED.referrals,
      paid_referrals = f.paid_referrals + EXCLUDED.paid_referrals, earned_kopeks = f.earned_kopeks + EXCLUDED.earned_kopeks;
    IF p_referrals <> 0 OR p_kopeks <> 0 THEN
      INSERT INTO referrer_days AS d (user_id, day, referrals, earned_kopeks) VALUES (p_user_id, v_day, p_referrals, p_kopeks)
      ON CONFLICT (user_id, day) DO UPDATE SET referrals = d.referrals + EXCLUDED.referrals,
        earned_kopeks = d.earned_kopeks + EXCLUDED.earned_kopeks;
    END IF;
  END IF;
  INSERT INTO referral_day_counters (day, referrals, paid_referrals, earned_kopeks) VALUES (v_day, p_referrals, p_paid, p_kopeks)
  RETURNING id INTO v_id;
  -- Every 64th row merges the unlocked rows of each day, without waiting.
  IF v_id % 64 = 0 THEN
    WITH removed AS (
      DELETE FROM referral_day_counters WHERE id = ANY(ARRAY(
        SELECT id FROM referral_day_counters WHERE day IN (SELECT day FROM referral_day_counters GROUP BY day HAVING count(*) > 4)
        FOR UPDATE SKIP LOCKED))
      RETURNING day, referrals, paid_referrals, earned_kopeks)
    INSERT INTO referral_day_counters (day, referrals, paid_referrals, earned_kopeks)
    SELECT day, sum(referrals)::int, sum(paid_referrals)::int, sum(earned_kopeks)::bigint FROM removed GROUP BY day
    HAVING sum(referrals) <> 0 OR sum(paid_referrals) <> 0 OR sum(earned_kopeks) <> 0;
  END IF;
END $$;

-- Recounts everything, for example after a bulk load without triggers. Writers of users and earnings wait until it ends.
--- recounts the referral stats
CREATE OR REPLACE FUNCTION recount_referrals() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  LOCK TABLE users, referral_earnings IN SHARE MODE;
  DELETE FROM referrer_stats;
  DELETE FROM referrer_days;
  DELETE FROM referral_day_counters;
  INSERT INTO referrer_days (user_id, day, referrals, earned_kopeks)
  SELECT user_id, day, sum(referrals)::int, sum(kopeks)::bigint FROM (
    SELECT referred_by_id AS user_id, (created_at AT TIME ZONE 'UTC')::date AS day, count(*) AS referrals, 0 AS kopeks
    FROM users WHERE referred_by_id IS NOT NULL GROUP BY 1, 2
    UNION ALL
    SELECT user_id, (created_at AT TIME ZONE 'UTC')::date, 0, sum(amount_kopeks) FROM referral_earnings WHERE amount_kopeks <> 0 GROUP BY 1, 2) x
  GROUP BY 1, 2;
  INSERT INTO referrer_stats (user_id, referrals, paid_referrals, earned_kopeks, referred_by_id)
  SELECT d.user_id, sum(d.referrals)::int, coalesce(max(p.paid), 0)::int, sum(d.earned_kopeks)::bigint, max(u.referred_by_id)
  FROM referrer_days d JOIN users u ON u.id = d.user_id LEFT JOIN (
    SELECT referred_by_id, count(*) AS paid FROM users WHERE referred_by_id IS NOT NULL AND has_made_first_topup GROUP BY 1) p
    ON p.referred_by_id = d.user_id GROUP BY d.user_id;
  INSERT INTO referral_day_counters (day, referrals, paid_referrals, earned_kopeks)
  SELECT coalesce(d.day, p.day), coalesce(d.referrals, 0), coalesce(p.paid, 0), coalesce(d.kopeks, 0)
  FROM (SELECT day, sum(referrals)::int AS referrals, sum(earned_kopeks)::bigint AS kopeks FROM referrer_days GROUP BY day) d
  FULL JOIN (SELECT (created_at AT TIME ZONE 'UTC')::date AS day, count(*)::int AS paid FROM users
    WHERE referred_by_id IS NOT NULL AND has_made_first_topup GROUP BY 1) p ON p.day = d.day;
END $$;

--- counts a changed referral
CREATE OR REPLACE FUNCTION update_referral_stats() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' AND OLD.referred_by_id IS NOT NULL THEN
    PERFORM add_referral_stats(OLD.referred_by_id, OLD.created_at, -1, -OLD.has_made_first_topup::int, 0);
  END IF;
  IF TG_OP <> 'DELETE' AND NEW.referred_by_id IS NOT NULL THEN
    PERFORM add_referral_stats(NEW.referred_by_id, NEW.created_at, 1, NEW.has_made_first_topup::int, 0);
  END IF;
  RETURN NULL;
END $$;

--- keeps the referrer of a user in the referral stats
CREATE OR REPLACE FUNCTION move_referrer() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE referrer_stats SET referred_by_id = NEW.referred_by_id WHERE user_id = NEW.id;
  RETURN NULL;
END $$;

--- counts a changed earning
CREATE OR REPLACE FUNCTION update_referral_earnings() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' AND OLD.amount_kopeks <> 0 THEN
    PERFORM add_referral_stats(OLD.user_id, OLD.created_at, 0, 0, -OLD.amount_kopeks);
  END IF;
  IF TG_OP <> 'DELETE' AND NEW.amount_kopeks <> 0 THEN
    PERFORM add_referral_stats(NEW.user_id, NEW.created_at, 0, 0, NEW.amount_kopeks);
  END IF;
  RETURN NULL;
END $$;

--- recounts after TRUNCATE
CREATE OR REPLACE FUNCTION recount_truncated_referrals() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM recount_referrals();
  RETURN NULL;
END $$;

--- keeps the referral stats
CREATE OR REPLACE TRIGGER users_referral_insert AFTER INSERT ON users FOR EACH ROW
  WHEN (NEW.referred_by_id IS NOT NULL) EXECUTE FUNCTION update_referral_stats();
--- keeps the referral stats
CREATE OR REPLACE TRIGGER users_referral_change AFTER UPDATE OF referred_by_id, has_made_first_topup, created_at ON users FOR EACH ROW
  WHEN (OLD.referred_by_id IS DISTINCT FROM NEW.referred_by_id OR OLD.has_made_first_topup <> NEW.has_made_first_topup
    OR OLD.created_at <> NEW.created_at) EXECUTE FUNCTION update_referral_stats();
--- keeps the referrer in the referral stats
CREATE OR REPLACE TRIGGER users_referrer_change AFTER UPDATE OF referred_by_id ON users FOR EACH ROW
  WHEN (OLD.referred_by_id IS DISTINCT FROM NEW.referred_by_id) EXECUTE FUNCTION move_referrer();
--- keeps the referral stats
CREATE OR REPLACE TRIGGER users_referral_delete AFTER DELETE ON users FOR EACH ROW
  WHEN (OLD.referred_by_id IS NOT NULL) EXECUTE FUNCTION update_referral_stats();
--- keeps the referral stats
CREATE OR REPLACE TRIGGER referral_earnings_stats AFTER INSERT OR DELETE ON referral_earnings
  FOR EACH ROW EXECUTE FUNCTION update_referral_earnings();
--- keeps the referral stats
CREATE OR REPLACE TRIGGER referral_earnings_stats_change AFTER UPDATE OF user_id, amount_kopeks, created_at ON referral_earnings FOR EACH ROW
  WHEN (OLD.user_id <> NEW.user_id OR OLD.amount_kopeks <> NEW.amount_kopeks OR OLD.created_at <> NEW.created_at)
  EXECUTE FUNCTION update_referral_earnings();
--- keeps the referral stats
CREATE OR REPLACE TRIGGER users_referral_truncate AFTER TRUNCATE ON users FOR EACH STATEMENT EXECUTE FUNCTION recount_truncated_referrals();
--- keeps the referral stats
CREATE OR REPLACE TRIGGER referral_earnings_truncate AFTER TRUNCATE ON referral_earnings FOR EACH STATEMENT EXECUTE FUNCTION recount_truncated_referrals();
