-- AlterTable
ALTER TABLE "guest_purchases" ADD COLUMN     "language" VARCHAR(5);
