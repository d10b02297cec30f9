-- AlterTable
ALTER TABLE "guest_purchases" ADD COLUMN     "imported_at" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "payments" ADD COLUMN     "imported_at" TIMESTAMPTZ(3),
ALTER COLUMN "order_id" SET DATA TYPE VARCHAR(255);

-- AlterTable
ALTER TABLE "poll_responses" ADD COLUMN     "imported_at" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "referral_earnings" ADD COLUMN     "imported_at" TIMESTAMPTZ(3),
ALTER COLUMN "reason" SET DATA TYPE VARCHAR(100);

-- AlterTable
ALTER TABLE "transactions" ADD COLUMN     "imported_at" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "wheel_spins" ADD COLUMN     "imported_at" TIMESTAMPTZ(3);

-- CreateTable
CREATE TABLE "import_runs" (
    "id" SERIAL NOT NULL,
    "pass" INTEGER NOT NULL,
    "state" VARCHAR(20) NOT NULL,
    "source_kind" VARCHAR(20) NOT NULL,
    "source_revision" VARCHAR(20) NOT NULL,
    "snapshot_at" TIMESTAMPTZ(3) NOT NULL,
    "options" JSONB NOT NULL DEFAULT '{}',
    "cursor" JSONB NOT NULL DEFAULT '{}',
    "report" JSONB,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "finished_at" TIMESTAMPTZ(3),
    "served_at" TIMESTAMPTZ(3),

    CONSTRAINT "import_runs_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "import_parked" (
    "id" BIGSERIAL NOT NULL,
    "run_id" INTEGER NOT NULL,
    "source_table" VARCHAR(100) NOT NULL,
    "source_id" TEXT NOT NULL,
    "reason" VARCHAR(60) NOT NULL,
    "is_whole" BOOLEAN NOT NULL,
    "row" JSONB NOT NULL,

    CONSTRAINT "import_parked_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "import_issues" (
    "id" BIGSERIAL NOT NULL,
    "run_id" INTEGER NOT NULL,
    "code" VARCHAR(60) NOT NULL,
    "source_table" VARCHAR(100) NOT NULL,
    "subject" TEXT NOT NULL,
    "detail" JSONB,

    CONSTRAINT "import_issues_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "import_map" (
    "source_table" VARCHAR(100) NOT NULL,
    "source_id" BIGINT NOT NULL,
    "target_table" VARCHAR(100) NOT NULL,
    "target_id" BIGINT NOT NULL,

    CONSTRAINT "import_map_pkey" PRIMARY KEY ("target_table","source_table","source_id")
);

-- CreateIndex
CREATE UNIQUE INDEX "import_runs_pass_key" ON "import_runs"("pass");

-- CreateIndex
CREATE INDEX "import_parked_source_table_reason_idx" ON "import_parked"("source_table", "reason");

-- CreateIndex
CREATE INDEX "import_parked_run_id_idx" ON "import_parked"("run_id");

-- CreateIndex
CREATE INDEX "import_issues_run_id_code_idx" ON "import_issues"("run_id", "code");

-- AddForeignKey
ALTER TABLE "import_parked" ADD CONSTRAINT "import_parked_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "import_runs"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "import_issues" ADD CONSTRAINT "import_issues_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "import_runs"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE import_runs
  ADD CONSTRAINT import_runs_state_known CHECK (state IN ('loading', 'preparing', 'finished')),
  ADD CONSTRAINT import_runs_source_kind_known CHECK (source_kind IN ('postgresql', 'sqlite', 'archive')),
  ADD CONSTRAINT import_runs_finished CHECK ((state = 'finished') = (finished_at IS NOT NULL));

-- The source did not store every link that these demand of rows made here (spec 07 section 2).
ALTER TABLE referral_earnings
  DROP CONSTRAINT referral_earnings_reason_known,
  DROP CONSTRAINT referral_earnings_source,
  ADD CONSTRAINT referral_earnings_reason_known CHECK (imported_at IS NOT NULL OR reason IN
    ('referral_registration_pending', 'referral_first_topup', 'referral_commission_topup', 'referral_commission')),
  ADD CONSTRAINT referral_earnings_source CHECK (
    imported_at IS NOT NULL OR reason = 'referral_registration_pending' OR referral_transaction_id IS NOT NULL);

ALTER TABLE poll_responses
  DROP CONSTRAINT poll_responses_reward,
  ADD CONSTRAINT poll_responses_reward CHECK (
    reward_amount_kopeks >= 0
    AND (NOT reward_given OR (completed_at IS NOT NULL AND (reward_transaction_id IS NOT NULL OR imported_at IS NOT NULL))));

ALTER TABLE wheel_spins
  DROP CONSTRAINT wheel_spins_paid,
  ADD CONSTRAINT wheel_spins_paid CHECK (
    payment_type <> 'messenger_stars' OR debit_transaction_id IS NOT NULL OR external_charge_id IS NOT NULL OR imported_at IS NOT NULL);

ALTER TABLE payments
  DROP CONSTRAINT payments_topup_paid_is_credited,
  ADD CONSTRAINT payments_topup_paid_is_credited CHECK (
    purpose <> 'balance_topup' OR is_paid = (transaction_id IS NOT NULL) OR (is_paid AND imported_at IS NOT NULL));

-- What an import brought paid and without its movement was credited in the source; it is no fault.
DROP INDEX payments_without_transaction;
CREATE INDEX payments_without_transaction ON payments (id)
  WHERE is_paid AND purpose = 'balance_topup' AND transaction_id IS NULL AND imported_at IS NULL;
