-- CreateTable
CREATE TABLE "builtin_tax_rate" (
    "environment_id" UUID NOT NULL,
    "id" TEXT NOT NULL,
    "display_name" TEXT NOT NULL,
    "percentage" DECIMAL NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "builtin_tax_rate_pkey" PRIMARY KEY ("environment_id","id")
);

-- What follows is beyond Prisma's schema language.

ALTER TABLE "builtin_tax_rate" ADD CONSTRAINT "builtin_tax_rate_percentage_check" CHECK ("percentage" BETWEEN 0 AND 100);
