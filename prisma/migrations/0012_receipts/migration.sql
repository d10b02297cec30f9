-- CreateTable
CREATE TABLE "receipts" (
    "id" SERIAL NOT NULL,
    "payment_id" INTEGER NOT NULL,
    "sequence" INTEGER NOT NULL DEFAULT 1,
    "mark" VARCHAR(20) NOT NULL,
    "name" VARCHAR(256) NOT NULL,
    "amount_kopeks" BIGINT NOT NULL,
    "operation_at" TIMESTAMPTZ(3) NOT NULL,
    "state" VARCHAR(20) NOT NULL DEFAULT 'queued',
    "uuid" VARCHAR(64),
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "next_attempt_at" TIMESTAMPTZ(3),
    "sent_at" TIMESTAMPTZ(3),
    "cancel_sent_at" TIMESTAMPTZ(3),
    "last_error" VARCHAR(500),
    "issued_at" TIMESTAMPTZ(3),
    "cancelled_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "receipts_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "exchange_rates" (
    "currency" VARCHAR(3) NOT NULL,
    "rate" DECIMAL(24,10) NOT NULL,
    "set_on" DATE NOT NULL,
    "previous_rate" DECIMAL(24,10),
    "previous_set_on" DATE,
    "fetched_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "exchange_rates_pkey" PRIMARY KEY ("currency")
);

-- CreateIndex
CREATE UNIQUE INDEX "receipts_mark_key" ON "receipts"("mark");

-- CreateIndex
CREATE UNIQUE INDEX "receipts_uuid_key" ON "receipts"("uuid");

-- CreateIndex
CREATE INDEX "receipts_next_attempt_at_idx" ON "receipts"("next_attempt_at");

-- CreateIndex
CREATE UNIQUE INDEX "receipts_payment_id_sequence_key" ON "receipts"("payment_id", "sequence");

-- AddForeignKey
ALTER TABLE "receipts" ADD CONSTRAINT "receipts_payment_id_fkey" FOREIGN KEY ("payment_id") REFERENCES "payments"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- One receipt of a payment counts at a time.
CREATE UNIQUE INDEX receipts_one_counts ON receipts (payment_id) WHERE state <> 'cancelled';

-- Credited payments by the time of payment, for the search for missing receipts.
CREATE INDEX payments_credited_paid_at_idx ON payments (paid_at) WHERE transaction_id IS NOT NULL;

ALTER TABLE "receipts"
  ADD CONSTRAINT receipts_state_known CHECK (state IN ('queued', 'sending', 'unclear', 'duplicate', 'created', 'failed', 'cancel_requested',
    'cancelled')),
  ADD CONSTRAINT receipts_amount CHECK (amount_kopeks > 0),
  ADD CONSTRAINT receipts_sequence CHECK (sequence > 0),
  -- Before it was created a receipt has no id at the service; one that is to be cancelled has.
  ADD CONSTRAINT receipts_uuid CHECK (CASE WHEN state IN ('created', 'cancel_requested') THEN uuid IS NOT NULL
    WHEN state <> 'cancelled' THEN uuid IS NULL ELSE true END),
  -- What is not at its end is in the queue.
  ADD CONSTRAINT receipts_queued CHECK ((next_attempt_at IS NULL) = (state IN ('created', 'cancelled')));
ALTER TABLE "exchange_rates"
  ADD CONSTRAINT exchange_rates_positive CHECK (rate > 0 AND (previous_rate IS NULL OR previous_rate > 0)),
  ADD CONSTRAINT exchange_rates_previous CHECK ((previous_rate IS NULL) = (previous_set_on IS NULL));
