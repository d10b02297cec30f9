-- Finding and counting users among a million within 50 ms (GUIDE section 7), on any PostgreSQL and on the embedded one:
-- no extension is needed. The index holds every window of up to three characters of the searched fields, so it serves terms of
-- one or two characters too (as prefixes of the windows), which trigram extensions do not.

-- The text that a search looks through: the four fields in lower case, kept apart by a character that no term holds.
CREATE FUNCTION user_search_text(p_username text, p_first_name text, p_last_name text, p_referral_code text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT lower(coalesce(p_username, '') || chr(1) || coalesce(p_first_name, '') || chr(1) || coalesce(p_last_name, '')
    || chr(1) || coalesce(p_referral_code, ''))
$$;

CREATE FUNCTION search_windows(p_text text) RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT AS $$
  SELECT coalesce(array_to_tsvector(array_agg(substr(p_text, i, 3))), ''::tsvector) FROM generate_series(1, length(p_text)) AS i
$$;

-- The windows that a text must hold to contain the term; necessary, not sufficient, so the caller compares the text as well.
-- A term beyond 32 windows is judged by its first 32.
CREATE FUNCTION search_query(p_term text) RETURNS tsquery LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT AS $$
  SELECT string_agg('''' || replace(replace(substr(lower(p_term), i, 3), '\', '\\'), '''', '''''') || ''''
    || CASE WHEN length(lower(p_term)) < 3 THEN ':*' ELSE '' END, ' & ')::tsquery
  FROM generate_series(1, least(greatest(length(lower(p_term)) - 2, 1), 32)) AS i
$$;

CREATE INDEX users_search ON users USING gin
  (search_windows(user_search_text(username::text, first_name::text, last_name::text, referral_code::text))) WITH (fastupdate = off);

-- A filter by promo group keeps the order of the list.
DROP INDEX "users_promo_group_id_idx";
CREATE INDEX "users_promo_group_id_created_at_id_idx" ON "users"("promo_group_id", "created_at" DESC, "id" DESC);

-- How many users there are by status and promo group. Rows only add up: a change appends +1 and -1 and waits for nobody; now and
-- then a change folds what nobody holds into one row a pair. A sum over the table is exact within the reader's snapshot.
CREATE TABLE "user_tallies" (
    "id" BIGSERIAL NOT NULL,
    "status" VARCHAR(20) NOT NULL,
    "promo_group_id" INTEGER,
    "users" INTEGER NOT NULL,

    CONSTRAINT "user_tallies_pkey" PRIMARY KEY ("id")
);

CREATE FUNCTION add_user_tally(p_status text, p_promo_group_id integer, p_users integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_id bigint;
BEGIN
  INSERT INTO user_tallies (status, promo_group_id, users) VALUES (p_status, p_promo_group_id, p_users) RETURNING id INTO v_id;
  IF v_id % 64 = 0 THEN
    WITH gone AS (
      DELETE FROM user_tallies WHERE id IN (SELECT id FROM user_tallies FOR UPDATE SKIP LOCKED)
      RETURNING status, promo_group_id, users)
    INSERT INTO user_tallies (status, promo_group_id, users)
    SELECT status, promo_group_id, sum(users)::int FROM gone GROUP BY status, promo_group_id HAVING sum(users) <> 0;
  END IF;
END $$;

-- Counts anew, e.g. after triggers were switched off for a bulk load; writers of users wait meanwhile.
CREATE FUNCTION recount_users() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  LOCK TABLE users IN SHARE MODE;
  DELETE FROM user_tallies;
  INSERT INTO user_tallies (status, promo_group_id, users)
  SELECT status, promo_group_id, count(*)::int FROM users GROUP BY status, promo_group_id;
END $$;

CREATE FUNCTION tally_users() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    PERFORM add_user_tally(g.status, g.promo_group_id, g.users)
      FROM (SELECT status, promo_group_id, count(*)::int AS users FROM new_users GROUP BY 1, 2) AS g;
  ELSIF TG_OP = 'DELETE' THEN
    PERFORM add_user_tally(g.status, g.promo_group_id, -g.users)
      FROM (SELECT status, promo_group_id, count(*)::int AS users FROM old_users GROUP BY 1, 2) AS g;
  ELSE
    DELETE FROM user_tallies;
  END IF;
  RETURN NULL;
END $$;

-- By row, because a trigger on certain columns cannot see the whole change; other updates of users pay nothing.
CREATE FUNCTION tally_moved_user() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM add_user_tally(OLD.status, OLD.promo_group_id, -1);
  PERFORM add_user_tally(NEW.status, NEW.promo_group_id, 1);
  RETURN NULL;
END $$;

CREATE TRIGGER users_tally_insert AFTER INSERT ON users REFERENCING NEW TABLE AS new_users
  FOR EACH STATEMENT EXECUTE FUNCTION tally_users();
CREATE TRIGGER users_tally_delete AFTER DELETE ON users REFERENCING OLD TABLE AS old_users
  FOR EACH STATEMENT EXECUTE FUNCTION tally_users();
CREATE TRIGGER users_tally_truncate AFTER TRUNCATE ON users FOR EACH STATEMENT EXECUTE FUNCTION tally_users();
CREATE TRIGGER users_tally_move AFTER UPDATE OF status, promo_group_id ON users FOR EACH ROW
  WHEN (OLD.status <> NEW.status OR OLD.promo_group_id IS DISTINCT FROM NEW.promo_group_id) EXECUTE FUNCTION tally_moved_user();

SELECT recount_users();
