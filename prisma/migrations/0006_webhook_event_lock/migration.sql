-- emit_event() holds on to the webhooks it writes deliveries for. Without that, a webhook deleted at the same moment made the
-- delivery's foreign key fail, and with it the whole transaction that recorded the event: a purchase, a top-up.
CREATE OR REPLACE FUNCTION emit_event(p_type text, p_payload jsonb, p_audience text, p_user_id integer, p_now timestamptz)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  v_id bigint;
BEGIN
  INSERT INTO domain_events (type, payload, audience, user_id, created_at)
  VALUES (p_type, p_payload, p_audience, p_user_id, p_now) RETURNING id INTO v_id;
  IF p_audience = 'feed' AND EXISTS (SELECT 1 FROM webhooks w WHERE w.event_type = p_type AND w.is_active) THEN
    WITH wanted AS (
      -- In the order of ids, so that two events cannot wait for each other. A row that is gone by now is left out.
      SELECT w.id FROM webhooks w WHERE w.event_type = p_type AND w.is_active ORDER BY w.id FOR KEY SHARE),
    delivery AS (
      INSERT INTO webhook_deliveries (webhook_id, event_id, event_type, payload, status, created_at, next_retry_at)
      SELECT wanted.id, v_id, p_type, p_payload, 'pending', p_now, p_now FROM wanted
      RETURNING id)
    INSERT INTO jobs.job (name, data, retry_limit, retry_delay, retry_backoff, expire_seconds)
    SELECT 'webhooks.deliver', jsonb_build_object('deliveryId', delivery.id), 5, 5, true, 120 FROM delivery;
  END IF;
  PERFORM pg_notify('domain_events', v_id::text);
  RETURN v_id;
END $$;
