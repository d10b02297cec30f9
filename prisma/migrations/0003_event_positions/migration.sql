-- AlterTable
ALTER TABLE "domain_events" ADD COLUMN     "transaction_number" BIGINT NOT NULL DEFAULT 0;

-- CreateIndex
CREATE INDEX "domain_events_transaction_number_id_idx" ON "domain_events"("transaction_number", "id");

-- What a user's sockets and those of administrators missed; events of the feed are found by the index above.
CREATE INDEX domain_events_of_user ON domain_events (user_id, transaction_number) WHERE audience = 'user';
CREATE INDEX domain_events_of_staff ON domain_events (transaction_number) WHERE audience = 'staff';
