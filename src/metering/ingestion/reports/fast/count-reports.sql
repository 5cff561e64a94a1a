-- Counts reports whose series are known, in one round trip; called by countFast. What it was told is checked under the customers' locks: anything that is
-- not so raises TG001, which undoes all of it, and the caller looks again. Identities that are expected to be new are written without looking first: when
-- one is not, all is taken back with a unique violation, and the caller looks again likewise. Rows are looked up one by one and then written where they
-- were found: how that is done does not depend on what was known of the tables when the statements were planned, and a plan that was made for a table of a
-- few rows goes through all customers of the environment.
--
-- p_from, p_until         the versions for which all of the counters are the right ones
-- p_features, p_periods   features and starts of periods, which reports have in common; reports name their positions in these lists, from 1 on
-- p_resources, p_dimensions  null: no report has one
-- p_told                  what the message says of the usages that are told (p_changes of them); see src/changes/wire/told-reports.ts
--
-- o_usages, o_versions    of the counters, with commas between
CREATE OR REPLACE FUNCTION count_reports(
  p_environment uuid, p_catalog bigint, p_deadline bigint, p_max_usage numeric,
  p_from bigint, p_until bigint, p_customers uuid[], p_access bigint[],
  p_features uuid[], p_periods timestamptz[],
  p_ids uuid[], p_report_owners int[], p_resources uuid[], p_report_features int[], p_values numeric[], p_dimensions jsonb[],
  p_hashes bytea[], p_bodies bytea[], p_records uuid[],
  p_series uuid[], p_counter_periods int[], p_added numeric[], p_counter_owners int[],
  p_message uuid, p_told text, p_changes int,
  OUT o_usages text, OUT o_versions text
) LANGUAGE plpgsql AS $$
DECLARE
  v_versions bigint[];
  v_access bigint[];
  v_is_true boolean;
  v_found bigint;
  v_greatest numeric;
  v_version bigint;
BEGIN
  SELECT advanced.o_versions, advanced.o_access_versions INTO v_versions, v_access
  FROM advance_customers(p_environment, p_customers, NULL) AS advanced;
  -- Usage has the time of the environment, which a test clock may have moved on; deadlines have ours.
  v_is_true := v_access = p_access AND p_from <= ALL (v_versions) AND p_until > ALL (v_versions)
    AND floor(extract(epoch FROM clock_timestamp()) * 1000) < p_deadline
    AND (SELECT catalog_version FROM environment WHERE id = p_environment) = p_catalog;
  IF v_is_true IS NOT TRUE THEN
    RAISE EXCEPTION 'outdated' USING ERRCODE = 'TG001';
  END IF;

  -- What is there already ends this with a unique violation.
  IF cardinality(p_hashes) > 0 THEN
    INSERT INTO ingestion_key (environment_id, hash, body_hash, record_id)
    SELECT p_environment, hash, body_hash, record_id
    FROM unnest(p_hashes, p_bodies, p_records) WITH ORDINALITY AS given (hash, body_hash, record_id, ord) ORDER BY ord;
  END IF;

  -- In one statement, because each costs as much to begin as a report to count.
  WITH stored AS (
    INSERT INTO usage_measurement (environment_id, id, customer_id, resource_id, feature_id, value, behavior, occurred_at, dimensions)
    SELECT p_environment, id, p_customers[owner], resource_id, p_features[feature], value, 'DELTA', to_timestamp(v_versions[owner] / 1000::float8), dimensions
    FROM unnest(p_ids, p_report_owners, p_resources, p_report_features, p_values, p_dimensions)
      WITH ORDINALITY AS given (id, owner, resource_id, feature, value, dimensions, ord) ORDER BY ord
  ), rolled_up AS MATERIALIZED (
    SELECT summed.*, found.position FROM (
      SELECT p_customers[owner] AS customer_id, p_features[feature] AS feature_id, coalesce(resource_id, '00000000-0000-0000-0000-000000000000') AS part_id,
        date_bin('15 minutes', to_timestamp(v_versions[owner] / 1000::float8), 'epoch') AS bucket_start, sum(value) AS value
      FROM unnest(p_report_owners, p_resources, p_report_features, p_values) AS given (owner, resource_id, feature, value)
      GROUP BY owner, feature, resource_id
    ) AS summed
    LEFT JOIN LATERAL (
      SELECT r.ctid AS position FROM usage_rollup AS r
      WHERE r.environment_id = p_environment AND r.customer_id = summed.customer_id AND r.feature_id = summed.feature_id
        AND r.part_id = summed.part_id AND r.bucket_start = summed.bucket_start LIMIT 1
    ) AS found ON true
  ), known_buckets AS (
    UPDATE usage_rollup AS rollup SET usage = rollup.usage + rolled_up.value FROM rolled_up WHERE rollup.ctid = rolled_up.position
  ), new_buckets AS (
    INSERT INTO usage_rollup AS rollup (environment_id, customer_id, feature_id, part_id, bucket_start, usage, events)
    SELECT p_environment, customer_id, feature_id, part_id, bucket_start, value, 0 FROM rolled_up WHERE position IS NULL
    ON CONFLICT (environment_id, customer_id, feature_id, part_id, bucket_start) DO UPDATE SET usage = rollup.usage + excluded.usage
  ), given AS MATERIALIZED (
    SELECT named.value, named.owner, named.ord, found.position
    FROM unnest(p_series, p_counter_periods, p_added, p_counter_owners) WITH ORDINALITY AS named (series_id, period, value, owner, ord)
    CROSS JOIN LATERAL (
      SELECT c.ctid AS position FROM usage_counter AS c
      WHERE c.environment_id = p_environment AND c.series_id = named.series_id AND c.period_start = p_periods[named.period] LIMIT 1
    ) AS found
  ), added AS (
    UPDATE usage_counter AS counter SET usage = counter.usage + given.value, version = v_versions[given.owner]
    FROM given WHERE counter.ctid = given.position
    RETURNING given.ord, counter.usage, counter.version
  ), counted AS MATERIALIZED (
    SELECT count(*) AS counters, max(abs(added.usage)) AS greatest, max(added.version) AS version,
      string_agg(trim_scale(added.usage)::text, ',' ORDER BY ord) AS usages, string_agg(added.version::text, ',' ORDER BY ord) AS versions
    FROM added
  )
  SELECT counters, greatest, version, usages, versions INTO v_found, v_greatest, v_version, o_usages, o_versions FROM counted;
  IF p_changes > 0 AND v_found > 0 THEN
    PERFORM tell_counted(p_environment, p_message, v_version, p_changes, concat_ws(E'\n', p_told, o_usages, o_versions));
  END IF;
  -- The last look at the clock: after its deadline and some time for the commit nobody waits for it any more.
  IF v_found <> cardinality(p_series) OR floor(extract(epoch FROM clock_timestamp()) * 1000) - 500 >= p_deadline OR v_greatest > p_max_usage THEN
    RAISE EXCEPTION 'outdated' USING ERRCODE = 'TG001';
  END IF;
END $$;
