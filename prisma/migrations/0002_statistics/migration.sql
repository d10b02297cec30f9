-- Taken before all other locks. Writes wait until the new counters are filled and have their triggers.
LOCK TABLE users, subscriptions, transactions IN SHARE ROW EXCLUSIVE MODE;

-- AlterTable
ALTER TABLE "transaction_count_mark" ADD COLUMN     "wallet_kopeks" BIGINT NOT NULL DEFAULT 0;

-- AlterTable
ALTER TABLE "transaction_day_counts" ADD COLUMN     "amount_kopeks" BIGINT NOT NULL DEFAULT 0;

-- AlterTable
ALTER TABLE "user_counters" ADD COLUMN     "has_paid" BOOLEAN NOT NULL DEFAULT false;

-- CreateTable
CREATE TABLE "subscription_counters" (
    "id" BIGSERIAL NOT NULL,
    "status" VARCHAR(20) NOT NULL,
    "is_trial" BOOLEAN NOT NULL,
    "subscriptions" INTEGER NOT NULL,

    CONSTRAINT "subscription_counters_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "trial_day_counters" (
    "id" BIGSERIAL NOT NULL,
    "day" DATE NOT NULL,
    "status" VARCHAR(20) NOT NULL,
    "trials" INTEGER NOT NULL,

    CONSTRAINT "trial_day_counters_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "paid_trials" (
    "subscription_id" INTEGER NOT NULL,
    "end_date" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "paid_trials_pkey" PRIMARY KEY ("subscription_id")
);

-- CreateIndex
CREATE INDEX "trial_day_counters_day_idx" ON "trial_day_counters"("day");

-- CreateIndex
CREATE INDEX "paid_trials_end_date_idx" ON "paid_trials"("end_date");

-- AddForeignKey
ALTER TABLE "paid_trials" ADD CONSTRAINT "paid_trials_subscription_id_fkey" FOREIGN KEY ("subscription_id") REFERENCES "subscriptions"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Trials that end today are counted row by row (domain/insight).
CREATE INDEX subscriptions_trial_end ON subscriptions (end_date, status) WHERE is_trial;

-- Fills the new counters.
DELETE FROM user_counters;
INSERT INTO user_counters (status, promo_group_id, has_paid, users)
SELECT status, promo_group_id, has_had_paid_subscription, count(*)::int FROM users GROUP BY 1, 2, 3;

INSERT INTO subscription_counters (status, is_trial, subscriptions)
SELECT status, is_trial, count(*)::int FROM subscriptions GROUP BY 1, 2;
INSERT INTO trial_day_counters (day, status, trials)
SELECT (end_date AT TIME ZONE 'UTC')::date, status, count(*)::int FROM subscriptions WHERE is_trial GROUP BY 1, 2;
INSERT INTO paid_trials (subscription_id, end_date)
SELECT s.id, s.end_date FROM subscriptions s JOIN users u ON u.id = s.user_id WHERE s.is_trial AND u.has_had_paid_subscription;

UPDATE transaction_day_counts c SET amount_kopeks = t.kopeks FROM (
  SELECT (created_at AT TIME ZONE 'UTC')::date AS day, type, coalesce(payment_method, '') AS payment_method, is_completed,
    sum(abs(amount_kopeks))::bigint AS kopeks
  FROM transactions WHERE NOT is_internal AND id <= coalesce((SELECT through_id FROM transaction_count_mark WHERE id = 1), 0)
  GROUP BY 1, 2, 3, 4) t
WHERE c.day = t.day AND c.type = t.type AND c.payment_method = t.payment_method AND c.is_completed = t.is_completed;
UPDATE transaction_count_mark m SET wallet_kopeks = coalesce((
  SELECT sum(e.kopeks) FROM ledger_entries e JOIN ledger_accounts a ON a.id = e.account_id
  WHERE a.kind = 'user_wallet' AND e.transaction_id <= m.through_id), 0)::bigint;
