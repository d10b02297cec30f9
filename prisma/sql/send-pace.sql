-- Reserves the time of p_count messages of a channel for the caller, on whatever instance it runs. Messages follow one another at
-- p_per_second; p_burst of them may be ahead of that, so that a single message does not wait behind a mass send. Returns the
-- milliseconds until the first may be sent; when that is more than p_max_wait_ms, nothing is reserved. Not called in a transaction of a use case:
-- the row is locked until the end.
--- reserves the time of messages of a channel
CREATE OR REPLACE FUNCTION lease_sends(p_channel text, p_count integer, p_per_second double precision, p_burst integer, p_max_wait_ms integer)
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  v_pace send_paces;
  v_now timestamptz;
  v_start timestamptz;
  v_wait integer;
  v_interval interval := interval '1 second' / p_per_second;
BEGIN
  SELECT * INTO v_pace FROM send_paces WHERE channel = p_channel FOR UPDATE;
  IF NOT FOUND THEN
    INSERT INTO send_paces (channel, next_at) VALUES (p_channel, clock_timestamp()) ON CONFLICT DO NOTHING;
    SELECT * INTO v_pace FROM send_paces WHERE channel = p_channel FOR UPDATE;
  END IF;
  -- After the wait for the lock.
  v_now := clock_timestamp();
  v_start := greatest(v_now, v_pace.next_at - v_interval * p_burst, v_pace.paused_until);
  v_wait := ceil(extract(epoch FROM v_start - v_now) * 1000);
  IF v_wait <= p_max_wait_ms THEN
    UPDATE send_paces SET next_at = greatest(v_pace.next_at, v_start) + v_interval * p_count WHERE channel = p_channel;
  END IF;
  RETURN v_wait;
END $$;
