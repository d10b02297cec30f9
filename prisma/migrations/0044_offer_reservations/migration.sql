-- AlterTable
ALTER TABLE "guest_purchases" ADD COLUMN     "reserves_offer" BOOLEAN NOT NULL DEFAULT false;

-- Of the invoices that are open already, the newest of each buyer keeps the price that was agreed.
UPDATE guest_purchases g SET reserves_offer = true
WHERE g.id IN (SELECT max(p.id) FROM guest_purchases p WHERE p.status = 'pending' AND p.promo_offer_percent IS NOT NULL
  AND p.buyer_user_id IS NOT NULL GROUP BY p.buyer_user_id);

-- The personal discount of a user lowers one open invoice at a time (spec 10 M3).
ALTER TABLE "guest_purchases"
  ADD CONSTRAINT guest_purchases_offer_of_open CHECK (NOT reserves_offer OR (status = 'pending' AND promo_offer_percent IS NOT NULL));
CREATE UNIQUE INDEX guest_purchases_one_offer ON "guest_purchases" ("buyer_user_id") WHERE reserves_offer;

-- Money for an invoice whose discount was used up meanwhile.
ALTER TABLE "payment_cases" DROP CONSTRAINT payment_cases_kind_known,
  ADD CONSTRAINT payment_cases_kind_known CHECK (kind IN ('unknown_payment', 'amount_mismatch', 'overpaid', 'order_mismatch',
    'other_merchant', 'second_payment', 'no_user', 'no_purchase', 'test_payment', 'blocked', 'reversal_unknown', 'reversal_remainder',
    'offer_gone'));
