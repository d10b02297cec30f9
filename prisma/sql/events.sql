-- Records one event (spec 00, Outside effects): the row, a pending delivery and its job for each webhook that subscribes to it, and the
-- notification that wakes the instances after commit. Audience 'feed' is for administrators and webhooks, 'user' for the user's sockets.
-- The webhooks are locked: otherwise the concurrent deletion of a webhook would violate the foreign key of the delivery and abort the whole
-- transaction that records the event, for example a purchase.
CREATE OR REPLACE FUNCTION emit_event(p_type text, p_payload jsonb, p_audience text, p_user_id integer, p_now timestamptz)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  v_id bigint;
  v_jobs bigint;
BEGIN
  INSERT INTO domain_events (type, payload, audience, user_id, created_at)
  VALUES (p_type, p_payload, p_audience, p_user_id, p_now) RETURNING id INTO v_id;
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
  PERFORM pg_notify('domain_events', v_id::text);
  RETURN v_id;
END $$;
