-- referral_contest_scores: what each referrer has in a contest (spec 04 section 11.4), in the transaction that changes the events. Events are
-- written by jobs, never by a movement of money. A leaderboard reads its first rows, a total one row for each participant, whatever the number
-- of events.
--
-- The triggers work by statement: deleting a contest or a partner removes many events at once.

-- Adds events to the scores, or with the sign -1 removes them. The contests are locked so that their period cannot change meanwhile, referrers
-- without a row so that their status cannot. Others are not locked: a user who gets another status has the own lock already, and the locks of
-- users are taken by id.
--- adds events to the scores of their referrers, or removes them
CREATE OR REPLACE FUNCTION add_contest_events(p_contests integer[], p_referrers integer[], p_amounts bigint[], p_moments timestamptz[],
  p_listed boolean[], p_sign integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM referral_contests WHERE id = ANY (p_contests) ORDER BY id FOR SHARE;
  PERFORM 1 FROM users WHERE id IN (
    SELECT e.referrer_id FROM unnest(p_contests, p_referrers) AS e (contest_id, referrer_id)
    WHERE NOT EXISTS (SELECT 1 FROM referral_contest_scores s WHERE s.contest_id = e.contest_id AND s.referrer_id = e.referrer_id))
  ORDER BY id FOR SHARE;
  -- Without the rows of a contest or of a referrer that is being deleted: the scores are deleted too.
  INSERT INTO referral_contest_scores AS s (contest_id, referrer_id, events, listed, referrals, paid, amount_kopeks, is_deleted)
  SELECT e.contest_id, e.referrer_id, p_sign * count(*), p_sign * count(*) FILTER (WHERE e.is_listed),
    p_sign * count(*) FILTER (WHERE e.occurred_at BETWEEN c.start_at AND c.closes_at),
    p_sign * count(*) FILTER (WHERE e.occurred_at BETWEEN c.start_at AND c.closes_at AND e.amount_kopeks > 0),
    p_sign * coalesce(sum(e.amount_kopeks) FILTER (WHERE e.occurred_at BETWEEN c.start_at AND c.closes_at), 0), bool_or(f.status = 'deleted')
  FROM unnest(p_contests, p_referrers, p_amounts, p_moments, p_listed) AS e (contest_id, referrer_id, amount_kopeks, occurred_at, is_listed)
  JOIN referral_contests c ON c.id = e.contest_id JOIN users f ON f.id = e.referrer_id
  GROUP BY 1, 2 ORDER BY 1, 2
  ON CONFLICT (contest_id, referrer_id) DO UPDATE SET events = s.events + EXCLUDED.events, listed = s.listed + EXCLUDED.listed,
    referrals = s.referrals + EXCLUDED.referrals, paid = s.paid + EXCLUDED.paid, amount_kopeks = s.amount_kopeks + EXCLUDED.amount_kopeks;
END $$;

--- counts the events of a statement
CREATE OR REPLACE FUNCTION count_contest_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    PERFORM add_contest_events(array_agg(contest_id), array_agg(referrer_id), array_agg(amount_kopeks), array_agg(occurred_at),
      array_agg(is_listed), -1) FROM old_rows HAVING count(*) > 0;
  END IF;
  IF TG_OP <> 'DELETE' THEN
    PERFORM add_contest_events(array_agg(contest_id), array_agg(referrer_id), array_agg(amount_kopeks), array_agg(occurred_at),
      array_agg(is_listed), 1) FROM new_rows HAVING count(*) > 0;
  END IF;
  RETURN NULL;
END $$;

-- Whether an event is listed: the referral's status cannot change until the end of the transaction, then the trigger on users sees the event.
--- says whether the referral's account is deleted
CREATE OR REPLACE FUNCTION set_contest_event_listed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.is_listed := coalesce((SELECT u.status <> 'deleted' FROM users u WHERE u.id = NEW.referral_id FOR SHARE), true);
  RETURN NEW;
END $$;

--- follows an account that is deleted or restored
CREATE OR REPLACE FUNCTION list_contest_events_of_user() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE referral_contest_events SET is_listed = NEW.status <> 'deleted' WHERE referral_id = NEW.id;
  UPDATE referral_contest_scores SET is_deleted = NEW.status = 'deleted' WHERE referrer_id = NEW.id;
  RETURN NULL;
END $$;

-- Counts a contest again. The caller has its row locked.
--- counts one contest again
CREATE OR REPLACE FUNCTION recount_contest(p_contest_id integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM referral_contest_scores WHERE contest_id = p_contest_id;
  INSERT INTO referral_contest_scores (contest_id, referrer_id, events, listed, referrals, paid, amount_kopeks, is_deleted)
  SELECT e.contest_id, e.referrer_id, count(*), count(*) FILTER (WHERE e.is_listed),
    count(*) FILTER (WHERE e.occurred_at BETWEEN c.start_at AND c.closes_at),
    count(*) FILTER (WHERE e.occurred_at BETWEEN c.start_at AND c.closes_at AND e.amount_kopeks > 0),
    coalesce(sum(e.amount_kopeks) FILTER (WHERE e.occurred_at BETWEEN c.start_at AND c.closes_at), 0), bool_or(f.status = 'deleted')
  FROM referral_contest_events e JOIN referral_contests c ON c.id = e.contest_id JOIN users f ON f.id = e.referrer_id
  WHERE e.contest_id = p_contest_id GROUP BY 1, 2;
END $$;

--- counts a contest with another period
CREATE OR REPLACE FUNCTION recount_changed_contest() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM recount_contest(NEW.id);
  RETURN NULL;
END $$;

-- Counts everything again, for example after a bulk load without triggers. Writers of contests, events and users wait until it ends.
--- recounts `referral_contest_scores`
CREATE OR REPLACE FUNCTION recount_contests() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  LOCK TABLE users IN SHARE MODE;
  LOCK TABLE referral_contests, referral_contest_events IN SHARE ROW EXCLUSIVE MODE;
  UPDATE referral_contest_events e SET is_listed = u.status <> 'deleted' FROM users u
  WHERE u.id = e.referral_id AND e.is_listed = (u.status = 'deleted');
  DELETE FROM referral_contest_scores;
  PERFORM recount_contest(id) FROM referral_contests;
END $$;

--- whether lists show the event
CREATE OR REPLACE TRIGGER contest_events_listed BEFORE INSERT OR UPDATE OF referral_id ON referral_contest_events FOR EACH ROW
  EXECUTE FUNCTION set_contest_event_listed();
--- keeps `referral_contest_scores`
CREATE OR REPLACE TRIGGER contest_events_insert AFTER INSERT ON referral_contest_events REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION count_contest_events();
--- keeps `referral_contest_scores`
CREATE OR REPLACE TRIGGER contest_events_delete AFTER DELETE ON referral_contest_events REFERENCING OLD TABLE AS old_rows
  FOR EACH STATEMENT EXECUTE FUNCTION count_contest_events();
--- keeps `referral_contest_scores`
CREATE OR REPLACE TRIGGER contest_events_change AFTER UPDATE ON referral_contest_events REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION count_contest_events();
--- keeps `referral_contest_scores` when the period changes
CREATE OR REPLACE TRIGGER contests_period AFTER UPDATE OF start_at, closes_at ON referral_contests FOR EACH ROW
  WHEN (OLD.start_at <> NEW.start_at OR OLD.closes_at <> NEW.closes_at) EXECUTE FUNCTION recount_changed_contest();
--- keeps what lists of contest events show of deleted accounts
CREATE OR REPLACE TRIGGER users_contest_events AFTER UPDATE OF status ON users FOR EACH ROW
  WHEN ((OLD.status = 'deleted') <> (NEW.status = 'deleted')) EXECUTE FUNCTION list_contest_events_of_user();
