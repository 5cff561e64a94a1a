-- Takes the state rows of customers in the order in which they are given, which is that of their ids and everybody's, and gives those that change their
-- next version. Customers are looked up one by one and then written where they were found, and only those that change: a join that was planned for a table
-- of one customer goes through all that are given for each customer there is. Where there are alerts, those that change are to be evaluated
-- (src/changes/evaluations.ts).
--
-- p_customers                            each once
-- p_is_changed                           null: all of them change
-- o_ords, o_versions, o_access_versions  of the customers that have a state, in their order; null: none has one
CREATE OR REPLACE FUNCTION advance_customers(
  p_environment uuid, p_customers uuid[], p_is_changed boolean[],
  OUT o_ords int[], OUT o_versions bigint[], OUT o_access_versions bigint[]
) LANGUAGE plpgsql AS $$
DECLARE
  v_time bigint;
  v_positions tid[];
  v_is_changed boolean[];
  v_is_watched boolean;
BEGIN
  WITH held AS MATERIALIZED (
    SELECT asked.ord, coalesce(asked.is_changed, true) AS is_changed, state.position, state.version, state.access_version
    FROM unnest(p_customers, p_is_changed) WITH ORDINALITY AS asked (id, is_changed, ord)
    CROSS JOIN LATERAL (
      SELECT s.ctid AS position, s.version, s.access_version FROM customer_state AS s
      WHERE s.environment_id = p_environment AND s.customer_id = asked.id FOR UPDATE
    ) AS state
  )
  SELECT array_agg(ord ORDER BY ord), array_agg(access_version ORDER BY ord),
    array_agg(position ORDER BY ord), array_agg(held.version ORDER BY ord), array_agg(is_changed ORDER BY ord)
  INTO o_ords, o_access_versions, v_positions, o_versions, v_is_changed FROM held;
  -- After the rows are held: whoever held them before has a version of an earlier time.
  v_time := environment_clock(p_environment);
  WITH advanced AS (
    UPDATE customer_state AS state SET version = greatest(v_time, state.version + 1)
    FROM unnest(v_positions, v_is_changed) WITH ORDINALITY AS given (position, is_changed, ord)
    WHERE state.ctid = given.position AND given.is_changed
    RETURNING given.ord, state.version
  )
  SELECT array_agg(coalesce(advanced.version, held.version) ORDER BY ord) INTO o_versions
  FROM unnest(o_versions) WITH ORDINALITY AS held (version, ord) LEFT JOIN advanced USING (ord);

  SELECT watches_usage INTO v_is_watched FROM environment WHERE id = p_environment;
  IF v_is_watched THEN
    INSERT INTO customer_evaluation AS evaluation (environment_id, customer_id, version)
    SELECT p_environment, p_customers[held.ord], held.version
    FROM unnest(o_ords, o_versions, v_is_changed) AS held (ord, version, is_changed) WHERE held.is_changed
    ON CONFLICT (environment_id, customer_id) DO UPDATE SET version = greatest(excluded.version, evaluation.version + 1);
  END IF;
END $$;
