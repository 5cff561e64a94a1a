-- Records attempts at an endpoint, each of another event, and what becomes of their deliveries; called by recordAttempts. A delivery that is gone meanwhile, with its
-- endpoint, is nothing; and who comes late with a failure (its process stood still, and another one took over) takes nothing back.
-- One after the other, each by its key: a join would be planned for how many deliveries an endpoint has on average, and one may have a hundred thousand. In the order of
-- their ids, so that two who record the same never wait for each other.
--
-- p_made  [{event, status, pauseMs, durationMs, statusCode, response, error}]; pauseMs: until the next attempt, null unless the status is PENDING
CREATE OR REPLACE FUNCTION record_attempts(p_environment uuid, p_endpoint uuid, p_made jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_made record;
  v_number int;
BEGIN
  FOR v_made IN
    SELECT * FROM jsonb_to_recordset(p_made)
      AS made (event uuid, status webhook_delivery_status, "pauseMs" float8, "durationMs" int, "statusCode" int, response text, error text)
    ORDER BY event
  LOOP
    UPDATE webhook_delivery AS delivery SET
      attempts = attempts + 1,
      tries = tries + 1,
      status = CASE WHEN delivery.status <> 'PENDING' AND v_made.status <> 'DELIVERED' THEN delivery.status ELSE v_made.status END,
      due_at = CASE WHEN v_made."pauseMs" IS NULL THEN due_at ELSE clock_timestamp() + make_interval(secs => v_made."pauseMs" / 1000) END,
      finished_at = CASE
        WHEN delivery.status <> 'PENDING' AND v_made.status <> 'DELIVERED' THEN finished_at
        WHEN v_made.status <> 'PENDING' THEN clock_timestamp()
      END
    WHERE environment_id = p_environment AND endpoint_id = p_endpoint AND event_id = v_made.event
    RETURNING attempts INTO v_number;
    CONTINUE WHEN NOT FOUND;
    INSERT INTO webhook_attempt (environment_id, endpoint_id, event_id, number, at, duration_ms, status_code, response, error)
    VALUES (
      p_environment, p_endpoint, v_made.event, v_number, clock_timestamp() - make_interval(secs => v_made."durationMs" / 1000.0),
      v_made."durationMs", v_made."statusCode", v_made.response, v_made.error
    );
  END LOOP;
END $$;
