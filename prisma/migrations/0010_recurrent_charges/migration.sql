-- CreateTable
CREATE TABLE "recurrent_charges" (
    "id" SERIAL NOT NULL,
    "subscription_id" INTEGER NOT NULL,
    "charge_date" DATE NOT NULL,
    "status" VARCHAR(20) NOT NULL DEFAULT 'open',
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "recurrent_charges_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "recurrent_attempts" (
    "id" SERIAL NOT NULL,
    "charge_id" INTEGER NOT NULL,
    "saved_method_id" INTEGER NOT NULL,
    "payment_id" INTEGER NOT NULL,
    "status" VARCHAR(20) NOT NULL DEFAULT 'open',
    "reason" VARCHAR(100),
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "recurrent_attempts_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "recurrent_charges_status_created_at_idx" ON "recurrent_charges"("status", "created_at");

-- CreateIndex
CREATE UNIQUE INDEX "recurrent_charges_subscription_id_charge_date_key" ON "recurrent_charges"("subscription_id", "charge_date");

-- CreateIndex
CREATE UNIQUE INDEX "recurrent_attempts_payment_id_key" ON "recurrent_attempts"("payment_id");

-- CreateIndex
CREATE UNIQUE INDEX "recurrent_attempts_charge_id_saved_method_id_key" ON "recurrent_attempts"("charge_id", "saved_method_id");

-- AddForeignKey
ALTER TABLE "recurrent_charges" ADD CONSTRAINT "recurrent_charges_subscription_id_fkey" FOREIGN KEY ("subscription_id") REFERENCES "subscriptions"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "recurrent_attempts" ADD CONSTRAINT "recurrent_attempts_charge_id_fkey" FOREIGN KEY ("charge_id") REFERENCES "recurrent_charges"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "recurrent_attempts" ADD CONSTRAINT "recurrent_attempts_saved_method_id_fkey" FOREIGN KEY ("saved_method_id") REFERENCES "saved_payment_methods"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "recurrent_attempts" ADD CONSTRAINT "recurrent_attempts_payment_id_fkey" FOREIGN KEY ("payment_id") REFERENCES "payments"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

ALTER TABLE "recurrent_charges" ADD CONSTRAINT recurrent_charges_status_known CHECK (status IN ('open', 'paid', 'failed', 'not_due'));
ALTER TABLE "recurrent_attempts" ADD CONSTRAINT recurrent_attempts_status_known CHECK (status IN ('open', 'paid', 'failed'));

-- While an attempt is undecided, no other card is charged.
CREATE UNIQUE INDEX recurrent_attempts_one_open ON "recurrent_attempts" ("charge_id") WHERE status = 'open';
