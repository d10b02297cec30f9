-- AlterTable
ALTER TABLE "cabinet_refresh_tokens" ADD COLUMN     "imported_at" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "web_api_tokens" ADD COLUMN     "imported_at" TIMESTAMPTZ(3);
