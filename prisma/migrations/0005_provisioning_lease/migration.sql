-- AlterTable
ALTER TABLE "subscriptions" ADD COLUMN     "provision_lease_until" TIMESTAMPTZ(3);
