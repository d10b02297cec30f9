-- Taken before all other locks. Writes wait until the new counters are filled and have their triggers.
LOCK TABLE users, subscriptions, traffic_purchases, subscription_servers, subscription_conversions, referrer_stats,
  advertising_campaign_registrations IN SHARE ROW EXCLUSIVE MODE;

-- AlterTable
ALTER TABLE "advertising_campaign_registrations" ADD COLUMN     "referrals" INTEGER NOT NULL DEFAULT 0;

-- AlterTable
ALTER TABLE "campaign_counters" ADD COLUMN     "buyers" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "referrals" INTEGER NOT NULL DEFAULT 0;

-- AlterTable
ALTER TABLE "subscription_counters" ADD COLUMN     "tariff_id" INTEGER NOT NULL DEFAULT 0;

-- CreateTable
CREATE TABLE "statistics_mark" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "zone" VARCHAR(64) NOT NULL DEFAULT 'UTC',
    "through_id" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "statistics_mark_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "statistics_days" (
    "id" BIGSERIAL NOT NULL,
    "kind" VARCHAR(20) NOT NULL,
    "day" DATE NOT NULL,
    "key" VARCHAR(20) NOT NULL,
    "total" BIGINT NOT NULL,
    "amount" BIGINT NOT NULL,

    CONSTRAINT "statistics_days_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "trial_origins" (
    "subscription_id" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "provider" VARCHAR(20) NOT NULL,

    CONSTRAINT "trial_origins_pkey" PRIMARY KEY ("subscription_id")
);

-- CreateTable
CREATE TABLE "sales_days" (
    "day" DATE NOT NULL,
    "type" VARCHAR(40) NOT NULL,
    "payment_method" VARCHAR(40) NOT NULL,
    "product" VARCHAR(40) NOT NULL,
    "payments" BIGINT NOT NULL,
    "amount_kopeks" BIGINT NOT NULL,

    CONSTRAINT "sales_days_pkey" PRIMARY KEY ("day","type","payment_method","product")
);

-- CreateTable
CREATE TABLE "payers" (
    "user_id" INTEGER NOT NULL,
    "first_paid_at" TIMESTAMPTZ(3) NOT NULL,
    "payments" INTEGER NOT NULL,
    "amount_kopeks" BIGINT NOT NULL,

    CONSTRAINT "payers_pkey" PRIMARY KEY ("user_id")
);

-- CreateTable
CREATE TABLE "payer_cohort_days" (
    "first_day" DATE NOT NULL,
    "day" DATE NOT NULL,
    "payments" BIGINT NOT NULL,
    "amount_kopeks" BIGINT NOT NULL,

    CONSTRAINT "payer_cohort_days_pkey" PRIMARY KEY ("first_day","day")
);

-- CreateTable
CREATE TABLE "payer_cohort_months" (
    "first_month" DATE NOT NULL,
    "day" DATE NOT NULL,
    "payments" BIGINT NOT NULL,
    "amount_kopeks" BIGINT NOT NULL,

    CONSTRAINT "payer_cohort_months_pkey" PRIMARY KEY ("day","first_month")
);

-- CreateTable
CREATE TABLE "single_payment_days" (
    "day" DATE NOT NULL,
    "payers" BIGINT NOT NULL,
    "amount_kopeks" BIGINT NOT NULL,

    CONSTRAINT "single_payment_days_pkey" PRIMARY KEY ("day")
);

-- CreateTable
CREATE TABLE "branch_sales" (
    "user_id" INTEGER NOT NULL,
    "amount_kopeks" BIGINT NOT NULL,

    CONSTRAINT "branch_sales_pkey" PRIMARY KEY ("user_id")
);

-- CreateIndex
CREATE INDEX "statistics_days_kind_day_idx" ON "statistics_days"("kind", "day");

-- CreateIndex
CREATE INDEX "trial_origins_created_at_idx" ON "trial_origins"("created_at");

-- CreateIndex
CREATE INDEX "payers_first_paid_at_user_id_idx" ON "payers"("first_paid_at", "user_id");

