-- Writes events of an environment, in their order. A function, as its plan is kept with the connection: to plan the statement anew takes longer than to execute it.
--
-- p_events  a list of {id, ord, type, payload_version, customer_id, payload, traceparent}
--
-- The index of a customer's event is taken under its state row, so that it grows in the order of commits.
CREATE OR REPLACE FUNCTION record_events(p_environment uuid, p_events jsonb) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  WITH given AS MATERIALIZED (
    SELECT * FROM jsonb_to_recordset(p_events)
      AS given (id uuid, ord int, type text, payload_version int, customer_id uuid, payload jsonb, traceparent text)
  ), numbered AS (
    UPDATE customer_state AS state SET told_events = state.told_events + counted.events
    FROM (SELECT customer_id, count(*) AS events FROM given WHERE customer_id IS NOT NULL GROUP BY customer_id) AS counted
    WHERE state.environment_id = p_environment AND state.customer_id = counted.customer_id
    RETURNING state.customer_id, state.version, state.told_events - counted.events AS told_before
  )
  INSERT INTO notification_event (environment_id, id, type, payload_version, customer_id, customer_version, customer_index, payload, occurred_at, traceparent)
  SELECT p_environment, given.id, given.type, given.payload_version, given.customer_id, numbered.version,
    CASE WHEN given.customer_id IS NOT NULL THEN numbered.told_before + row_number() OVER (PARTITION BY given.customer_id ORDER BY given.ord) END,
    given.payload, to_timestamp(environment_clock(p_environment) / 1000.0), given.traceparent
  FROM given LEFT JOIN numbered USING (customer_id) ORDER BY given.ord;
END $$;
