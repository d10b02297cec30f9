-- How many users were created on each UTC day, by status: a page far down the list of users is reached from its day instead of counting
-- off half a million rows. Rows only add up, as in 0010; now and then a change folds the rows of its day that nobody holds.
CREATE TABLE "user_day_tallies" (
    "id" BIGSERIAL NOT NULL,
    "day" DATE NOT NULL,
    "status" VARCHAR(20) NOT NULL,
    "users" INTEGER NOT NULL,

    CONSTRAINT "user_day_tallies_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "user_day_tallies_day_idx" ON "user_day_tallies"("day");

CREATE FUNCTION utc_day(p_moment timestamptz) RETURNS date LANGUAGE sql IMMUTABLE AS $$
  SELECT (p_moment AT TIME ZONE 'UTC')::date
$$;

CREATE FUNCTION add_user_day(p_day date, p_status text, p_users integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO user_day_tallies (day, status, users) VALUES (p_day, p_status, p_users);
  IF random() < 1.0 / 16 THEN
    WITH gone AS (
      DELETE FROM user_day_tallies WHERE id IN (SELECT id FROM user_day_tallies WHERE day = p_day FOR UPDATE SKIP LOCKED)
      RETURNING status, users)
    INSERT INTO user_day_tallies (day, status, users) SELECT p_day, status, sum(users)::int FROM gone GROUP BY status HAVING sum(users) <> 0;
  END IF;
END $$;

-- Counts anew, e.g. after triggers were switched off for a bulk load; writers of users wait meanwhile.
CREATE FUNCTION recount_user_days() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  LOCK TABLE users IN SHARE MODE;
  DELETE FROM user_day_tallies;
  INSERT INTO user_day_tallies (day, status, users) SELECT utc_day(created_at), status, count(*)::int FROM users GROUP BY 1, 2;
END $$;

CREATE FUNCTION tally_user_days() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    PERFORM add_user_day(g.day, g.status, g.users)
      FROM (SELECT utc_day(created_at) AS day, status, count(*)::int AS users FROM new_users GROUP BY 1, 2) AS g;
  ELSIF TG_OP = 'DELETE' THEN
    PERFORM add_user_day(g.day, g.status, -g.users)
      FROM (SELECT utc_day(created_at) AS day, status, count(*)::int AS users FROM old_users GROUP BY 1, 2) AS g;
  ELSE
    DELETE FROM user_day_tallies;
  END IF;
  RETURN NULL;
END $$;

CREATE FUNCTION tally_moved_user_day() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM add_user_day(utc_day(OLD.created_at), OLD.status, -1);
  PERFORM add_user_day(utc_day(NEW.created_at), NEW.status, 1);
  RETURN NULL;
END $$;

CREATE TRIGGER users_day_insert AFTER INSERT ON users REFERENCING NEW TABLE AS new_users
  FOR EACH STATEMENT EXECUTE FUNCTION tally_user_days();
CREATE TRIGGER users_day_delete AFTER DELETE ON users REFERENCING OLD TABLE AS old_users
  FOR EACH STATEMENT EXECUTE FUNCTION tally_user_days();
CREATE TRIGGER users_day_truncate AFTER TRUNCATE ON users FOR EACH STATEMENT EXECUTE FUNCTION tally_user_days();
CREATE TRIGGER users_day_move AFTER UPDATE OF status, created_at ON users FOR EACH ROW
  WHEN (OLD.status <> NEW.status OR OLD.created_at <> NEW.created_at) EXECUTE FUNCTION tally_moved_user_day();

SELECT recount_user_days();
