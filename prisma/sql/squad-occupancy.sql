-- How many active and trial subscriptions use a squad (spec 02 H20): the sum over squad_counters. Rows are only added: a change of a
-- subscription appends +1 or -1 and waits for no other transaction; every 64th row merges the unlocked rows into one a squad. The sum is
-- exact within the reader's snapshot.

-- The squads in which a subscription with this status counts as a user, each once.
--- the squads in which a subscription counts as a user
CREATE OR REPLACE FUNCTION squads_used(p_status text, p_squads jsonb) RETURNS SETOF text LANGUAGE sql IMMUTABLE AS $$
  SELECT DISTINCT left(squad, 255) FROM jsonb_array_elements_text(
    CASE WHEN p_status IN ('active', 'trial') AND jsonb_typeof(p_squads) = 'array' THEN p_squads ELSE '[]' END) AS squad
  WHERE squad IS NOT NULL
$$;

-- Merges the rows of each squad. Does nothing during a recount, whose snapshot would not contain the merged rows.
--- merges the rows of each squad
CREATE OR REPLACE FUNCTION compact_squad_counters() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF pg_try_advisory_xact_lock(hashtext('squad_counters')) THEN
    WITH removed AS (
      DELETE FROM squad_counters WHERE id = ANY(ARRAY(SELECT id FROM squad_counters FOR UPDATE SKIP LOCKED)) RETURNING squad_uuid, users)
    INSERT INTO squad_counters (squad_uuid, users) SELECT squad_uuid, sum(users)::int FROM removed GROUP BY squad_uuid HAVING sum(users) <> 0;
  END IF;
END $$;

--- counts the squads of a changed subscription
CREATE OR REPLACE FUNCTION count_squads() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  v_before text[] := '{}';
  v_after text[] := '{}';
  v_compacts boolean;
BEGIN
  IF TG_OP <> 'INSERT' THEN
    v_before := ARRAY(SELECT squads_used(OLD.status, OLD.connected_squads));
  END IF;
  IF TG_OP <> 'DELETE' THEN
    v_after := ARRAY(SELECT squads_used(NEW.status, NEW.connected_squads));
  END IF;
  WITH added AS (
    INSERT INTO squad_counters (squad_uuid, users)
    SELECT squad, sum(users)::int FROM (SELECT unnest(v_after), 1 UNION ALL SELECT unnest(v_before), -1) AS change (squad, users)
    GROUP BY squad HAVING sum(users) <> 0 RETURNING id)
  SELECT bool_or(id % 64 = 0) INTO v_compacts FROM added;
  IF v_compacts THEN
    PERFORM compact_squad_counters();
  END IF;
  RETURN NULL;
END $$;

--- keeps `squad_counters`
CREATE OR REPLACE TRIGGER subscriptions_squads_insert AFTER INSERT ON subscriptions FOR EACH ROW
  WHEN (NEW.status IN ('active', 'trial')) EXECUTE FUNCTION count_squads();
--- keeps `squad_counters`
CREATE OR REPLACE TRIGGER subscriptions_squads_change AFTER UPDATE OF status, connected_squads ON subscriptions FOR EACH ROW
  WHEN (OLD.status <> NEW.status OR OLD.connected_squads IS DISTINCT FROM NEW.connected_squads) EXECUTE FUNCTION count_squads();
--- keeps `squad_counters`
CREATE OR REPLACE TRIGGER subscriptions_squads_delete AFTER DELETE ON subscriptions FOR EACH ROW
  WHEN (OLD.status IN ('active', 'trial')) EXECUTE FUNCTION count_squads();

-- Recounts everything, for example after a bulk load without triggers. No writer waits: the count and the deletion use one snapshot, and a
-- transaction that commits later adds its own rows.
--- recounts the squads
CREATE OR REPLACE FUNCTION recount_squads() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('squad_counters'));
  WITH removed AS (DELETE FROM squad_counters)
  INSERT INTO squad_counters (squad_uuid, users)
  SELECT squad, count(*)::int FROM subscriptions s CROSS JOIN LATERAL squads_used(s.status, s.connected_squads) AS squad
  WHERE s.status IN ('active', 'trial') GROUP BY squad;
END $$;
