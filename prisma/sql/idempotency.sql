-- Claims an idempotency key: the only statement that does (spec 00, Consistency). Answers one row. claimed: the caller is the first and does the
-- work, also when p_key is null. When it is not claimed, known is the row of the key, absent after a concurrent deletion, and the caller
-- gives the stored answer again or refuses. A second caller with the same key waits here for the transaction of the first one.
-- A key without an answer that was claimed before p_abandoned_before, for the same request, is taken over: its caller ended between two
-- transactions. Null: none is.
--- claims an idempotency key, or answers its row
CREATE OR REPLACE FUNCTION claim_key(
  p_actor text, p_key text, p_operation text, p_body_hash text, p_now timestamptz, p_abandoned_before timestamptz DEFAULT NULL)
RETURNS TABLE (claimed boolean, known idempotency_keys) LANGUAGE plpgsql AS $$
BEGIN
  claimed := true;
  IF p_key IS NOT NULL THEN
    INSERT INTO idempotency_keys (actor, key, operation, body_hash, created_at)
    VALUES (p_actor, p_key, p_operation, p_body_hash, p_now) ON CONFLICT (actor, key) DO NOTHING;
    claimed := FOUND;
    IF NOT claimed AND p_abandoned_before IS NOT NULL THEN
      UPDATE idempotency_keys k SET created_at = p_now
      WHERE k.actor = p_actor AND k.key = p_key AND k.operation = p_operation AND k.body_hash = p_body_hash AND k.response IS NULL
        AND k.created_at < p_abandoned_before;
      claimed := FOUND;
    END IF;
    IF NOT claimed THEN
      SELECT k.* INTO known FROM idempotency_keys k WHERE k.actor = p_actor AND k.key = p_key;
    END IF;
  END IF;
  RETURN NEXT;
END $$;
