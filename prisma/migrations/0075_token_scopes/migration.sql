-- AlterTable
ALTER TABLE "web_api_tokens" ADD COLUMN     "allowed_addresses" JSONB,
ADD COLUMN     "previous_hash" VARCHAR(128),
ADD COLUMN     "previous_until" TIMESTAMPTZ(3),
ADD COLUMN     "scopes" JSONB;

-- CreateIndex
CREATE UNIQUE INDEX "web_api_tokens_previous_hash_key" ON "web_api_tokens"("previous_hash");
