-- Promo groups by total spent (spec 04 section 8.3): every movement that the interface shows asks for a look at its owner, in its own
-- transaction. Without a group that has a threshold nothing is asked for.
CREATE FUNCTION ask_for_group_assignment() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM promo_groups WHERE auto_assign_total_spent_kopeks > 0) THEN
    INSERT INTO jobs.job (name, data, singleton_key, policy, retry_limit, retry_delay, retry_backoff, expire_seconds)
    VALUES ('promo.assign-group', jsonb_build_object('userId', NEW.user_id), NEW.user_id::text, 'short', 10, 2, true, 120)
    ON CONFLICT DO NOTHING;
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER transactions_assign_group AFTER INSERT ON transactions FOR EACH ROW
  WHEN (NEW.is_completed AND NOT NEW.is_internal) EXECUTE FUNCTION ask_for_group_assignment();
