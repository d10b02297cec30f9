-- CreateTable
CREATE TABLE "ledger_checked_balances" (
    "account_id" INTEGER NOT NULL,
    "through_entry_id" BIGINT NOT NULL,
    "kopeks" BIGINT NOT NULL,

    CONSTRAINT "ledger_checked_balances_pkey" PRIMARY KEY ("account_id")
);

-- CreateTable
CREATE TABLE "ledger_problems" (
    "problem" VARCHAR(60) NOT NULL,
    "row_id" BIGINT NOT NULL,
    "detail" TEXT NOT NULL,
    "found_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "ledger_problems_pkey" PRIMARY KEY ("problem","row_id")
);

-- AddForeignKey
ALTER TABLE "ledger_checked_balances" ADD CONSTRAINT "ledger_checked_balances_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "ledger_accounts"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- Has rows only while something is wrong (ledger_check_payments).
CREATE INDEX payments_without_transaction ON payments (id)
  WHERE is_paid AND purpose = 'balance_topup' AND transaction_id IS NULL;

-- From now on a check must complete in time (src/domain/ledger/check/health.ts).
INSERT INTO service_state (key, value, updated_at) VALUES ('ledger:check', jsonb_build_object('since', now()), now());
