-- No user is among their own referrers (spec 04 section 16.4). Locking the two users of a change is not enough: with A under B and C
-- under D, two concurrent changes that put B under C and D under A have no user in common. Every change that closes a cycle puts a user
-- who already has referrals under another one, so those changes take an advisory lock and run one after another. The search is a separate
-- statement, so that it sees what the previous change has committed.
--- refuses a cycle of referrers
CREATE OR REPLACE FUNCTION refuse_referral_cycle() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM users WHERE referred_by_id = NEW.id) THEN
    PERFORM pg_advisory_xact_lock(hashtext('referral_cycle'));
  END IF;
  IF EXISTS (
    WITH RECURSIVE ancestors (id) AS (
      SELECT NEW.referred_by_id
      UNION
      SELECT u.referred_by_id FROM users u JOIN ancestors a ON u.id = a.id WHERE u.referred_by_id IS NOT NULL)
    SELECT 1 FROM ancestors WHERE id = NEW.id)
  THEN
    RAISE EXCEPTION 'user % would be among his own referrers', NEW.id USING ERRCODE = 'check_violation', CONSTRAINT = 'users_no_referral_cycle';
  END IF;
  RETURN NEW;
END $$;

--- no user is among their own referrers (spec 04 section 16.4)
CREATE OR REPLACE TRIGGER users_no_referral_cycle BEFORE UPDATE OF referred_by_id ON users FOR EACH ROW
  WHEN (NEW.referred_by_id IS NOT NULL AND NEW.referred_by_id IS DISTINCT FROM OLD.referred_by_id)
  EXECUTE FUNCTION refuse_referral_cycle();
