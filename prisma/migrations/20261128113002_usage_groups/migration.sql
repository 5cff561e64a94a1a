-- History by dimensions: what a quarter of an hour had of each group is kept, so that the events behind it are read once.

-- CreateTable
CREATE TABLE "usage_grouping" (
    "environment_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "customer_id" UUID NOT NULL,
    "feature_id" UUID NOT NULL,
    "dimensions" TEXT[],
    "ready_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "usage_grouping_pkey" PRIMARY KEY ("environment_id","id")
);

-- CreateTable
CREATE TABLE "usage_group_rollup" (
    "environment_id" UUID NOT NULL,
    "grouping_id" UUID NOT NULL,
    "part_id" UUID NOT NULL,
    "bucket_start" TIMESTAMPTZ(3) NOT NULL,
    "source" TEXT NOT NULL,
    "is_level" BOOLEAN NOT NULL,
    "groups" JSONB NOT NULL,

    CONSTRAINT "usage_group_rollup_pkey" PRIMARY KEY ("environment_id","grouping_id","part_id","bucket_start")
);

-- CreateIndex
CREATE INDEX "usage_grouping_environment_id_feature_id_idx" ON "usage_grouping"("environment_id", "feature_id");

-- CreateIndex
CREATE UNIQUE INDEX "usage_grouping_environment_id_customer_id_feature_id_dimens_key" ON "usage_grouping"("environment_id", "customer_id", "feature_id", "dimensions");

-- AddForeignKey
ALTER TABLE "usage_grouping" ADD CONSTRAINT "usage_grouping_environment_id_feature_id_fkey" FOREIGN KEY ("environment_id", "feature_id") REFERENCES "feature"("environment_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "usage_group_rollup" ADD CONSTRAINT "usage_group_rollup_environment_id_grouping_id_fkey" FOREIGN KEY ("environment_id", "grouping_id") REFERENCES "usage_grouping"("environment_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;
