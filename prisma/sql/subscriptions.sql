-- The reason of a disabled subscription is cleared with the status by every change (spec 05 section 13).
--- clears the reason of a status that is not disabled
CREATE OR REPLACE FUNCTION clear_disabled_reason() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.disabled_reason := NULL;
  RETURN NEW;
END $$;

--- a reason belongs to the status disabled (spec 05 section 13)
CREATE OR REPLACE TRIGGER subscriptions_clear_disabled_reason BEFORE UPDATE OF status ON subscriptions FOR EACH ROW
  WHEN (OLD.disabled_reason IS NOT NULL AND NEW.status <> 'disabled') EXECUTE FUNCTION clear_disabled_reason();

-- What an administrator's cancel switched off is switched on again by one who activates the subscription (spec 10 X8), not after its owner, a
-- payment or another rule has started it, autopay or the daily service since.
--- clears what an administrator's cancel switched off
CREATE OR REPLACE FUNCTION forget_cancel() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.cancel_ended_autopay := NEW.cancel_ended_autopay AND NOT NEW.autopay_enabled AND NEW.status IN ('expired', 'disabled');
  NEW.cancel_paused_daily := NEW.cancel_paused_daily AND NEW.is_daily_paused AND NEW.status IN ('expired', 'disabled');
  RETURN NEW;
END $$;

--- what a cancel switched off is forgotten once anybody else starts it (spec 10 X8)
CREATE OR REPLACE TRIGGER subscriptions_forget_cancel BEFORE UPDATE OF status, autopay_enabled, is_daily_paused ON subscriptions FOR EACH ROW
  WHEN (OLD.cancel_ended_autopay OR OLD.cancel_paused_daily) EXECUTE FUNCTION forget_cancel();
