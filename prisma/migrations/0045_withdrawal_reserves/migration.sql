-- AlterTable
ALTER TABLE "withdrawal_requests" ADD COLUMN     "reserve_transaction_id" INTEGER,
ADD COLUMN     "release_transaction_id" INTEGER;

-- CreateIndex
CREATE UNIQUE INDEX "withdrawal_requests_reserve_transaction_id_key" ON "withdrawal_requests"("reserve_transaction_id");

-- CreateIndex
CREATE UNIQUE INDEX "withdrawal_requests_release_transaction_id_key" ON "withdrawal_requests"("release_transaction_id");

-- AddForeignKey
ALTER TABLE "withdrawal_requests" ADD CONSTRAINT "withdrawal_requests_reserve_transaction_id_fkey" FOREIGN KEY ("reserve_transaction_id") REFERENCES "transactions"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "withdrawal_requests" ADD CONSTRAINT "withdrawal_requests_release_transaction_id_fkey" FOREIGN KEY ("release_transaction_id") REFERENCES "transactions"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- Money that is held goes on with the approval, or back with any other end (spec 10 M5).
ALTER TABLE "withdrawal_requests" ADD CONSTRAINT withdrawal_requests_reserved CHECK (CASE
  WHEN reserve_transaction_id IS NULL THEN release_transaction_id IS NULL
  WHEN status IN ('rejected', 'cancelled') THEN release_transaction_id IS NOT NULL AND transaction_id IS NULL
  WHEN status = 'pending' THEN release_transaction_id IS NULL AND transaction_id IS NULL
  ELSE release_transaction_id IS NULL AND transaction_id IS NOT NULL END);

-- Requests that wait already get their hold where the balance covers it; for others the approval compares with the balance, as before. An
-- empty database has no functions yet, and no requests.
DO $$
DECLARE
  v_request record;
  v_posting record;
BEGIN
  FOR v_request IN SELECT r.id, r.user_id, r.amount_kopeks FROM withdrawal_requests r JOIN users u ON u.id = r.user_id
    WHERE r.status = 'pending' AND u.balance_kopeks >= r.amount_kopeks ORDER BY r.user_id, r.id
  LOOP
    EXECUTE 'SELECT outcome, transaction_id FROM post_transaction($1, ''withdrawal'', -$2, ''withdrawal_hold'', $3, ''hold'', $4, $5, now(), NULL, true)'
      INTO v_posting USING v_request.user_id, v_request.amount_kopeks, 'withdrawal_hold:' || v_request.id, 'withdrawal:' || v_request.id,
        'Withdrawal request #' || v_request.id || ': held';
    IF v_posting.outcome = 'posted' THEN
      UPDATE withdrawal_requests SET reserve_transaction_id = v_posting.transaction_id WHERE id = v_request.id;
    END IF;
  END LOOP;
END $$;
