-- Raw events that no usage period can need any more are dropped, month by month, and it is known since when they are kept.

-- AlterTable
ALTER TABLE "environment" ADD COLUMN     "events_kept_since" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "usage_recomputation" ADD COLUMN     "counters_left" INTEGER NOT NULL DEFAULT 0;

-- What follows is beyond Prisma's schema language.

-- As before, and now also for a month whose first events have come before its partition: they are in the default one (a test clock was moved far
-- ahead) and move over. The new table is attached, which does not wait for those that write to the others.
CREATE OR REPLACE FUNCTION ensure_raw_event_partitions(from_time timestamptz, to_time timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  month timestamptz := date_trunc('month', from_time, 'UTC');
  next_month timestamptz;
  name text;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('raw_event_partitions'));
  WHILE month <= to_time LOOP
    name := 'raw_event_' || to_char(month AT TIME ZONE 'UTC', 'YYYYMM');
    next_month := date_trunc('month', month + interval '32 days', 'UTC');
    IF to_regclass(name) IS NULL THEN
      EXECUTE format('CREATE TABLE %I (LIKE raw_event INCLUDING ALL)', name);
      IF to_regclass('raw_event_default') IS NOT NULL THEN
        LOCK TABLE raw_event_default IN ACCESS EXCLUSIVE MODE;
        EXECUTE format('WITH moved AS (DELETE FROM raw_event_default WHERE occurred_at >= %L AND occurred_at < %L RETURNING *) INSERT INTO %I SELECT * FROM moved', month, next_month, name);
      END IF;
      EXECUTE format('ALTER TABLE raw_event ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', name, month, next_month);
    END IF;
    month := next_month;
  END LOOP;
END $$;

-- Drops the oldest month of raw events if all of it is before `before`; answers until when events were dropped, null when there is nothing to drop. What
-- waits to be counted is never dropped. One month at a time, so that its locks are held for a moment only.
CREATE FUNCTION drop_raw_event_month(before timestamptz) RETURNS timestamptz LANGUAGE plpgsql AS $$
DECLARE
  name text;
  month_end timestamptz;
  is_waiting boolean;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('raw_event_partitions'));
  SELECT child.relname, (to_date(right(child.relname, 6), 'YYYYMM') + interval '1 month') AT TIME ZONE 'UTC' INTO name, month_end
  FROM pg_inherits JOIN pg_class AS child ON child.oid = inhrelid
  WHERE inhparent = 'raw_event'::regclass AND child.relname ~ '^raw_event_\d{6}$' ORDER BY child.relname LIMIT 1;
  IF name IS NULL OR month_end > before THEN
    RETURN NULL;
  END IF;
  EXECUTE format('SELECT EXISTS (SELECT FROM pending_batch AS batch JOIN %I AS event ON event.environment_id = batch.environment_id AND event.batch_id = batch.id)', name) INTO is_waiting;
  IF is_waiting THEN
    RETURN NULL;
  END IF;
  EXECUTE format('DROP TABLE %I', name);
  UPDATE environment SET events_kept_since = greatest(events_kept_since, month_end);
  RETURN month_end;
END $$;
