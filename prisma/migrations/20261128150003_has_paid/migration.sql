-- Whoever has paid for a product gets no trial of it: also when the plan that was paid for has become a free one since, at the end of a billing period.

-- AlterTable
ALTER TABLE "subscription" ADD COLUMN     "has_paid" BOOLEAN NOT NULL DEFAULT false;
