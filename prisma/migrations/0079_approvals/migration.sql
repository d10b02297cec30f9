-- CreateTable
CREATE TABLE "approvals" (
    "id" SERIAL NOT NULL,
    "kind" VARCHAR(20) NOT NULL,
    "status" VARCHAR(20) NOT NULL,
    "user_id" INTEGER,
    "payment_id" INTEGER,
    "amount_kopeks" BIGINT NOT NULL,
    "description" TEXT,
    "is_shown" BOOLEAN NOT NULL DEFAULT true,
    "requested_by" VARCHAR(80) NOT NULL,
    "requester_id" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3),
    "decided_by" INTEGER,
    "decided_at" TIMESTAMPTZ(3),
    "reason" TEXT,
    "reserve_transaction_id" INTEGER,
    "release_transaction_id" INTEGER,

    CONSTRAINT "approvals_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "approvals_reserve_transaction_id_key" ON "approvals"("reserve_transaction_id");

-- CreateIndex
CREATE UNIQUE INDEX "approvals_release_transaction_id_key" ON "approvals"("release_transaction_id");

-- CreateIndex
CREATE INDEX "approvals_status_id_idx" ON "approvals"("status", "id" DESC);

-- CreateIndex
CREATE INDEX "approvals_status_expires_at_idx" ON "approvals"("status", "expires_at");

-- CreateIndex
CREATE INDEX "approvals_requested_by_kind_created_at_idx" ON "approvals"("requested_by", "kind", "created_at");

-- CreateIndex
CREATE INDEX "approvals_user_id_idx" ON "approvals"("user_id");

-- AddForeignKey
ALTER TABLE "approvals" ADD CONSTRAINT "approvals_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "approvals" ADD CONSTRAINT "approvals_requester_id_fkey" FOREIGN KEY ("requester_id") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "approvals" ADD CONSTRAINT "approvals_decided_by_fkey" FOREIGN KEY ("decided_by") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "approvals" ADD CONSTRAINT "approvals_payment_id_fkey" FOREIGN KEY ("payment_id") REFERENCES "payments"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "approvals" ADD CONSTRAINT "approvals_reserve_transaction_id_fkey" FOREIGN KEY ("reserve_transaction_id") REFERENCES "transactions"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "approvals" ADD CONSTRAINT "approvals_release_transaction_id_fkey" FOREIGN KEY ("release_transaction_id") REFERENCES "transactions"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- A payment has one waiting refund.
CREATE UNIQUE INDEX approvals_waiting_refund ON approvals (payment_id) WHERE status = 'waiting';

ALTER TABLE approvals ADD CONSTRAINT approvals_state CHECK (CASE status
  WHEN 'exempt' THEN expires_at IS NULL AND decided_at IS NULL AND reserve_transaction_id IS NULL
  WHEN 'waiting' THEN expires_at IS NOT NULL AND decided_at IS NULL AND release_transaction_id IS NULL
  WHEN 'refused' THEN decided_at IS NOT NULL AND reason IS NOT NULL
  ELSE status IN ('approved', 'withdrawn', 'expired') AND decided_at IS NOT NULL END);

-- What was held has gone back when the change is over; an approved one has taken it from the balance then.
ALTER TABLE approvals ADD CONSTRAINT approvals_held CHECK (
  (release_transaction_id IS NOT NULL) = (reserve_transaction_id IS NOT NULL AND status <> 'waiting'));

-- Nobody decides about what he requested, also not by a statement of a later release.
ALTER TABLE approvals ADD CONSTRAINT approvals_two_people CHECK (status <> 'approved' OR decided_by IS DISTINCT FROM requester_id OR decided_by IS NULL);

ALTER TABLE approvals ADD CONSTRAINT approvals_amount CHECK (amount_kopeks <> 0);
ALTER TABLE approvals ADD CONSTRAINT approvals_kind CHECK (CASE kind WHEN 'balance_change' THEN payment_id IS NULL AND user_id IS NOT NULL WHEN 'payment_refund' THEN payment_id IS NOT NULL AND amount_kopeks < 0 ELSE false END);
