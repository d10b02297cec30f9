-- The promo groups that may have a tariff, as JSON; [] is everyone (spec 02 H19). PL/pgSQL, because its statement is planned once a session
-- and that of an SQL function once a call.
--- the promo groups that may have a tariff
CREATE OR REPLACE FUNCTION tariff_group_ids(p_tariff_id integer) RETURNS json LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN coalesce((SELECT json_agg(g.promo_group_id ORDER BY g.promo_group_id) FROM tariff_promo_groups g
    WHERE g.tariff_id = p_tariff_id), '[]');
END $$;

-- A tariff with its promo groups, as src/domain/catalog reads it.
--- a tariff with its promo groups
CREATE OR REPLACE FUNCTION tariff_json(p_tariff tariffs) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT to_jsonb(p_tariff) || jsonb_build_object('allowed_promo_group_ids', tariff_group_ids((p_tariff).id))
$$;
