-- AlterTable
ALTER TABLE "account_merges" ADD COLUMN     "former_emails" JSONB NOT NULL DEFAULT '[]',
ADD COLUMN     "former_messenger_id" BIGINT;
