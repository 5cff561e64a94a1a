-- Stores a batch of raw events in one round trip; called by storeEvents. Customers are never deleted, so it looks only for those that are archived.
--
-- p_may_repeat  some of the events may have been stored before: then it looks first. Identities that are all expected to be new are written without
--               looking, which takes a quarter less
-- p_deadline    past it nothing is stored: raises TG001 when it comes meanwhile
-- p_live        customers that were live when whoever calls saw them last: nothing is stored unless none of them is archived
-- p_hashes      identities of the events, 32 bytes each, in ascending order, so that two batches never wait for each other; the other arrays follow it
-- p_named       of each event, the index of its name in p_names
-- p_resources, p_times  null: none of the events has one
--
-- o_now         the time when it looked
-- o_time        the time of events that came without one; null: nothing was stored, and the caller looks again
-- o_times       where a test clock stands still: of each event the time it got; null: they have their own, or o_time
-- o_is_new      of each event, whether it was not known; null: all of them
CREATE OR REPLACE FUNCTION store_events(
  p_environment uuid, p_batch uuid, p_deadline bigint, p_may_repeat boolean, p_live uuid[],
  p_hashes bytea, p_customers uuid[], p_resources uuid[], p_names text[], p_named int[], p_times timestamptz[], p_dimensions jsonb,
  OUT o_now bigint, OUT o_time bigint, OUT o_times bigint[], OUT o_is_new boolean[]
) LANGUAGE plpgsql AS $$
DECLARE
  v_events int := cardinality(p_customers);
  v_found int;
BEGIN
  o_now := floor(extract(epoch FROM clock_timestamp()) * 1000);
  IF o_now >= p_deadline OR EXISTS (
    SELECT FROM unnest(p_live) AS asked (id)
    CROSS JOIN LATERAL (SELECT FROM customer WHERE environment_id = p_environment AND id = asked.id AND archived_at IS NOT NULL LIMIT 1) AS archived
  ) THEN
    RETURN;
  END IF;
  o_time := environment_clock(p_environment);
  IF o_time > floor(extract(epoch FROM clock_timestamp()) * 1000) THEN
    -- A test clock stands still, and versions go on: what comes after a change of what the customer holds gets a time after it.
    SELECT array_agg(coalesce(occurred_at, to_timestamp(greatest(o_time, state.access_version) / 1000.0)) ORDER BY ord) INTO p_times
    FROM ROWS FROM (unnest(p_customers), unnest(p_times)) WITH ORDINALITY AS given (customer_id, occurred_at, ord)
    LEFT JOIN customer_state AS state ON state.environment_id = p_environment AND state.customer_id = given.customer_id;
    SELECT array_agg(round(extract(epoch FROM occurred_at) * 1000)::bigint ORDER BY ord) INTO o_times FROM unnest(p_times) WITH ORDINALITY AS given (occurred_at, ord);
  END IF;

  v_found := NULL;
  IF NOT p_may_repeat THEN
    BEGIN
      INSERT INTO ingestion_key (environment_id, hash, record_id, position)
      SELECT p_environment, substring(p_hashes FROM n * 32 + 1 FOR 32), p_batch, n FROM generate_series(0, v_events - 1) AS n;
      v_found := v_events;
    EXCEPTION WHEN unique_violation THEN
      -- Taken back; once more, with care.
    END;
  END IF;
  IF v_found IS NULL THEN
    INSERT INTO ingestion_key (environment_id, hash, record_id, position)
    SELECT p_environment, substring(p_hashes FROM n * 32 + 1 FOR 32), p_batch, n FROM generate_series(0, v_events - 1) AS n
    ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS v_found = ROW_COUNT;
  END IF;
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

  -- What a test clock stores ahead of its time is apart from the months.
  INSERT INTO raw_event (environment_id, batch_id, position, is_ahead, occurred_at, customer_id, resource_id, event_name, dimensions)
  SELECT p_environment, p_batch, ord - 1, coalesce(occurred_at > to_timestamp(o_now / 1000.0) + interval '1 day', false),
    coalesce(occurred_at, to_timestamp(o_time / 1000.0)), customer_id, resource_id, p_names[named + 1], dimensions
  FROM ROWS FROM (unnest(p_customers), unnest(p_resources), unnest(p_named), unnest(p_times), jsonb_array_elements(p_dimensions))
    WITH ORDINALITY AS given (customer_id, resource_id, named, occurred_at, dimensions, ord)
  WHERE o_is_new IS NULL OR o_is_new[ord];
  INSERT INTO pending_batch (environment_id, id) VALUES (p_environment, p_batch);
  -- The last look at the clock: who comes later and finds the identities free may say that they are not stored.
  IF floor(extract(epoch FROM clock_timestamp()) * 1000) >= p_deadline THEN
    RAISE EXCEPTION 'late' USING ERRCODE = 'TG001';
  END IF;
END $$;
