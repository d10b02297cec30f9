-- The primary promo group of a user with this group in the users row (spec 04 section 8.1).
-- PL/pgSQL, because its statement is planned once a session and that of an SQL function once a call (0.15 ms).
--- the primary promo group of a user
CREATE OR REPLACE FUNCTION primary_promo_group_id(p_user_id integer, p_promo_group_id integer) RETURNS integer LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN coalesce((SELECT g.id FROM user_promo_groups m JOIN promo_groups g ON g.id = m.promo_group_id
    WHERE m.user_id = p_user_id ORDER BY g.priority DESC, g.id DESC LIMIT 1), p_promo_group_id);
END $$;

-- Promo groups by total spent (spec 04 section 8.3): every visible movement sends a job that assigns the user's group,
-- in the transaction of the movement. Nothing is sent while no group has a threshold.
--- sends the job `promo.assign-group`
CREATE OR REPLACE FUNCTION send_group_assignment() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM promo_groups WHERE auto_assign_total_spent_kopeks > 0) THEN
    PERFORM send_job('promo.assign-group', jsonb_build_object('userId', NEW.user_id), NEW.user_id::text);
  END IF;
  RETURN NULL;
END $$;

--- sends the job that assigns the promo group by total spent
CREATE OR REPLACE TRIGGER transactions_assign_group AFTER INSERT ON transactions FOR EACH ROW
  WHEN (NEW.is_completed AND NOT NEW.is_internal) EXECUTE FUNCTION send_group_assignment();
