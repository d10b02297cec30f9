-- What decides about a spin (src/domain/engagement/wheel): {config, prizes, spins}, that is the wheel, its active prizes in their order and the
-- number of spins of the user since a moment. Null when there is no row of the wheel. VOLATILE, so that it sees what was committed before
-- the locks of the statement that calls it were taken.
--- the wheel, its active prizes and the spins of a user
CREATE OR REPLACE FUNCTION wheel_facts(p_user_id integer, p_since timestamptz) RETURNS jsonb LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN (
    SELECT jsonb_build_object('config', to_jsonb(c),
      'prizes', coalesce((SELECT jsonb_agg(to_jsonb(p) ORDER BY p.sort_order, p.id) FROM wheel_prizes p
        WHERE p.config_id = 1 AND p.is_active), '[]'),
      'spins', (SELECT count(*) FROM wheel_spins w WHERE w.user_id = p_user_id AND w.created_at >= p_since))
    FROM wheel_configs c WHERE c.id = 1);
END $$;
