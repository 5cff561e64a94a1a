-- Imports of many records at once: a job that is worked off in the background, with one outcome per record.
CREATE TYPE "import_kind" AS ENUM ('CUSTOMERS', 'SUBSCRIPTIONS');
CREATE TYPE "import_item_status" AS ENUM ('PENDING', 'DONE', 'FAILED');

CREATE TABLE "import_job" (
    "environment_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "kind" "import_kind" NOT NULL,
    "total" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "finished_at" TIMESTAMPTZ(3),
    "leased_until" TIMESTAMPTZ(3),

    CONSTRAINT "import_job_pkey" PRIMARY KEY ("environment_id","id")
);

CREATE TABLE "import_item" (
    "environment_id" UUID NOT NULL,
    "import_id" UUID NOT NULL,
    "position" INTEGER NOT NULL,
    "status" "import_item_status" NOT NULL DEFAULT 'PENDING',
    "input" JSONB,
    "ref_id" TEXT,
    "error_reason" TEXT,
    "error_message" TEXT,

    CONSTRAINT "import_item_pkey" PRIMARY KEY ("environment_id","import_id","position")
);

ALTER TABLE "import_job" ADD CONSTRAINT "import_job_environment_id_fkey" FOREIGN KEY ("environment_id") REFERENCES "environment"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;
ALTER TABLE "import_item" ADD CONSTRAINT "import_item_environment_id_import_id_fkey" FOREIGN KEY ("environment_id", "import_id") REFERENCES "import_job"("environment_id", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- What was imported is not kept twice.
ALTER TABLE "import_item" ADD CONSTRAINT "import_item_input_check" CHECK (("status" = 'PENDING') = ("input" IS NOT NULL));
ALTER TABLE "import_item" ADD CONSTRAINT "import_item_error_check" CHECK (("status" = 'FAILED') = ("error_reason" IS NOT NULL));

-- What the sweep and the workers read.
CREATE INDEX "import_job_open_idx" ON "import_job" ("created_at") WHERE "finished_at" IS NULL;
CREATE INDEX "import_item_pending_idx" ON "import_item" ("environment_id", "import_id", "position") WHERE "status" = 'PENDING';

-- When the source of an import last changed the customer: an import that is older changes nothing.
ALTER TABLE "customer" ADD COLUMN "source_updated_at" TIMESTAMPTZ(3);

-- When the end of a promotional entitlement has to be told; null once it was.
ALTER TABLE "promotional_entitlement" ADD COLUMN "due_at" TIMESTAMPTZ(3);
ALTER TABLE "promotional_entitlement" ADD CONSTRAINT "promotional_entitlement_due_check" CHECK ("revoked_at" IS NULL OR "due_at" IS NULL);
CREATE INDEX "promotional_entitlement_due_idx" ON "promotional_entitlement" ("due_at") WHERE "due_at" IS NOT NULL;

-- A customer holds at most one of a feature: a new one takes the place of the old one.
CREATE UNIQUE INDEX "promotional_entitlement_held_key" ON "promotional_entitlement" ("environment_id", "customer_id", "feature_id") WHERE "revoked_at" IS NULL;
