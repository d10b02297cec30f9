-- The recipient of a gift has a token of their own (spec 10 U4). Each row gets one, earlier rows too.
ALTER TABLE "guest_purchases" ADD COLUMN     "recipient_token" VARCHAR(64) NOT NULL DEFAULT replace(((gen_random_uuid())::text || (gen_random_uuid())::text), '-'::text, ''::text);

-- CreateIndex
CREATE UNIQUE INDEX "guest_purchases_recipient_token_key" ON "guest_purchases"("recipient_token");

-- Clients share the first 12 characters of a token, so those are unique; a gift is found by them (spec 10 U1). The digest: how long a look-up
-- takes says nothing about the characters of a code.
CREATE UNIQUE INDEX guest_purchases_token_head ON guest_purchases (sha256(left(token, 12)::bytea));
DROP INDEX guest_purchases_code_digest;
DROP INDEX "guest_purchases_code_key";
