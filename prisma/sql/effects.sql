-- Records the events, jobs and mails of a transaction, in their order (src/core/db/transaction-effects.ts). An effect is
-- {event, payload, audience, user_id, now}, {queue, data, key, delay_ms} or {mail, now}; see emit_event(), send_job() and queue_mail().
-- {table, row} adds a row, of which all columns but the id are given, to a table that is listed here. Returns the number of effects.
--- records the events, jobs, mails and added rows of a transaction
CREATE OR REPLACE FUNCTION record_effects(p_effects jsonb) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  v_effect jsonb;
BEGIN
  FOR v_effect IN SELECT e.effect FROM jsonb_array_elements(p_effects) WITH ORDINALITY AS e (effect, place) ORDER BY e.place LOOP
    IF v_effect ? 'queue' THEN
      PERFORM send_job(v_effect ->> 'queue', v_effect -> 'data', v_effect ->> 'key',
        (v_effect ->> 'delay_ms')::bigint * interval '1 millisecond');
    ELSIF v_effect ? 'mail' THEN
      PERFORM queue_mail(v_effect -> 'mail', (v_effect ->> 'now')::timestamptz);
    ELSIF v_effect ? 'table' THEN
      CASE v_effect ->> 'table'
        WHEN 'wheel_spins' THEN
          INSERT INTO wheel_spins SELECT r.* FROM jsonb_populate_record(NULL::wheel_spins,
            v_effect -> 'row' || jsonb_build_object('id', nextval('wheel_spins_id_seq'))) r;
      END CASE;
    ELSE
      PERFORM emit_event(v_effect ->> 'event', v_effect -> 'payload', v_effect ->> 'audience', (v_effect ->> 'user_id')::integer,
        (v_effect ->> 'now')::timestamptz);
    END IF;
  END LOOP;
  RETURN jsonb_array_length(p_effects);
END $$;
