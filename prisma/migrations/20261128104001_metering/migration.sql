-- Meters keep their history, counters know what they were counted with, UNIQUE keeps its members, and usage is rolled up by the quarter of an hour.

-- AlterTable
ALTER TABLE "usage_counter" ADD COLUMN     "events" BIGINT NOT NULL DEFAULT 0,
ADD COLUMN     "meter_version" INTEGER,
ADD COLUMN     "total" DECIMAL;

-- AlterTable
ALTER TABLE "ingestion_key" ADD COLUMN     "position" INTEGER;

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
    "first_at" TIMESTAMPTZ(3) NOT NULL,

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

-- Counts reports whose series are known, in one round trip; see src/metering/ingestion/reports/fast/fast-count.ts. What it was told is checked under the customers' locks:
-- anything that is not so raises TG001, which undoes all of it, and the caller looks again. Its name ends with a version, because the code of two
-- releases may call it side by side: a change of its parameters is another function.
CREATE FUNCTION count_reports_v1(
  p_environment uuid, p_catalog bigint, p_deadline bigint, p_max_usage numeric,
  p_customers uuid[], p_access bigint[], p_from bigint[], p_until bigint[],
  p_ids uuid[], p_owners int[], p_resources uuid[], p_features uuid[], p_values numeric[], p_dimensions jsonb[],
  p_hashes bytea[], p_bodies bytea[], p_records uuid[],
  p_series uuid[], p_starts timestamptz[], p_added numeric[], p_counted int[],
  p_messages uuid[], p_told int[], p_customer_refs text[], p_resource_refs text[], p_feature_refs text[]
) RETURNS TABLE (usage text, version bigint) LANGUAGE plpgsql AS $$
DECLARE
  v_now bigint;
  -- Usage has the time of the environment, which a test clock may have moved on; deadlines have ours.
  v_time bigint;
  v_versions bigint[];
  v_found bigint;
  v_true boolean;
  v_usages numeric[];
