-- How many subscriptions use a squad is derived, never kept beside them (spec 02 H20): a stored counter followed neither sales nor ends,
-- so that a server with max_users was never full. Rows only add up: a change of a subscription appends +1 or -1 and waits for nobody;
-- now and then a change folds what nobody holds into one row a squad. A sum is exact within the reader's snapshot.
ALTER TABLE "server_squads" DROP COLUMN "current_users";

CREATE TABLE "squad_tallies" (
    "id" BIGSERIAL NOT NULL,
    "squad_uuid" VARCHAR(255) NOT NULL,
    "users" INTEGER NOT NULL,

    CONSTRAINT "squad_tallies_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "squad_tallies_squad_uuid_idx" ON "squad_tallies"("squad_uuid");

-- The squads that a subscription with this status takes a place in, each once.
CREATE FUNCTION squads_used(p_status text, p_squads jsonb) RETURNS SETOF text LANGUAGE sql IMMUTABLE AS $$
  SELECT DISTINCT left(squad, 255) FROM jsonb_array_elements_text(
    CASE WHEN p_status IN ('active', 'trial') AND jsonb_typeof(p_squads) = 'array' THEN p_squads ELSE '[]' END) AS squad
  WHERE squad IS NOT NULL
$$;

CREATE FUNCTION fold_squad_tallies() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  -- Not while everything is counted anew, which could not see what comes of the fold.
  IF pg_try_advisory_xact_lock(hashtext('squad_tallies')) THEN
    WITH gone AS (
      DELETE FROM squad_tallies WHERE id IN (SELECT id FROM squad_tallies FOR UPDATE SKIP LOCKED) RETURNING squad_uuid, users)
    INSERT INTO squad_tallies (squad_uuid, users) SELECT squad_uuid, sum(users)::int FROM gone GROUP BY squad_uuid HAVING sum(users) <> 0;
  END IF;
END $$;

CREATE FUNCTION tally_squads() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  v_before text[] := '{}';
  v_after text[] := '{}';
  v_folds boolean;
BEGIN
  IF TG_OP <> 'INSERT' THEN
    v_before := ARRAY(SELECT squads_used(OLD.status, OLD.connected_squads));
  END IF;
  IF TG_OP <> 'DELETE' THEN
    v_after := ARRAY(SELECT squads_used(NEW.status, NEW.connected_squads));
  END IF;
  WITH added AS (
    INSERT INTO squad_tallies (squad_uuid, users)
    SELECT squad, sum(users)::int FROM (SELECT unnest(v_after), 1 UNION ALL SELECT unnest(v_before), -1) AS change (squad, users)
    GROUP BY squad HAVING sum(users) <> 0 RETURNING id)
  SELECT bool_or(id % 64 = 0) INTO v_folds FROM added;
  IF v_folds THEN
    PERFORM fold_squad_tallies();
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER subscriptions_squads_insert AFTER INSERT ON subscriptions FOR EACH ROW
  WHEN (NEW.status IN ('active', 'trial')) EXECUTE FUNCTION tally_squads();
CREATE TRIGGER subscriptions_squads_change AFTER UPDATE OF status, connected_squads ON subscriptions FOR EACH ROW
  WHEN (OLD.status <> NEW.status OR OLD.connected_squads IS DISTINCT FROM NEW.connected_squads) EXECUTE FUNCTION tally_squads();
CREATE TRIGGER subscriptions_squads_delete AFTER DELETE ON subscriptions FOR EACH ROW
  WHEN (OLD.status IN ('active', 'trial')) EXECUTE FUNCTION tally_squads();

-- Counts anew, e.g. after triggers were switched off for a bulk load. Nobody waits: what is counted and what is taken away belong to one
-- snapshot, and whoever commits later has rows of his own.
CREATE FUNCTION recount_squads() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('squad_tallies'));
  WITH gone AS (DELETE FROM squad_tallies)
  INSERT INTO squad_tallies (squad_uuid, users)
  SELECT squad, count(*)::int FROM subscriptions s CROSS JOIN LATERAL squads_used(s.status, s.connected_squads) AS squad
  WHERE s.status IN ('active', 'trial') GROUP BY squad;
END $$;

SELECT recount_squads();
