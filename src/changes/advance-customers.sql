-- Takes the state rows of customers in the order in which they are given, which is that of their ids and everybody's, and gives those that change their
-- next version. Customers are looked up one by one and then written where they were found, and only those that change: a join that was planned for a table
-- of one customer goes through all that are given for each customer there is.
--
-- o_ords, o_versions, o_access_versions  of the customers that have a state, with commas between
CREATE OR REPLACE FUNCTION advance_customers(
  p_environment uuid, p_customers uuid[], p_is_changed boolean[],
  OUT o_ords text, OUT o_versions text, OUT o_access_versions text
) LANGUAGE plpgsql AS $$
DECLARE
  v_time bigint;
  v_places tid[];
  v_versions bigint[];
  v_is_changed boolean[];
BEGIN
  -- In the order of ids, which is everybody's order; the caller has sorted them.
  WITH held AS MATERIALIZED (
    SELECT asked.ord, asked.is_changed, state.place, state.version, state.access_version
    FROM unnest(p_customers, p_is_changed) WITH ORDINALITY AS asked (id, is_changed, ord)
    CROSS JOIN LATERAL (
      SELECT s.ctid AS place, s.version, s.access_version FROM customer_state AS s
      WHERE s.environment_id = p_environment AND s.customer_id = asked.id FOR UPDATE
    ) AS state
  )
  SELECT string_agg(ord::text, ',' ORDER BY ord), string_agg(access_version::text, ',' ORDER BY ord),
    array_agg(place ORDER BY ord), array_agg(held.version ORDER BY ord), array_agg(is_changed ORDER BY ord)
  INTO o_ords, o_access_versions, v_places, v_versions, v_is_changed FROM held;
  v_time := environment_clock(p_environment);
  SELECT array_agg(CASE WHEN is_changed THEN greatest(v_time, held.version + 1) ELSE held.version END ORDER BY ord) INTO v_versions
  FROM unnest(v_versions, v_is_changed) WITH ORDINALITY AS held (version, is_changed, ord);
  UPDATE customer_state AS state SET version = given.version
  FROM unnest(v_places, v_versions, v_is_changed) AS given (place, version, is_changed)
  WHERE state.ctid = given.place AND given.is_changed;
  o_versions := array_to_string(v_versions, ',');
END $$;
