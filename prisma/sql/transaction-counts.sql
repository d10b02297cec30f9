-- transaction_day_counts holds the exact numbers and sums of transactions by UTC day, type, method and completion, up to the id through_id
-- of transaction_count_mark (the job ledger.count adds newer rows, src/domain/ledger/repo.ts), so a movement of money writes no
-- counter and waits for none. A counted row that changes its group is moved from one count to the other.
--- moves a counted transaction to another count
CREATE OR REPLACE FUNCTION move_transaction_count() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.id > coalesce((SELECT through_id FROM transaction_count_mark WHERE id = 1 FOR SHARE), 0) THEN
    RETURN NULL;
  END IF;
  IF NOT OLD.is_internal THEN
    UPDATE transaction_day_counts c SET total = c.total - 1, amount_kopeks = c.amount_kopeks - abs(OLD.amount_kopeks)
    WHERE c.day = (OLD.created_at AT TIME ZONE 'UTC')::date AND c.type = OLD.type
      AND c.payment_method = coalesce(OLD.payment_method, '') AND c.is_completed = OLD.is_completed;
  END IF;
  IF NOT NEW.is_internal THEN
    INSERT INTO transaction_day_counts AS c (day, type, payment_method, is_completed, total, amount_kopeks)
    VALUES ((NEW.created_at AT TIME ZONE 'UTC')::date, NEW.type, coalesce(NEW.payment_method, ''), NEW.is_completed, 1,
      abs(NEW.amount_kopeks))
    ON CONFLICT (day, type, payment_method, is_completed) DO UPDATE SET total = c.total + 1,
      amount_kopeks = c.amount_kopeks + EXCLUDED.amount_kopeks;
  END IF;
  RETURN NULL;
END $$;

--- keeps `transaction_day_counts` for counted rows
CREATE OR REPLACE TRIGGER transactions_count_moves AFTER UPDATE OF is_completed, is_internal, created_at ON transactions FOR EACH ROW
  WHEN (OLD.is_completed <> NEW.is_completed OR OLD.is_internal <> NEW.is_internal OR OLD.created_at <> NEW.created_at)
  EXECUTE FUNCTION move_transaction_count();
