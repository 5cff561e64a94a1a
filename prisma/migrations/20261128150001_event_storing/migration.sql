-- Stores a batch of raw events in one round trip; see src/metering/counting/event-repository.ts. Its name ends with a version, because the code of two releases
-- may call it side by side: a change of its parameters is another function.
--
-- p_live       the customers of the events: nothing is stored unless all of them are there and not archived
-- p_hashes     identities of the events, 32 bytes each, in ascending order, so that two batches never wait for each other; the other arrays follow it
-- p_named      of each event, the index of its name in p_names
-- p_resources, p_times  null: none of the events has one
--
-- o_now        the time when it looked
-- o_time       the time of events that came without one; null: nothing was stored, and the caller looks again
-- o_is_new     of each event, whether it was not known; null: all of them
CREATE FUNCTION store_events_v1(
  p_environment uuid, p_batch uuid, p_deadline bigint, p_live uuid[],
  p_hashes bytea, p_customers uuid[], p_resources uuid[], p_names text[], p_named int[], p_times timestamptz[], p_dimensions jsonb,
  OUT o_now bigint, OUT o_time bigint, OUT o_is_new boolean[]
) LANGUAGE plpgsql AS $$
DECLARE
  v_events int := cardinality(p_customers);
  v_found int;
BEGIN
  SELECT count(*) INTO v_found
  FROM unnest(p_live) AS asked (id)
  CROSS JOIN LATERAL (SELECT FROM customer WHERE environment_id = p_environment AND id = asked.id AND archived_at IS NULL LIMIT 1) AS live;
  o_now := floor(extract(epoch FROM clock_timestamp()) * 1000);
  IF v_found <> cardinality(p_live) OR o_now >= p_deadline THEN
    RETURN;
  END IF;
  o_time := environment_clock(p_environment);

  INSERT INTO ingestion_key (environment_id, hash, record_id, position)
  SELECT p_environment, substring(p_hashes FROM n * 32 + 1 FOR 32), p_batch, n FROM generate_series(0, v_events - 1) AS n
  ON CONFLICT DO NOTHING;
  GET DIAGNOSTICS v_found = ROW_COUNT;
  IF v_found < v_events THEN
    -- Those that this batch has claimed.
    SELECT array_agg(mine.is_mine IS NOT NULL ORDER BY n) INTO o_is_new
    FROM generate_series(0, v_events - 1) AS n
    LEFT JOIN LATERAL (
      SELECT true AS is_mine FROM ingestion_key AS taken
      WHERE taken.environment_id = p_environment AND taken.hash = substring(p_hashes FROM n * 32 + 1 FOR 32) AND taken.record_id = p_batch LIMIT 1
    ) AS mine ON true;
    IF v_found = 0 THEN
      RETURN;
    END IF;
  END IF;

  INSERT INTO raw_event (environment_id, batch_id, position, occurred_at, customer_id, resource_id, event_name, dimensions)
  SELECT p_environment, p_batch, ord - 1, coalesce(occurred_at, to_timestamp(o_time / 1000.0)), customer_id, resource_id, p_names[named + 1], dimensions
  FROM ROWS FROM (unnest(p_customers), unnest(p_resources), unnest(p_named), unnest(p_times), jsonb_array_elements(p_dimensions))
    WITH ORDINALITY AS given (customer_id, resource_id, named, occurred_at, dimensions, ord)
  WHERE o_is_new IS NULL OR o_is_new[ord];
  INSERT INTO pending_batch (environment_id, id) VALUES (p_environment, p_batch);
END $$;

-- Takes the state rows of customers in the order in which they are given, which is that of their ids and everybody's, and gives those that change their
-- next version. Answers the customers that have a state: their ordinals, versions and access versions, with commas between.
CREATE FUNCTION advance_customers_v1(
  p_environment uuid, p_customers uuid[], p_is_changed boolean[],
  OUT o_ords text, OUT o_versions text, OUT o_access_versions text
) LANGUAGE plpgsql
-- Only a nested loop keeps the order.
SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off AS $$
DECLARE
  v_time bigint := environment_clock(p_environment);
BEGIN
  WITH advanced AS (
    UPDATE customer_state AS state SET version = CASE WHEN given.is_changed THEN greatest(v_time, state.version + 1) ELSE state.version END
    FROM unnest(p_customers, p_is_changed) WITH ORDINALITY AS given (id, is_changed, ord)
    WHERE state.environment_id = p_environment AND state.customer_id = given.id
    RETURNING given.ord, state.version, state.access_version
  )
  SELECT string_agg(ord::text, ','), string_agg(version::text, ','), string_agg(access_version::text, ',')
  INTO o_ords, o_versions, o_access_versions FROM advanced;
END $$;

-- As count_reports_v1, but what was counted together is told in one message.
CREATE FUNCTION count_reports_v2(
  p_environment uuid, p_catalog bigint, p_deadline bigint, p_max_usage numeric,
  p_customers uuid[], p_access bigint[], p_from bigint[], p_until bigint[],
  p_ids uuid[], p_owners int[], p_resources uuid[], p_features uuid[], p_values numeric[], p_dimensions jsonb[],
  p_hashes bytea[], p_bodies bytea[], p_records uuid[],
  p_series uuid[], p_starts timestamptz[], p_added numeric[], p_counted int[],
  p_message uuid, p_told int[], p_customer_refs text[], p_resource_refs text[], p_feature_refs text[]
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
    INSERT INTO outbox_message (environment_id, id, kind, version, payload)
    SELECT p_environment, p_message, 'usage', max(v_versions[added.owner]), jsonb_build_object('usages', jsonb_agg(jsonb_build_object(
      'customerId', message.customer_id,
      'resourceId', message.resource_id,
      'featureId', message.feature_id,
      'usage', jsonb_build_object(
        'currentUsage', trim_scale(added.usage)::text,
        'periodStart', CASE WHEN isfinite(added.period_start) THEN floor(extract(epoch FROM added.period_start) * 1000) END,
        'periodEnd', CASE WHEN isfinite(added.period_end) THEN floor(extract(epoch FROM added.period_end) * 1000) END,
        'updatedAt', v_versions[added.owner]))))
    FROM unnest(p_told, p_customer_refs, p_resource_refs, p_feature_refs) AS message (ord, customer_id, resource_id, feature_id)
    JOIN added USING (ord)
    HAVING count(*) > 0
  )
  SELECT array_agg(added.usage ORDER BY ord), count(*) INTO v_usages, v_found FROM added;
  -- The last look at the clock: what is committed after its deadline has been called "not counted" by the door.
  IF v_found <> cardinality(p_series) OR floor(extract(epoch FROM clock_timestamp()) * 1000) - 500 >= p_deadline
    OR EXISTS (SELECT FROM unnest(v_usages) AS given (usage) WHERE abs(given.usage) > p_max_usage) THEN
    RAISE EXCEPTION 'outdated' USING ERRCODE = 'TG001';
  END IF;
  RETURN QUERY SELECT given.usage::text, v_versions[given.owner] FROM unnest(v_usages, p_counted) WITH ORDINALITY AS given (usage, owner, ord) ORDER BY ord;
END $$;
