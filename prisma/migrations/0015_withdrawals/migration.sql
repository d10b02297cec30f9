-- AlterTable
ALTER TABLE "withdrawal_requests" ADD COLUMN     "first_approved_at" TIMESTAMPTZ(3),
ADD COLUMN     "first_approved_by" INTEGER,
ADD COLUMN     "first_comment" TEXT,
ADD COLUMN     "payout_transaction_id" INTEGER,
ADD COLUMN     "transaction_id" INTEGER;

-- CreateTable
CREATE TABLE "withdrawal_counters" (
    "id" BIGSERIAL NOT NULL,
    "status" VARCHAR(20) NOT NULL,
    "requests" INTEGER NOT NULL,
    "amount_kopeks" BIGINT NOT NULL,

    CONSTRAINT "withdrawal_counters_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "withdrawal_requests_transaction_id_key" ON "withdrawal_requests"("transaction_id");

-- CreateIndex
CREATE UNIQUE INDEX "withdrawal_requests_payout_transaction_id_key" ON "withdrawal_requests"("payout_transaction_id");

-- CreateIndex
CREATE INDEX "withdrawal_requests_created_at_id_idx" ON "withdrawal_requests"("created_at" DESC, "id" DESC);

-- AddForeignKey
ALTER TABLE "withdrawal_requests" ADD CONSTRAINT "withdrawal_requests_first_approved_by_fkey" FOREIGN KEY ("first_approved_by") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "withdrawal_requests" ADD CONSTRAINT "withdrawal_requests_transaction_id_fkey" FOREIGN KEY ("transaction_id") REFERENCES "transactions"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "withdrawal_requests" ADD CONSTRAINT "withdrawal_requests_payout_transaction_id_fkey" FOREIGN KEY ("payout_transaction_id") REFERENCES "transactions"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- Payouts in the order of their dates, for the export.
CREATE INDEX "withdrawal_requests_payouts_idx" ON "withdrawal_requests"("processed_at", "id") WHERE status IN ('approved', 'completed');

-- Money belongs to the states that have it. Requests that another service approved have no debit here.
ALTER TABLE "withdrawal_requests"
  ADD CONSTRAINT withdrawal_requests_debited CHECK (transaction_id IS NULL OR status IN ('approved', 'completed')),
  ADD CONSTRAINT withdrawal_requests_paid_out CHECK (payout_transaction_id IS NULL OR status = 'completed');

-- Triggers of prisma/sql/withdrawals.sql count from here on.
INSERT INTO "withdrawal_counters" ("status", "requests", "amount_kopeks")
SELECT status, count(*)::int, sum(amount_kopeks)::bigint FROM "withdrawal_requests" GROUP BY status;
