-- AlterTable
ALTER TABLE "webhooks" ADD COLUMN     "has_client_words" BOOLEAN NOT NULL DEFAULT false;
