-- How many payments there are by UTC day of creation, method and bucket (payment_day_counters), for the lists and statistics of the
-- administration (spec 03 section 4.4, H19). Rows are only added: a change appends +1 and -1 and waits for no other transaction, so that two
-- payments never wait for each other; occasionally a change merges the unlocked rows of its day. A sum is exact within the reader's snapshot.

--- appends to a day, method and bucket, merges now and then
CREATE OR REPLACE FUNCTION add_payment_day(p_day date, p_method text, p_bucket text, p_payments integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO payment_day_counters (day, method, bucket, payments) VALUES (p_day, p_method, p_bucket, p_payments);
  IF random() < 1.0 / 32 THEN
    WITH removed AS (
      DELETE FROM payment_day_counters WHERE id = ANY(ARRAY(SELECT id FROM payment_day_counters WHERE day = p_day FOR UPDATE SKIP LOCKED))
      RETURNING method, bucket, payments)
    INSERT INTO payment_day_counters (day, method, bucket, payments)
    SELECT p_day, method, bucket, sum(payments)::int FROM removed GROUP BY method, bucket HAVING sum(payments) <> 0;
  END IF;
END $$;

-- Recounts everything, for example after a bulk load without triggers. Writers of payments wait until it ends.
--- recounts `payment_day_counters`
CREATE OR REPLACE FUNCTION recount_payments() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  LOCK TABLE payments IN SHARE MODE;
  DELETE FROM payment_day_counters;
  INSERT INTO payment_day_counters (day, method, bucket, payments)
  SELECT utc_day(created_at), method, payment_bucket(is_paid, outcome::text), count(*)::int FROM payments GROUP BY 1, 2, 3;
END $$;

--- counts a changed payment
CREATE OR REPLACE FUNCTION count_payment() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    PERFORM add_payment_day(utc_day(OLD.created_at), OLD.method, payment_bucket(OLD.is_paid, OLD.outcome::text), -1);
  END IF;
  IF TG_OP <> 'DELETE' THEN
    PERFORM add_payment_day(utc_day(NEW.created_at), NEW.method, payment_bucket(NEW.is_paid, NEW.outcome::text), 1);
  END IF;
  RETURN NULL;
END $$;

--- keeps `payment_day_counters`
CREATE OR REPLACE TRIGGER payments_days_insert AFTER INSERT ON payments FOR EACH ROW EXECUTE FUNCTION count_payment();
--- keeps `payment_day_counters`
CREATE OR REPLACE TRIGGER payments_days_delete AFTER DELETE ON payments FOR EACH ROW EXECUTE FUNCTION count_payment();
--- keeps `payment_day_counters`
CREATE OR REPLACE TRIGGER payments_days_change AFTER UPDATE OF is_paid, outcome, method, created_at ON payments FOR EACH ROW
  WHEN (payment_bucket(OLD.is_paid, OLD.outcome::text) <> payment_bucket(NEW.is_paid, NEW.outcome::text)
    OR OLD.method <> NEW.method OR OLD.created_at <> NEW.created_at)
  EXECUTE FUNCTION count_payment();
