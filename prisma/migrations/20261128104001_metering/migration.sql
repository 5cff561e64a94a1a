-- Meters keep their history, counters know what they were counted with, UNIQUE keeps its members, and usage is rolled up by the quarter of an hour.

-- AlterTable
ALTER TABLE "usage_counter" ADD COLUMN     "events" BIGINT NOT NULL DEFAULT 0,
ADD COLUMN     "meter_version" INTEGER,
ADD COLUMN     "total" DECIMAL;

-- CreateTable
CREATE TABLE "meter_version" (
    "environment_id" UUID NOT NULL,
    "feature_id" UUID NOT NULL,
    "version" INTEGER NOT NULL,
    "aggregation" "meter_aggregation" NOT NULL,
    "field" TEXT,
    "filters" JSONB NOT NULL,
    "valid_from" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "meter_version_pkey" PRIMARY KEY ("environment_id","feature_id","version")
);

-- CreateTable
CREATE TABLE "usage_member" (
    "environment_id" UUID NOT NULL,
    "series_id" UUID NOT NULL,
    "period_start" TIMESTAMPTZ(3) NOT NULL,
    "member" BYTEA NOT NULL,

    CONSTRAINT "usage_member_pkey" PRIMARY KEY ("environment_id","series_id","period_start","member")
);

-- CreateTable
CREATE TABLE "usage_rollup" (
    "environment_id" UUID NOT NULL,
    "customer_id" UUID NOT NULL,
    "feature_id" UUID NOT NULL,
    "part_id" UUID NOT NULL,
    "bucket_start" TIMESTAMPTZ(3) NOT NULL,
    "usage" DECIMAL NOT NULL,
    "events" BIGINT NOT NULL,
    "is_level" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "usage_rollup_pkey" PRIMARY KEY ("environment_id","customer_id","feature_id","part_id","bucket_start")
);

-- CreateTable
CREATE TABLE "usage_recomputation" (
    "environment_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "feature_id" UUID NOT NULL,
    "customer_id" UUID,
    "from_time" TIMESTAMPTZ(3),
    "to_time" TIMESTAMPTZ(3),
    "meter_version" INTEGER NOT NULL,
    "done_until" UUID,
    "customers_total" INTEGER NOT NULL,
    "customers_done" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "usage_recomputation_pkey" PRIMARY KEY ("environment_id","id")
);

-- AddForeignKey
ALTER TABLE "meter_version" ADD CONSTRAINT "meter_version_environment_id_feature_id_fkey" FOREIGN KEY ("environment_id", "feature_id") REFERENCES "feature"("environment_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "usage_recomputation" ADD CONSTRAINT "usage_recomputation_environment_id_feature_id_fkey" FOREIGN KEY ("environment_id", "feature_id") REFERENCES "feature"("environment_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- What follows is beyond Prisma's schema language.

-- SHA-256 of the member, cut to 16 bytes: two of a billion members meet with a chance of 1e-21.
ALTER TABLE "usage_member" ADD CONSTRAINT "usage_member_size_check" CHECK (octet_length("member") = 16);
-- Counters are updated in place, over and over.
ALTER TABLE "usage_counter" SET (fillfactor = 70);
ALTER TABLE "usage_rollup" SET (fillfactor = 70);
ALTER TABLE "customer_state" SET (fillfactor = 70);
CREATE INDEX "usage_recomputation_unfinished_idx" ON "usage_recomputation" ("created_at") WHERE "finished_at" IS NULL;

-- A meter that changes leaves behind what it was: periods that have begun are counted to their end as they began.
CREATE FUNCTION keep_meter_version() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  latest meter_version;
BEGIN
  SELECT * INTO latest FROM meter_version
  WHERE environment_id = NEW.environment_id AND feature_id = NEW.feature_id ORDER BY version DESC LIMIT 1;
  IF FOUND AND (latest.aggregation, latest.filters) = (NEW.aggregation, NEW.filters) AND latest.field IS NOT DISTINCT FROM NEW.field THEN
    RETURN NEW;
  END IF;
  INSERT INTO meter_version (environment_id, feature_id, version, aggregation, field, filters, valid_from)
  VALUES (NEW.environment_id, NEW.feature_id, coalesce(latest.version, 0) + 1, NEW.aggregation, NEW.field, NEW.filters, clock_timestamp());
  RETURN NEW;
END $$;

INSERT INTO meter_version (environment_id, feature_id, version, aggregation, field, filters, valid_from)
SELECT environment_id, feature_id, 1, aggregation, field, filters, created_at FROM meter;

CREATE TRIGGER keep_version AFTER INSERT OR UPDATE ON "meter" FOR EACH ROW EXECUTE FUNCTION keep_meter_version();

-- Counters that were counted with a meter before it had versions.
UPDATE usage_counter AS counter SET meter_version = 1
FROM usage_series AS series, meter
WHERE series.environment_id = counter.environment_id AND series.id = counter.series_id
  AND meter.environment_id = series.environment_id AND meter.feature_id = series.feature_id;
