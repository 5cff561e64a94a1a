-- Time in an environment: the database's, unless the environment's test clock is ahead of it. Epoch milliseconds. In a language whose plans are kept: as a
-- function of SQL it was planned again in every transaction, which took a quarter of a millisecond.
CREATE OR REPLACE FUNCTION environment_clock(environment uuid) RETURNS bigint LANGUAGE plpgsql VOLATILE PARALLEL SAFE AS $$
BEGIN
  RETURN greatest(
    floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint,
    (SELECT floor(extract(epoch FROM test_clock) * 1000)::bigint FROM environment WHERE id = $1)
  );
END $$;
