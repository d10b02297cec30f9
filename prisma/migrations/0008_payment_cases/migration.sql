-- AlterTable
ALTER TABLE "payments" ADD COLUMN     "charge_id" VARCHAR(255),
ADD COLUMN     "fee_kopeks" BIGINT,
ADD COLUMN     "merchant_id" VARCHAR(100);

-- AlterTable
ALTER TABLE "provider_callbacks" ADD COLUMN     "order_id" VARCHAR(255),
ADD COLUMN     "subpath" VARCHAR(40) NOT NULL DEFAULT '';

-- CreateTable
CREATE TABLE "payment_reversals" (
    "id" SERIAL NOT NULL,
    "method" VARCHAR(40) NOT NULL,
    "payment_id" INTEGER NOT NULL,
    "kind" VARCHAR(20) NOT NULL,
    "reversal_id" VARCHAR(255),
    "amount_kopeks" BIGINT NOT NULL,
    "debited_kopeks" BIGINT NOT NULL DEFAULT 0,
    "status" VARCHAR(20) NOT NULL DEFAULT 'done',
    "requested_by" VARCHAR(100),
    "reason" VARCHAR(500),
    "last_error" VARCHAR(500),
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "transaction_id" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "notified_at" TIMESTAMPTZ(3),
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "payment_reversals_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "payment_cases" (
    "id" SERIAL NOT NULL,
    "kind" VARCHAR(40) NOT NULL,
    "method" VARCHAR(40) NOT NULL,
    "reference" VARCHAR(255) NOT NULL,
    "payment_id" INTEGER,
    "user_id" INTEGER,
    "amount_kopeks" BIGINT,
    "currency" VARCHAR(16),
    "details" JSONB NOT NULL DEFAULT '{}',
    "status" VARCHAR(20) NOT NULL DEFAULT 'open',
    "resolution" VARCHAR(20),
    "resolved_by" VARCHAR(100),
    "comment" VARCHAR(500),
    "transaction_id" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "notified_at" TIMESTAMPTZ(3),
    "resolved_at" TIMESTAMPTZ(3),

    CONSTRAINT "payment_cases_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "payment_reversals_transaction_id_key" ON "payment_reversals"("transaction_id");

-- CreateIndex
CREATE INDEX "payment_reversals_payment_id_created_at_idx" ON "payment_reversals"("payment_id", "created_at");

-- CreateIndex
CREATE INDEX "payment_reversals_status_created_at_idx" ON "payment_reversals"("status", "created_at");

-- CreateIndex
CREATE UNIQUE INDEX "payment_reversals_method_reversal_id_key" ON "payment_reversals"("method", "reversal_id");

-- CreateIndex
CREATE UNIQUE INDEX "payment_cases_transaction_id_key" ON "payment_cases"("transaction_id");

-- CreateIndex
CREATE INDEX "payment_cases_status_created_at_id_idx" ON "payment_cases"("status", "created_at", "id");

-- CreateIndex
CREATE INDEX "payment_cases_payment_id_idx" ON "payment_cases"("payment_id");

-- CreateIndex
CREATE UNIQUE INDEX "payment_cases_kind_method_reference_key" ON "payment_cases"("kind", "method", "reference");

-- AddForeignKey
ALTER TABLE "payment_reversals" ADD CONSTRAINT "payment_reversals_payment_id_fkey" FOREIGN KEY ("payment_id") REFERENCES "payments"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "payment_reversals" ADD CONSTRAINT "payment_reversals_transaction_id_fkey" FOREIGN KEY ("transaction_id") REFERENCES "transactions"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "payment_cases" ADD CONSTRAINT "payment_cases_payment_id_fkey" FOREIGN KEY ("payment_id") REFERENCES "payments"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "payment_cases" ADD CONSTRAINT "payment_cases_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "payment_cases" ADD CONSTRAINT "payment_cases_transaction_id_fkey" FOREIGN KEY ("transaction_id") REFERENCES "transactions"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- Amounts and words.
ALTER TABLE "payment_reversals"
  ADD CONSTRAINT payment_reversals_kind_known CHECK (kind IN ('refund', 'chargeback')),
  ADD CONSTRAINT payment_reversals_status_known CHECK (status IN ('requested', 'done', 'failed')),
  ADD CONSTRAINT payment_reversals_amount CHECK (amount_kopeks > 0 AND debited_kopeks BETWEEN 0 AND amount_kopeks),
  ADD CONSTRAINT payment_reversals_origin CHECK (reversal_id IS NOT NULL OR requested_by IS NOT NULL);
ALTER TABLE "payment_cases"
  ADD CONSTRAINT payment_cases_kind_known CHECK (kind IN ('unknown_payment', 'amount_mismatch', 'overpaid', 'order_mismatch',
    'other_merchant', 'second_payment', 'no_user', 'no_purchase', 'test_payment', 'blocked', 'reversal_unknown', 'reversal_remainder')),
  ADD CONSTRAINT payment_cases_status_known CHECK (status IN ('open', 'resolved')),
  ADD CONSTRAINT payment_cases_resolution CHECK ((status = 'open') = (resolution IS NULL)
    AND (resolution IS NULL OR resolution IN ('credit', 'refund', 'ignore')));

-- These functions got a parameter; the new ones are created from prisma/sql.
DROP FUNCTION IF EXISTS credit_topup(integer, integer, text, text, bigint, text, text, text, timestamptz, jsonb, jsonb, text, timestamptz);
DROP FUNCTION IF EXISTS mark_payment_credited(integer, integer, text, text, timestamptz, jsonb, timestamptz);

-- One refund of a payment is requested at a time, so that an unclear answer of the provider is resolved before the next.
CREATE UNIQUE INDEX payment_reversals_one_requested ON "payment_reversals" ("payment_id") WHERE status = 'requested';
