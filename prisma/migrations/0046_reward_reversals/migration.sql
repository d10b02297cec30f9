-- CreateTable
CREATE TABLE "referral_bonuses" (
    "transaction_id" INTEGER NOT NULL,
    "source_transaction_id" INTEGER NOT NULL,

    CONSTRAINT "referral_bonuses_pkey" PRIMARY KEY ("transaction_id")
);

-- CreateTable
CREATE TABLE "reward_reversals" (
    "id" SERIAL NOT NULL,
    "reversal_id" INTEGER NOT NULL,
    "earning_id" INTEGER,
    "bonus_transaction_id" INTEGER,
    "amount_kopeks" BIGINT NOT NULL,
    "debited_kopeks" BIGINT NOT NULL,
    "transaction_id" INTEGER,
    "debt_transaction_id" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "reward_reversals_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "referral_debts" (
    "user_id" INTEGER NOT NULL,
    "kopeks" BIGINT NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "referral_debts_pkey" PRIMARY KEY ("user_id")
);

-- CreateIndex
CREATE UNIQUE INDEX "referral_bonuses_source_transaction_id_key" ON "referral_bonuses"("source_transaction_id");

-- CreateIndex
CREATE UNIQUE INDEX "reward_reversals_transaction_id_key" ON "reward_reversals"("transaction_id");

-- CreateIndex
CREATE UNIQUE INDEX "reward_reversals_debt_transaction_id_key" ON "reward_reversals"("debt_transaction_id");

-- CreateIndex
CREATE UNIQUE INDEX "reward_reversals_earning_id_reversal_id_key" ON "reward_reversals"("earning_id", "reversal_id");

-- CreateIndex
CREATE UNIQUE INDEX "reward_reversals_bonus_transaction_id_reversal_id_key" ON "reward_reversals"("bonus_transaction_id", "reversal_id");

-- AddForeignKey
ALTER TABLE "referral_bonuses" ADD CONSTRAINT "referral_bonuses_transaction_id_fkey" FOREIGN KEY ("transaction_id") REFERENCES "transactions"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "referral_bonuses" ADD CONSTRAINT "referral_bonuses_source_transaction_id_fkey" FOREIGN KEY ("source_transaction_id") REFERENCES "transactions"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "reward_reversals" ADD CONSTRAINT "reward_reversals_reversal_id_fkey" FOREIGN KEY ("reversal_id") REFERENCES "payment_reversals"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "reward_reversals" ADD CONSTRAINT "reward_reversals_earning_id_fkey" FOREIGN KEY ("earning_id") REFERENCES "referral_earnings"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "reward_reversals" ADD CONSTRAINT "reward_reversals_bonus_transaction_id_fkey" FOREIGN KEY ("bonus_transaction_id") REFERENCES "referral_bonuses"("transaction_id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "reward_reversals" ADD CONSTRAINT "reward_reversals_transaction_id_fkey" FOREIGN KEY ("transaction_id") REFERENCES "transactions"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "reward_reversals" ADD CONSTRAINT "reward_reversals_debt_transaction_id_fkey" FOREIGN KEY ("debt_transaction_id") REFERENCES "transactions"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "referral_debts" ADD CONSTRAINT "referral_debts_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- A reversal is of an earning or of a bonus.
ALTER TABLE "reward_reversals"
  ADD CONSTRAINT reward_reversals_of_one CHECK ((earning_id IS NULL) <> (bonus_transaction_id IS NULL)),
  ADD CONSTRAINT reward_reversals_amount CHECK (amount_kopeks >= 0 AND debited_kopeks BETWEEN 0 AND amount_kopeks);
ALTER TABLE "referral_debts" ADD CONSTRAINT referral_debts_not_negative CHECK (kopeks >= 0);
CREATE INDEX referral_debts_open ON "referral_debts" ("kopeks" DESC, "user_id") WHERE kopeks > 0;
