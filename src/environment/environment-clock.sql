-- Time in an environment: the database's, unless the environment's test clock is ahead of it. Epoch milliseconds.
CREATE OR REPLACE FUNCTION environment_clock(environment uuid) RETURNS bigint LANGUAGE sql VOLATILE PARALLEL SAFE AS $$
  SELECT greatest(
    floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint,
    (SELECT floor(extract(epoch FROM test_clock) * 1000)::bigint FROM environment WHERE id = $1)
  )
$$;
