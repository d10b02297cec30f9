-- CreateTable
CREATE TABLE "promo_offer_broadcasts" (
    "id" SERIAL NOT NULL,
    "state" VARCHAR(20) NOT NULL DEFAULT 'making',
    "notification_type" VARCHAR(50) NOT NULL,
    "effect_type" VARCHAR(50) NOT NULL,
    "discount_percent" INTEGER NOT NULL,
    "bonus_amount_kopeks" BIGINT NOT NULL,
    "valid_hours" INTEGER NOT NULL,
    "extra_data" JSONB NOT NULL DEFAULT '{}',
    "subscription_id" INTEGER,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "target" VARCHAR(100),
    "named_user_id" INTEGER,
    "audience_end" INTEGER NOT NULL,
    "made_up_to" INTEGER NOT NULL DEFAULT 0,
    "created_offers" INTEGER NOT NULL DEFAULT 0,
    "wants_messages" BOOLEAN NOT NULL DEFAULT false,
    "message_text" TEXT,
    "button_text" VARCHAR(255),
    "sent" INTEGER NOT NULL DEFAULT 0,
    "failed" INTEGER NOT NULL DEFAULT 0,
    "skipped" INTEGER NOT NULL DEFAULT 0,
    "created_by" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "promo_offer_broadcasts_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "promo_offer_deliveries" (
    "broadcast_id" INTEGER NOT NULL,
    "offer_id" INTEGER NOT NULL,
    "state" VARCHAR(20) NOT NULL,
    "claimed_at" TIMESTAMPTZ(3),
    "settled_at" TIMESTAMPTZ(3),

    CONSTRAINT "promo_offer_deliveries_pkey" PRIMARY KEY ("broadcast_id","offer_id")
);

-- CreateIndex
CREATE INDEX "promo_offer_broadcasts_subscription_id_idx" ON "promo_offer_broadcasts"("subscription_id");

-- CreateIndex
CREATE INDEX "promo_offer_broadcasts_named_user_id_idx" ON "promo_offer_broadcasts"("named_user_id");

-- CreateIndex
CREATE INDEX "promo_offer_broadcasts_created_by_idx" ON "promo_offer_broadcasts"("created_by");

-- CreateIndex
CREATE INDEX "promo_offer_deliveries_offer_id_broadcast_id_idx" ON "promo_offer_deliveries"("offer_id", "broadcast_id");

-- CreateIndex
CREATE INDEX "promo_offer_deliveries_settled_at_idx" ON "promo_offer_deliveries"("settled_at");

-- AddForeignKey
ALTER TABLE "promo_offer_broadcasts" ADD CONSTRAINT "promo_offer_broadcasts_subscription_id_fkey" FOREIGN KEY ("subscription_id") REFERENCES "subscriptions"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "promo_offer_broadcasts" ADD CONSTRAINT "promo_offer_broadcasts_named_user_id_fkey" FOREIGN KEY ("named_user_id") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "promo_offer_broadcasts" ADD CONSTRAINT "promo_offer_broadcasts_created_by_fkey" FOREIGN KEY ("created_by") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "promo_offer_deliveries" ADD CONSTRAINT "promo_offer_deliveries_broadcast_id_fkey" FOREIGN KEY ("broadcast_id") REFERENCES "promo_offer_broadcasts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "promo_offer_deliveries" ADD CONSTRAINT "promo_offer_deliveries_offer_id_fkey" FOREIGN KEY ("offer_id") REFERENCES "discount_offers"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE promo_offer_broadcasts
  ADD CONSTRAINT promo_offer_broadcasts_state CHECK (state IN ('making', 'sending', 'done')),
  ADD CONSTRAINT promo_offer_broadcasts_bounds CHECK (discount_percent BETWEEN 0 AND 100 AND bonus_amount_kopeks >= 0 AND valid_hours >= 1);
ALTER TABLE promo_offer_deliveries
  ADD CONSTRAINT promo_offer_deliveries_state CHECK (state IN ('queued', 'sending', 'sent', 'failed', 'skipped'));
-- What is still to be sent; a delivery leaves the index when it is settled.
CREATE INDEX promo_offer_deliveries_open ON promo_offer_deliveries (broadcast_id, offer_id) WHERE state IN ('queued', 'sending');

-- What the clock ends (spec 04 section 15): personal discounts.
CREATE INDEX users_offer_discount_expiring ON users (promo_offer_discount_expires_at, id) WHERE promo_offer_discount_percent > 0;
-- Subscriptions that ended some days ago, for win-back offers.
CREATE INDEX subscriptions_ended_paid ON subscriptions (end_date, id) WHERE NOT is_trial;

-- The three offers to start with (spec 04 section 9.1); administrators reword them.
INSERT INTO promo_offer_templates (offer_type, name, message_text, button_text, valid_hours, discount_percent, active_discount_hours, test_duration_hours)
SELECT * FROM (VALUES
  ('test_access', 'Пробный доступ к серверам',
   E'🛰 <b>Новые серверы на пробу</b>\n\nПодключите {server_name} бесплатно: доступ будет открыт {test_duration_hours} ч.\nПредложение действует {valid_hours} ч.',
   'Включить доступ', 24, 0, NULL::int, 24),
  ('extend_discount', 'Скидка на продление',
   E'🎯 <b>Скидка {discount_percent}% на продление</b>\n\nЗаберите её в течение {valid_hours} ч., после этого она действует ещё {active_discount_hours} ч.',
   'Забрать скидку', 24, 20, 24, NULL),
  ('purchase_discount', 'Скидка на покупку',
   E'🎯 <b>Скидка {discount_percent}% на подписку</b>\n\nЗаберите её в течение {valid_hours} ч., после этого она действует ещё {active_discount_hours} ч.',
   'Забрать скидку', 48, 25, 48, NULL)
) AS seed WHERE NOT EXISTS (SELECT 1 FROM promo_offer_templates);
