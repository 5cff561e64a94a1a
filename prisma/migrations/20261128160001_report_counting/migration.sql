-- How many changes a message tells, so that who takes messages need not read them all to take about as many changes as it can deliver.

-- AlterTable
ALTER TABLE "outbox_message" ADD COLUMN     "changes" INTEGER NOT NULL DEFAULT 1;

-- As count_reports_v2, but rows are looked up one by one and then written where they were found: how that is done does not depend on what was known of
-- the tables when the statements were planned, and a plan that was made for a table of a few rows goes through all customers of the environment.
--
-- p_resources, p_dimensions  null: no report has one
-- p_told     of each usage that is told: the index of its counter, and what else the message says; see src/changes/outbox.ts
--
-- o_usages, o_versions  of the counters, with commas between
CREATE FUNCTION count_reports_v3(
  p_environment uuid, p_catalog bigint, p_deadline bigint, p_max_usage numeric,
  p_customers uuid[], p_access bigint[], p_from bigint[], p_until bigint[],
  p_ids uuid[], p_owners int[], p_resources uuid[], p_features uuid[], p_values numeric[], p_dimensions jsonb[],
  p_hashes bytea[], p_bodies bytea[], p_records uuid[],
  p_series uuid[], p_starts timestamptz[], p_added numeric[], p_counted int[],
  p_message uuid, p_told jsonb,
  OUT o_usages text, OUT o_versions text
) LANGUAGE plpgsql AS $$
DECLARE
  v_now bigint;
  -- Usage has the time of the environment, which a test clock may have moved on; deadlines have ours.
  v_time bigint;
  v_versions bigint[];
  v_places tid[];
  v_found bigint;
  v_true boolean;
  v_is_valid boolean;
  v_greatest numeric;
BEGIN
  -- In the order of ids, which is everybody's order; the caller has sorted them.
  WITH held AS MATERIALIZED (
    SELECT asked.ord, state.place, state.version, state.access_version = asked.access AS is_true
    FROM unnest(p_customers, p_access) WITH ORDINALITY AS asked (id, access, ord)
    CROSS JOIN LATERAL (
      SELECT s.ctid AS place, s.version, s.access_version FROM customer_state AS s
      WHERE s.environment_id = p_environment AND s.customer_id = asked.id FOR UPDATE
    ) AS state
  )
  SELECT count(*), bool_and(is_true), array_agg(held.version ORDER BY ord), array_agg(place ORDER BY ord)
  INTO v_found, v_true, v_versions, v_places FROM held;
  v_now := floor(extract(epoch FROM clock_timestamp()) * 1000);
  IF v_found <> cardinality(p_customers) OR NOT v_true OR v_now >= p_deadline
    OR NOT EXISTS (SELECT FROM environment WHERE id = p_environment AND catalog_version = p_catalog) THEN
    RAISE EXCEPTION 'outdated' USING ERRCODE = 'TG001';
  END IF;
  v_time := environment_clock(p_environment);
  WITH advanced AS (
    UPDATE customer_state AS state SET version = greatest(v_time, state.version + 1)
    FROM unnest(v_places, p_from, p_until) WITH ORDINALITY AS given (place, valid_from, valid_until, ord)
    WHERE state.ctid = given.place
    RETURNING given.ord, state.version, state.version >= given.valid_from AND state.version < given.valid_until AS is_valid
  )
  SELECT count(*), bool_and(is_valid), array_agg(advanced.version ORDER BY ord) INTO v_found, v_is_valid, v_versions FROM advanced;
  IF v_found <> cardinality(p_customers) OR NOT v_is_valid THEN
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
  SELECT p_environment, id, p_customers[owner], resource_id, feature_id, value, 'DELTA', to_timestamp(v_versions[owner] / 1000::float8), dimensions
  FROM unnest(p_ids, p_owners, p_resources, p_features, p_values, p_dimensions)
    WITH ORDINALITY AS given (id, owner, resource_id, feature_id, value, dimensions, ord) ORDER BY ord
  ON CONFLICT DO NOTHING;
  GET DIAGNOSTICS v_found = ROW_COUNT;
  IF v_found <> cardinality(p_ids) THEN
    RAISE EXCEPTION 'outdated' USING ERRCODE = 'TG001';
  END IF;

  WITH given AS MATERIALIZED (
    SELECT summed.*, found.place FROM (
      SELECT p_customers[owner] AS customer_id, feature_id, coalesce(resource_id, '00000000-0000-0000-0000-000000000000') AS part_id,
        date_bin('15 minutes', to_timestamp(v_versions[owner] / 1000::float8), 'epoch') AS bucket_start, sum(value) AS value
      FROM unnest(p_owners, p_resources, p_features, p_values) AS given (owner, resource_id, feature_id, value)
      GROUP BY owner, feature_id, resource_id
    ) AS summed
    LEFT JOIN LATERAL (
      SELECT r.ctid AS place FROM usage_rollup AS r
      WHERE r.environment_id = p_environment AND r.customer_id = summed.customer_id AND r.feature_id = summed.feature_id
        AND r.part_id = summed.part_id AND r.bucket_start = summed.bucket_start LIMIT 1
    ) AS found ON true
  ), added AS (
    UPDATE usage_rollup AS rollup SET usage = rollup.usage + given.value FROM given WHERE rollup.ctid = given.place
  )
  INSERT INTO usage_rollup AS rollup (environment_id, customer_id, feature_id, part_id, bucket_start, usage, events)
  SELECT p_environment, customer_id, feature_id, part_id, bucket_start, value, 0 FROM given WHERE place IS NULL
  ON CONFLICT (environment_id, customer_id, feature_id, part_id, bucket_start) DO UPDATE SET usage = rollup.usage + excluded.usage;

  WITH given AS MATERIALIZED (
    SELECT named.value, named.owner, named.ord, found.place
    FROM unnest(p_series, p_starts, p_added, p_counted) WITH ORDINALITY AS named (series_id, period_start, value, owner, ord)
    CROSS JOIN LATERAL (
      SELECT c.ctid AS place FROM usage_counter AS c
      WHERE c.environment_id = p_environment AND c.series_id = named.series_id AND c.period_start = named.period_start LIMIT 1
    ) AS found
  ), added AS (
    UPDATE usage_counter AS counter SET usage = counter.usage + given.value, version = v_versions[given.owner]
    FROM given WHERE counter.ctid = given.place
    RETURNING given.ord, counter.usage, counter.version
  )
  SELECT count(*), max(abs(added.usage)), string_agg(trim_scale(added.usage)::text, ',' ORDER BY ord), string_agg(added.version::text, ',' ORDER BY ord)
  INTO v_found, v_greatest, o_usages, o_versions FROM added;
  IF jsonb_array_length(p_told) > 0 THEN
    INSERT INTO outbox_message (environment_id, id, kind, version, changes, payload)
    VALUES (p_environment, p_message, 'usage', (SELECT max(version) FROM unnest(v_versions) AS given (version)), jsonb_array_length(p_told),
      jsonb_build_object('told', p_told, 'usages', o_usages, 'versions', o_versions));
  END IF;
  -- The last look at the clock: what is committed after its deadline has been called "not counted" by the door.
  IF v_found <> cardinality(p_series) OR floor(extract(epoch FROM clock_timestamp()) * 1000) - 500 >= p_deadline OR v_greatest > p_max_usage THEN
    RAISE EXCEPTION 'outdated' USING ERRCODE = 'TG001';
  END IF;
END $$;
