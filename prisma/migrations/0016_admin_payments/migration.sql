-- CreateTable
CREATE TABLE "payment_day_counters" (
    "id" BIGSERIAL NOT NULL,
    "day" DATE NOT NULL,
    "method" VARCHAR(40) NOT NULL,
    "bucket" VARCHAR(20) NOT NULL,
    "payments" INTEGER NOT NULL,

    CONSTRAINT "payment_day_counters_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "payment_day_counters_day_idx" ON "payment_day_counters"("day");

-- What a payment is to administrators: paid, pending or cancelled, of all methods alike (spec 03 section 4.4, H20). The same table in
-- TypeScript: src/domain/payments/search/buckets.ts. Indexes call it: after a change of it they must be rebuilt.
CREATE FUNCTION payment_bucket(p_is_paid boolean, p_outcome text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN p_is_paid OR p_outcome = 'paid' THEN 'paid' WHEN p_outcome = 'pending' THEN 'pending' ELSE 'cancelled' END
$$;

-- Lists of the administration, newest first: by bucket, by method and bucket.
CREATE INDEX payments_bucket ON payments (payment_bucket(is_paid, outcome::text), created_at DESC, id DESC);
CREATE INDEX payments_method_bucket ON payments (method, payment_bucket(is_paid, outcome::text), created_at DESC, id DESC);
-- The beginning of an id, in any case.
CREATE INDEX payments_order_id_prefix ON payments (lower(order_id::text) text_pattern_ops);
CREATE INDEX payments_external_id_prefix ON payments (lower(external_id::text) text_pattern_ops) WHERE external_id IS NOT NULL;
CREATE INDEX payments_charge_id_prefix ON payments (lower(charge_id::text) text_pattern_ops) WHERE charge_id IS NOT NULL;

-- Payments of before; new ones are counted by triggers.
INSERT INTO payment_day_counters (day, method, bucket, payments)
SELECT (created_at AT TIME ZONE 'UTC')::date, method, payment_bucket(is_paid, outcome::text), count(*)::int FROM payments GROUP BY 1, 2, 3;

-- Words, amounts and the record of a decision.
ALTER TABLE payment_day_counters
  ADD CONSTRAINT payment_day_counters_bucket_known CHECK (bucket IN ('paid', 'pending', 'cancelled'));
ALTER TABLE payment_cases
  ADD CONSTRAINT payment_cases_resolved CHECK (status = 'open' OR (resolved_at IS NOT NULL AND resolved_by IS NOT NULL)),
  ADD CONSTRAINT payment_cases_credit CHECK ((transaction_id IS NOT NULL) = (resolution IS NOT DISTINCT FROM 'credit'));
-- What no interface could store so far, and an import may have brought.
UPDATE payment_method_configs SET min_amount_kopeks = NULL, max_amount_kopeks = NULL
WHERE min_amount_kopeks < 0 OR max_amount_kopeks < 0 OR min_amount_kopeks > max_amount_kopeks;
UPDATE payment_method_configs SET user_type_filter = 'all' WHERE user_type_filter NOT IN ('all', 'messenger', 'email');
UPDATE payment_method_configs SET first_topup_filter = 'any' WHERE first_topup_filter NOT IN ('any', 'yes', 'no');
UPDATE payment_method_configs SET promo_group_filter_mode = 'all' WHERE promo_group_filter_mode NOT IN ('all', 'selected');
ALTER TABLE payment_method_configs
  ADD CONSTRAINT payment_method_configs_limits CHECK (min_amount_kopeks >= 0 AND max_amount_kopeks >= 0 AND min_amount_kopeks <= max_amount_kopeks),
  ADD CONSTRAINT payment_method_configs_words CHECK (user_type_filter IN ('all', 'messenger', 'email')
    AND first_topup_filter IN ('any', 'yes', 'no') AND promo_group_filter_mode IN ('all', 'selected'));