-- CreateIndex
CREATE INDEX "traffic_purchases_created_at_idx" ON "traffic_purchases"("created_at");

-- AddForeignKey
ALTER TABLE "trial_origins" ADD CONSTRAINT "trial_origins_subscription_id_fkey" FOREIGN KEY ("subscription_id") REFERENCES "subscriptions"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE statistics_mark ADD CONSTRAINT statistics_mark_one_row CHECK (id = 1);

-- The network of referrals: its users by id, and the referrers with most referrals, in all and of a campaign.
CREATE INDEX users_referred ON users (id) WHERE referred_by_id IS NOT NULL;
CREATE INDEX referrer_stats_invited ON referrer_stats (referrals DESC, user_id) WHERE referrals > 0;
CREATE INDEX referrer_stats_earned ON referrer_stats (earned_kopeks DESC, user_id) WHERE referrals > 0;
CREATE INDEX referrer_stats_former ON referrer_stats (user_id) WHERE referrals <= 0 AND earned_kopeks <> 0;
CREATE INDEX campaign_registrations_referrers ON advertising_campaign_registrations (campaign_id, referrals DESC, user_id) WHERE referrals > 0;

-- Fills the new counters, in days of UTC; the job insight.count-sales changes to the zone of the setting TIMEZONE. Transactions are counted by
-- the same job, from the first one on.
INSERT INTO statistics_mark (id) VALUES (1);
INSERT INTO trial_origins (subscription_id, created_at, provider)
SELECT s.id, s.created_at, CASE WHEN u.vk_id IS NOT NULL THEN 'vk' WHEN u.yandex_id IS NOT NULL THEN 'yandex'
  WHEN u.google_id IS NOT NULL THEN 'google' WHEN u.discord_id IS NOT NULL THEN 'discord' WHEN u.auth_type = 'email' THEN 'email'
  ELSE 'messenger' END
FROM subscriptions s JOIN users u ON u.id = s.user_id WHERE s.is_trial;
INSERT INTO statistics_days (kind, day, key, total, amount)
SELECT c.kind, (c.moment AT TIME ZONE 'UTC')::date, c.key, count(*), sum(c.amount) FROM (
  SELECT 'registrations' AS kind, created_at AS moment, CASE WHEN has_had_paid_subscription THEN 'paid' ELSE 'unpaid' END AS key,
    0 AS amount FROM users
  UNION ALL SELECT 'trials', created_at, provider, 0 FROM trial_origins
  UNION ALL SELECT 'sold', created_at, coalesce(tariff_id, 0)::text, 0 FROM subscriptions WHERE NOT is_trial
  UNION ALL SELECT 'sold_periods', created_at, round(extract(epoch FROM end_date - start_date) / 86400)::bigint::text, 0
    FROM subscriptions WHERE NOT is_trial
  UNION ALL SELECT 'conversions', converted_at, CASE WHEN trial_duration_days IS NULL THEN 'untimed' ELSE 'timed' END,
    coalesce(trial_duration_days, 0) FROM subscription_conversions
  UNION ALL SELECT 'traffic', created_at, traffic_gb::text, traffic_gb FROM traffic_purchases
  UNION ALL SELECT 'servers', connected_at, '', paid_price_kopeks FROM subscription_servers WHERE paid_price_kopeks <> 0) c
GROUP BY 1, 2, 3;
DELETE FROM subscription_counters;
INSERT INTO subscription_counters (status, is_trial, tariff_id, subscriptions)
SELECT status, is_trial, coalesce(tariff_id, 0), count(*)::int FROM subscriptions GROUP BY 1, 2, 3;

-- Without the trigger that counts changes of registrations.
SELECT set_config('app.recounting_campaigns', '1', true);
UPDATE advertising_campaign_registrations r SET referrals = f.referrals FROM referrer_stats f WHERE f.user_id = r.user_id AND f.referrals <> 0;
SELECT set_config('app.recounting_campaigns', '', true);
INSERT INTO campaign_counters (campaign_id, buyers, referrals)
SELECT campaign_id, count(*) FILTER (WHERE payments > 0), sum(referrals) FROM advertising_campaign_registrations GROUP BY campaign_id;
