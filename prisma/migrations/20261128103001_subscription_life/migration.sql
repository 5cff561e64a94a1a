-- Renewals, test clocks, and plans that are published for existing subscriptions too.

-- AlterTable
ALTER TABLE "environment" ADD COLUMN     "test_clock" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "subscription" ADD COLUMN     "billing_id" TEXT,
ADD COLUMN     "crm_id" TEXT,
ADD COLUMN     "current_period_end" TIMESTAMPTZ(3),
ADD COLUMN     "current_period_start" TIMESTAMPTZ(3),
ADD COLUMN     "salesforce_id" TEXT;

-- CreateTable
CREATE TABLE "subscription_renewal" (
    "environment_id" UUID NOT NULL,
    "subscription_id" UUID NOT NULL,
    "period_start" TIMESTAMPTZ(3) NOT NULL,
    "period_end" TIMESTAMPTZ(3) NOT NULL,
    "recorded_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "subscription_renewal_pkey" PRIMARY KEY ("environment_id","subscription_id","period_start")
);

-- CreateTable
CREATE TABLE "package_migration" (
    "environment_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "package_id" UUID NOT NULL,
    "package_version_id" UUID NOT NULL,
    "total" INTEGER NOT NULL,
    "migrated" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "package_migration_pkey" PRIMARY KEY ("environment_id","id")
);

-- AddForeignKey
ALTER TABLE "subscription_renewal" ADD CONSTRAINT "subscription_renewal_environment_id_subscription_id_fkey" FOREIGN KEY ("environment_id", "subscription_id") REFERENCES "subscription"("environment_id", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "package_migration" ADD CONSTRAINT "package_migration_environment_id_package_id_fkey" FOREIGN KEY ("environment_id", "package_id") REFERENCES "package"("environment_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "package_migration" ADD CONSTRAINT "package_migration_environment_id_package_version_id_fkey" FOREIGN KEY ("environment_id", "package_version_id") REFERENCES "package_version"("environment_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- Time in an environment: the database's, unless the environment's test clock is ahead of it. Epoch milliseconds.
CREATE FUNCTION environment_clock(environment uuid) RETURNS bigint LANGUAGE sql VOLATILE PARALLEL SAFE AS $$
  SELECT greatest(
    floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint,
    (SELECT floor(extract(epoch FROM test_clock) * 1000)::bigint FROM environment WHERE id = $1)
  )
$$;

ALTER TABLE "environment" ADD CONSTRAINT "environment_test_clock_check" CHECK ("test_clock" IS NULL OR "is_test");
ALTER TABLE "subscription_renewal" ADD CONSTRAINT "subscription_renewal_period_check" CHECK ("period_start" < "period_end");
ALTER TABLE "subscription" ADD CONSTRAINT "subscription_period_check" CHECK (("current_period_start" IS NULL) = ("current_period_end" IS NULL));

-- What waits, for the loader and the sweeps.
CREATE INDEX "scheduled_update_waiting_idx" ON "scheduled_update" ("environment_id", "subscription_id") WHERE "status" = 'Scheduled';
CREATE INDEX "package_migration_open_idx" ON "package_migration" ("created_at") WHERE "finished_at" IS NULL;
CREATE UNIQUE INDEX "package_migration_open_key" ON "package_migration" ("environment_id", "package_id") WHERE "finished_at" IS NULL;
CREATE INDEX "environment_test_clock_idx" ON "environment" ("id") WHERE "test_clock" IS NOT NULL;

CREATE INDEX "subscription_plan_version_idx" ON "subscription" ("environment_id", "plan_version_id") WHERE "status" NOT IN ('CANCELED', 'EXPIRED');
CREATE INDEX "subscription_addon_version_idx" ON "subscription_addon" ("environment_id", "addon_version_id");

-- Who subscribed before renewals were recorded is in a period that ended at its anchor: the worker goes on from there.
UPDATE "subscription" SET "current_period_start" = "billing_anchor", "current_period_end" = "billing_anchor", "due_at" = least("due_at", "billing_anchor")
WHERE "status" = 'ACTIVE' AND "billing_period" IS NOT NULL;
