-- The reason of a disabled subscription is cleared with the status by every change (spec 05 section 13).
CREATE OR REPLACE FUNCTION clear_disabled_reason() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.disabled_reason := NULL;
  RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER subscriptions_clear_disabled_reason BEFORE UPDATE OF status ON subscriptions FOR EACH ROW
  WHEN (OLD.disabled_reason IS NOT NULL AND NEW.status <> 'disabled') EXECUTE FUNCTION clear_disabled_reason();
