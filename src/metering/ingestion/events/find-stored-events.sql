-- Which events of calls that came too late are stored all the same; called by findStoredForSure. The identities are claimed and given back: who is storing one
-- of them is waited for, and who comes to it later finds its deadline passed, which storing looks at last (see fast/store-events.sql). So what is not stored
-- by now never will be by those calls.
--
-- p_deadline  of the latest of the calls; it waits for it, where a clock elsewhere was ahead
-- p_hashes    identities of the events, 32 bytes each, each once, in ascending order
--
-- o_is_stored  of each event
CREATE OR REPLACE FUNCTION find_stored_events(p_environment uuid, p_deadline bigint, p_hashes bytea, OUT o_is_stored boolean[]) LANGUAGE plpgsql AS $$
DECLARE
  v_claimed int[];
BEGIN
  PERFORM pg_sleep(greatest(0, p_deadline - floor(extract(epoch FROM clock_timestamp()) * 1000)) / 1000.0);
  BEGIN
    WITH claimed AS (
      INSERT INTO ingestion_key (environment_id, hash, record_id, position)
      SELECT p_environment, substring(p_hashes FROM n * 32 + 1 FOR 32), '00000000-0000-0000-0000-000000000000'::uuid, n
      FROM generate_series(0, length(p_hashes) / 32 - 1) AS n
      ON CONFLICT DO NOTHING RETURNING position
    )
    SELECT array_agg(position) INTO v_claimed FROM claimed;
    RAISE EXCEPTION 'given back' USING ERRCODE = 'TG002';
  EXCEPTION WHEN SQLSTATE 'TG002' THEN
    -- What is in a variable stays.
  END;
  SELECT array_agg(NOT coalesce(n = ANY(v_claimed), false) ORDER BY n) INTO o_is_stored FROM generate_series(0, length(p_hashes) / 32 - 1) AS n;
END $$;
