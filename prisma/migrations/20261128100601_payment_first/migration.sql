-- A subscription that starts later and is paid first waits for its payment when it starts.

-- AlterTable
ALTER TABLE "subscription" ADD COLUMN     "awaits_payment" BOOLEAN NOT NULL DEFAULT false;
