-- The rows of a call are written a batch a transaction: users above 0 and up to the mark have theirs. 0 and 0 = all written, as in
-- every call until now.
ALTER TABLE "poll_sends" ADD COLUMN "audience_end" INTEGER NOT NULL DEFAULT 0, ADD COLUMN "made_up_to" INTEGER NOT NULL DEFAULT 0;

-- An invitation is taken before it is sent, so that of two runs at once only one sends it.
ALTER TABLE "poll_responses" ADD COLUMN "claimed_at" TIMESTAMPTZ(3);
ALTER TABLE poll_responses
  DROP CONSTRAINT poll_responses_delivery_known,
  ADD CONSTRAINT poll_responses_delivery_known CHECK (delivery_state IN ('queued', 'sending', 'sent', 'failed', 'skipped'));
