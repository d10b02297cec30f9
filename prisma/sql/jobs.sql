-- Sends one job in the caller's transaction; a job is not stored when a job with the same singleton key waits in a 'short' queue. Policy,
-- retries and times come from the queue's own row, which the service writes from its queue definitions (JobRunner.install), so that they
-- are defined once. The columns are those that pg-boss fills. The trace of the transaction, if it has one, is stored with the payload
-- (src/core/db/traced-statements.ts). Returns whether a job was added; raises when the queue is not installed.
--- sends a job with the options of its queue
CREATE OR REPLACE FUNCTION send_job(p_queue text, p_data jsonb, p_singleton_key text DEFAULT NULL, p_delay interval DEFAULT '0')
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  v_trace text := current_setting('service.traceparent', true);
BEGIN
  IF v_trace <> '' THEN
    p_data := p_data || jsonb_build_object('_traceparent', v_trace);
  END IF;
  INSERT INTO jobs.job (name, data, start_after, singleton_key, policy, retry_limit, retry_delay, retry_backoff, retry_delay_max,
    expire_seconds, deletion_seconds, keep_until, dead_letter, heartbeat_seconds)
  SELECT q.name, p_data, now() + p_delay, p_singleton_key, q.policy, q.retry_limit, q.retry_delay, q.retry_backoff, q.retry_delay_max,
    q.expire_seconds, q.deletion_seconds, now() + p_delay + q.retention_seconds * interval '1 second', q.dead_letter, q.heartbeat_seconds
  FROM jobs.queue q WHERE q.name = p_queue
  ON CONFLICT DO NOTHING;
  IF FOUND THEN
    RETURN true;
  END IF;
  IF NOT EXISTS (SELECT 1 FROM jobs.queue WHERE name = p_queue) THEN
    RAISE EXCEPTION 'the job queue % is not installed', p_queue USING ERRCODE = 'undefined_object';
  END IF;
  RETURN false;
END $$;
