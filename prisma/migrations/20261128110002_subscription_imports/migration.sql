-- AlterTable
ALTER TABLE "subscription" ADD COLUMN "source_updated_at" TIMESTAMPTZ(3);
