-- AlterTable
ALTER TABLE "cabinet_refresh_tokens" ADD COLUMN     "proved_at" TIMESTAMPTZ(3);
