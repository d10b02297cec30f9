-- A promo code with what decides about its activation by a user (src/domain/promo/codes): {promocode, has_used_code, activations_today};
-- activations_today are all codes that the user has activated since a moment. Null when there is no such code. VOLATILE, so that it sees what
-- was committed before the locks of the statement that calls it were taken.
--- a promo code with what decides about its activation by a user
CREATE OR REPLACE FUNCTION promocode_facts(p_user_id integer, p_code text, p_since timestamptz) RETURNS jsonb LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN (
    SELECT jsonb_build_object('promocode', to_jsonb(p),
      'has_used_code', EXISTS (SELECT 1 FROM promocode_uses x WHERE x.user_id = p_user_id AND x.promocode_id = p.id),
      'activations_today', (SELECT count(*) FROM promocode_activations a WHERE a.user_id = p_user_id AND a.activated_at > p_since))
    FROM promocodes p WHERE p.code = p_code);
END $$;
