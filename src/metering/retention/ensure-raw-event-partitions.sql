-- Makes sure that each month touched by [from_time, to_time] has its partition. Safe to run at any time and twice at once. Events that have come before the
-- partition of their month (nobody has made any for months) are in the default one and move over, unless they are so many that everybody would wait for
-- that: then the month stays there. The new table is attached, which does not wait for those that write to the others.
CREATE OR REPLACE FUNCTION ensure_raw_event_partitions(from_time timestamptz, to_time timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  most_moved constant int := 100000;
  beside int;
  month timestamptz := date_trunc('month', from_time, 'UTC');
  next_month timestamptz;
  name text;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('raw_event_partitions'));
  WHILE month <= to_time LOOP
    name := 'raw_event_' || to_char(month AT TIME ZONE 'UTC', 'YYYYMM');
    next_month := date_trunc('month', month + interval '32 days', 'UTC');
    beside := 0;
    IF to_regclass(name) IS NULL AND to_regclass('raw_event_default') IS NOT NULL THEN
      SELECT count(*) INTO beside FROM (SELECT FROM raw_event_default WHERE occurred_at >= month AND occurred_at < next_month LIMIT most_moved + 1) AS found;
    END IF;
    IF to_regclass(name) IS NULL AND beside <= most_moved THEN
      EXECUTE format('CREATE TABLE %I (LIKE raw_event INCLUDING ALL)', name);
      IF to_regclass('raw_event_default') IS NOT NULL THEN
        LOCK TABLE raw_event_default IN ACCESS EXCLUSIVE MODE;
        EXECUTE format('WITH moved AS (DELETE FROM raw_event_default WHERE occurred_at >= %L AND occurred_at < %L RETURNING *) INSERT INTO %I SELECT * FROM moved', month, next_month, name);
      END IF;
      EXECUTE format('ALTER TABLE raw_event_by_month ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', name, month, next_month);
    END IF;
    month := next_month;
  END LOOP;
END $$;
