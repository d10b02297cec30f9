-- The number of the current transaction as readers of events compare it (src/core/events/event-position.ts): the timeline of the server times
-- 2^42, plus the transaction id. A server that takes over after a failure begins a new timeline and may use transaction ids again that the
-- lost server had used; with the timeline in front, every number of the new timeline is above all earlier ones. 2^42 ids suffice for
-- fourteen years of 10,000 transactions a second, and a JavaScript number holds them up to timeline 2047.
--- the timeline of the server, which changes with every failover
CREATE OR REPLACE FUNCTION event_timeline() RETURNS bigint LANGUAGE sql VOLATILE AS $$
  SELECT ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint
$$;

--- the number of the current transaction for readers of events
CREATE OR REPLACE FUNCTION event_transaction_number() RETURNS bigint LANGUAGE sql VOLATILE AS $$
  SELECT event_timeline() * 4398046511104 + pg_current_xact_id()::text::bigint
$$;

-- A number from 0 to 2^32 - 1 that tells this database from others: the positions of readers name it (src/core/events/event-position.ts), and
-- one from before a restore into another server or database is not taken for a place in this one (08 S5).
--- a number of the database, of which the positions of socket clients are
CREATE OR REPLACE FUNCTION database_number() RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT hashtextextended(c.system_identifier::text, d.oid::bigint) & 4294967295
  FROM pg_control_system() c, pg_database d WHERE d.datname = current_database()
$$;

-- Records one event (spec 00, Outside effects): the row, and a pending delivery and its job for each webhook that subscribes to it. Audience
-- 'feed' is for administrators and webhooks, 'user' for the user's sockets. Sends no NOTIFY: PostgreSQL lets only one transaction at a time
-- commit a notice, so that all commits of the database would wait for each other (08 L1). Readers are informed after the commit.
-- The webhooks are locked: otherwise the concurrent deletion of a webhook would violate the foreign key of the delivery and abort the whole
-- transaction that records the event, for example a purchase.
--- records an event, its webhook deliveries and their jobs
CREATE OR REPLACE FUNCTION emit_event(p_type text, p_payload jsonb, p_audience text, p_user_id integer, p_now timestamptz)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  v_id bigint;
  v_jobs bigint;
BEGIN
  INSERT INTO domain_events (type, payload, audience, user_id, created_at, transaction_number)
  VALUES (p_type, p_payload, p_audience, p_user_id, p_now, event_transaction_number()) RETURNING id INTO v_id;
  IF p_audience = 'feed' AND EXISTS (SELECT 1 FROM webhooks w WHERE w.event_type = p_type AND w.is_active) THEN
    WITH subscribed AS (
      -- In the order of ids, so that two events cannot deadlock. Rows that were deleted in the meantime are omitted.
      SELECT w.id FROM webhooks w WHERE w.event_type = p_type AND w.is_active ORDER BY w.id FOR KEY SHARE),
    delivery AS (
      INSERT INTO webhook_deliveries (webhook_id, event_id, event_type, payload, status, created_at, next_retry_at)
      SELECT subscribed.id, v_id, p_type, p_payload, 'pending', p_now, p_now FROM subscribed
      RETURNING id)
    SELECT count(send_job('webhooks.deliver', jsonb_build_object('deliveryId', delivery.id))) INTO v_jobs FROM delivery;
  END IF;
  RETURN v_id;
END $$;
