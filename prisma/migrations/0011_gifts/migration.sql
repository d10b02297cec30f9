-- AlterTable
ALTER TABLE "guest_purchases" ADD COLUMN     "promo_offer_percent" INTEGER,
ADD COLUMN     "promo_offer_source" VARCHAR(100),
ADD COLUMN     "refund_transaction_id" INTEGER,
ALTER COLUMN "code" SET DATA TYPE VARCHAR(22);

-- CreateIndex
CREATE UNIQUE INDEX "guest_purchases_refund_transaction_id_key" ON "guest_purchases"("refund_transaction_id");

-- AddForeignKey
ALTER TABLE "guest_purchases" ADD CONSTRAINT "guest_purchases_refund_transaction_id_fkey" FOREIGN KEY ("refund_transaction_id") REFERENCES "transactions"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- Codes have 22 characters; those of earlier purchases stay valid.
ALTER TABLE guest_purchases
  DROP CONSTRAINT guest_purchases_code_of_token,
  ADD CONSTRAINT guest_purchases_code_of_token CHECK (code = left(token, length(code)) AND length(code) IN (12, 22)),
  -- Money that was given back is never given as a subscription too (spec 03 H21).
  ADD CONSTRAINT guest_purchases_refunded CHECK (
    refund_transaction_id IS NULL OR (status = 'failed' AND paid_at IS NOT NULL AND granted_at IS NULL)),
  ADD CONSTRAINT guest_purchases_promo_offer CHECK (promo_offer_percent BETWEEN 1 AND 100);

-- Codes are found by their digest: how long that takes says nothing about the characters of a code.
CREATE UNIQUE INDEX guest_purchases_code_digest ON guest_purchases (sha256(code::bytea));
-- Gifts that wait for their recipient's consent.
CREATE INDEX guest_purchases_waiting ON guest_purchases (user_id, created_at DESC, id DESC)
  WHERE status = 'pending_activation' AND is_gift AND granted_at IS NULL;
