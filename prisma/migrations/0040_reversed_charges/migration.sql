-- Which money a case or a reversal is about (spec 10 M1, M2, M8).
ALTER TABLE "payment_cases" ADD COLUMN     "charge_id" VARCHAR(255);
ALTER TABLE "payment_reversals" ADD COLUMN     "charge_id" VARCHAR(255);
CREATE INDEX "payment_cases_method_charge_id_idx" ON "payment_cases"("method", "charge_id");

-- A case whose money the provider gave back is resolved by that.
ALTER TABLE payment_cases DROP CONSTRAINT payment_cases_resolution;
ALTER TABLE payment_cases ADD CONSTRAINT payment_cases_resolution CHECK ((status = 'open') = (resolution IS NULL)
  AND (resolution IS NULL OR resolution IN ('credit', 'refund', 'ignore', 'reversed')));

-- Cases of before. Their reversals were counted to the payment of the invoice, and are not settled again.
UPDATE payment_cases SET charge_id = CASE WHEN kind = 'overpaid' THEN 'overpaid:' || payment_id
  ELSE left(coalesce(details ->> 'chargeId', details ->> 'externalId', reference), 255) END
WHERE kind IN ('overpaid', 'second_payment', 'unknown_payment', 'order_mismatch');

-- These functions got a parameter; the new ones are created from prisma/sql.
DROP FUNCTION IF EXISTS open_payment_case(text, text, text, integer, integer, bigint, text, jsonb, timestamptz);
DROP FUNCTION IF EXISTS reverse_payment(integer, text, text, bigint, jsonb, timestamptz);
