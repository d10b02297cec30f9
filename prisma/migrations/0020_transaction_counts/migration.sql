-- Exact totals of transaction lists at any size (domain/ledger/count-transactions.ts), and an index for each of their filters.

-- CreateTable
CREATE TABLE "transaction_day_counts" (
    "day" DATE NOT NULL,
    "type" VARCHAR(40) NOT NULL,
    "payment_method" VARCHAR(40) NOT NULL,
    "is_completed" BOOLEAN NOT NULL,
    "total" BIGINT NOT NULL,

    CONSTRAINT "transaction_day_counts_pkey" PRIMARY KEY ("day","type","payment_method","is_completed")
);

-- CreateTable
CREATE TABLE "transaction_count_mark" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "through_id" INTEGER NOT NULL DEFAULT 0,
    "seen_id" INTEGER NOT NULL DEFAULT 0,
    "seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "transaction_count_mark_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "transactions_type_created_at_id_idx" ON "transactions"("type", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "transactions_payment_method_created_at_id_idx" ON "transactions"("payment_method", "created_at" DESC, "id" DESC);

-- The few that are not completed are found without walking the many that are.
CREATE INDEX transactions_incomplete_idx ON transactions (created_at DESC, id DESC) WHERE NOT is_completed;

-- A counted row that changes its place in the counts takes its count along.
CREATE FUNCTION move_transaction_count() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.id > coalesce((SELECT through_id FROM transaction_count_mark WHERE id = 1 FOR SHARE), 0) THEN
    RETURN NULL;
  END IF;
  IF NOT OLD.is_internal THEN
    UPDATE transaction_day_counts c SET total = c.total - 1
    WHERE c.day = (OLD.created_at AT TIME ZONE 'UTC')::date AND c.type = OLD.type
      AND c.payment_method = coalesce(OLD.payment_method, '') AND c.is_completed = OLD.is_completed;
  END IF;
  IF NOT NEW.is_internal THEN
    INSERT INTO transaction_day_counts AS c (day, type, payment_method, is_completed, total)
    VALUES ((NEW.created_at AT TIME ZONE 'UTC')::date, NEW.type, coalesce(NEW.payment_method, ''), NEW.is_completed, 1)
    ON CONFLICT (day, type, payment_method, is_completed) DO UPDATE SET total = c.total + 1;
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER transactions_count_moves AFTER UPDATE OF is_completed, is_internal, created_at ON transactions FOR EACH ROW
  WHEN (OLD.is_completed <> NEW.is_completed OR OLD.is_internal <> NEW.is_internal OR OLD.created_at <> NEW.created_at)
  EXECUTE FUNCTION move_transaction_count();