BEGIN
  -- In the order of ids, which is everybody's order; the caller has sorted them.
  WITH held AS MATERIALIZED (
    SELECT asked.ord, state.version, state.access_version = asked.access AS is_true
    FROM unnest(p_customers, p_access) WITH ORDINALITY AS asked (id, access, ord)
    CROSS JOIN LATERAL (
      SELECT * FROM customer_state WHERE environment_id = p_environment AND customer_id = asked.id FOR UPDATE
    ) AS state
  )
  SELECT count(*), bool_and(is_true), array_agg(held.version ORDER BY ord) INTO v_found, v_true, v_versions FROM held;
  v_now := floor(extract(epoch FROM clock_timestamp()) * 1000);
  IF v_found <> cardinality(p_customers) OR NOT v_true OR v_now >= p_deadline
    OR NOT EXISTS (SELECT FROM environment WHERE id = p_environment AND catalog_version = p_catalog) THEN
    RAISE EXCEPTION 'outdated' USING ERRCODE = 'TG001';
  END IF;
  v_time := environment_clock(p_environment);
  SELECT array_agg(greatest(v_time, given.version + 1) ORDER BY ord) INTO v_versions FROM unnest(v_versions) WITH ORDINALITY AS given (version, ord);
  IF EXISTS (
    SELECT FROM unnest(v_versions, p_from, p_until) AS given (version, valid_from, valid_until)
    WHERE given.version < valid_from OR given.version >= valid_until
  ) THEN
    RAISE EXCEPTION 'outdated' USING ERRCODE = 'TG001';
  END IF;

  IF cardinality(p_hashes) > 0 THEN
    INSERT INTO ingestion_key (environment_id, hash, body_hash, record_id)
    SELECT p_environment, hash, body_hash, record_id
    FROM unnest(p_hashes, p_bodies, p_records) WITH ORDINALITY AS given (hash, body_hash, record_id, ord) ORDER BY ord
    ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS v_found = ROW_COUNT;
    IF v_found <> cardinality(p_hashes) THEN
      RAISE EXCEPTION 'outdated' USING ERRCODE = 'TG001';
    END IF;
  END IF;
  INSERT INTO usage_measurement (environment_id, id, customer_id, resource_id, feature_id, value, behavior, occurred_at, dimensions)
  SELECT p_environment, id, p_customers[owner], resource_id, feature_id, value, 'DELTA', to_timestamp(v_versions[owner] / 1000.0), dimensions
  FROM unnest(p_ids, p_owners, p_resources, p_features, p_values, p_dimensions)
    WITH ORDINALITY AS given (id, owner, resource_id, feature_id, value, dimensions, ord) ORDER BY ord
  ON CONFLICT DO NOTHING;
  GET DIAGNOSTICS v_found = ROW_COUNT;
  IF v_found <> cardinality(p_ids) THEN
    RAISE EXCEPTION 'outdated' USING ERRCODE = 'TG001';
  END IF;

  INSERT INTO usage_rollup AS rollup (environment_id, customer_id, feature_id, part_id, bucket_start, usage, events)
  SELECT p_environment, p_customers[owner], feature_id, coalesce(resource_id, '00000000-0000-0000-0000-000000000000'),
    date_bin('15 minutes', to_timestamp(v_versions[owner] / 1000.0), 'epoch'), sum(value), 0
  FROM unnest(p_owners, p_resources, p_features, p_values) AS given (owner, resource_id, feature_id, value) GROUP BY owner, feature_id, resource_id
  ON CONFLICT (environment_id, customer_id, feature_id, part_id, bucket_start) DO UPDATE SET usage = rollup.usage + excluded.usage;

  WITH given AS MATERIALIZED (
    SELECT * FROM unnest(p_series, p_starts, p_added, p_counted) WITH ORDINALITY AS given (series_id, period_start, value, owner, ord)
  ), added AS (
    UPDATE usage_counter AS counter SET usage = counter.usage + given.value, version = v_versions[given.owner]
    FROM given
    WHERE counter.environment_id = p_environment AND counter.series_id = given.series_id AND counter.period_start = given.period_start
    RETURNING given.ord, given.owner, counter.usage, counter.period_start, counter.period_end
  ), versioned AS (
    UPDATE customer_state AS state SET version = v_versions[given.ord]
    FROM unnest(p_customers) WITH ORDINALITY AS given (customer_id, ord)
    WHERE state.environment_id = p_environment AND state.customer_id = given.customer_id
  ), told AS (
    INSERT INTO outbox_message (environment_id, id, kind, customer_id, resource_id, version, payload)
    SELECT p_environment, message.id, 'usage', message.customer_id, message.resource_id, v_versions[added.owner], jsonb_build_object(
      'featureId', message.feature_id,
      'usage', jsonb_build_object(
        'currentUsage', trim_scale(added.usage)::text,
        'periodStart', CASE WHEN isfinite(added.period_start) THEN floor(extract(epoch FROM added.period_start) * 1000) END,
        'periodEnd', CASE WHEN isfinite(added.period_end) THEN floor(extract(epoch FROM added.period_end) * 1000) END,
        'updatedAt', v_versions[added.owner]))
    FROM unnest(p_messages, p_told, p_customer_refs, p_resource_refs, p_feature_refs) AS message (id, ord, customer_id, resource_id, feature_id)
    JOIN added USING (ord)
  )
  SELECT array_agg(added.usage ORDER BY ord), count(*) INTO v_usages, v_found FROM added;
  -- The last look at the clock: what is committed after its deadline has been called "not counted" by the door.
  IF v_found <> cardinality(p_series) OR floor(extract(epoch FROM clock_timestamp()) * 1000) - 500 >= p_deadline
    OR EXISTS (SELECT FROM unnest(v_usages) AS given (usage) WHERE abs(given.usage) > p_max_usage) THEN
    RAISE EXCEPTION 'outdated' USING ERRCODE = 'TG001';
  END IF;
  RETURN QUERY SELECT given.usage::text, v_versions[given.owner] FROM unnest(v_usages, p_counted) WITH ORDINALITY AS given (usage, owner, ord) ORDER BY ord;
END $$;
