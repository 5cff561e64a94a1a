-- Drops the oldest month of raw events if all of it is before `before`; answers until when events were dropped, null when there is nothing to drop. What
-- waits to be counted is never dropped. One month at a time, so that its locks are held for a moment only.
CREATE OR REPLACE FUNCTION drop_raw_event_month(before timestamptz) RETURNS timestamptz LANGUAGE plpgsql AS $$
DECLARE
  name text;
  month_end timestamptz;
  is_waiting boolean;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('raw_event_partitions'));
  SELECT child.relname, (to_date(right(child.relname, 6), 'YYYYMM') + interval '1 month') AT TIME ZONE 'UTC' INTO name, month_end
  FROM pg_inherits JOIN pg_class AS child ON child.oid = inhrelid
  WHERE inhparent = 'raw_event_by_month'::regclass AND child.relname ~ '^raw_event_\d{6}$' ORDER BY child.relname LIMIT 1;
  IF name IS NULL OR month_end > before THEN
    RETURN NULL;
  END IF;
  EXECUTE format('SELECT EXISTS (SELECT FROM pending_batch AS batch JOIN %I AS event ON event.environment_id = batch.environment_id AND event.batch_id = batch.id)', name) INTO is_waiting;
  IF is_waiting THEN
    RETURN NULL;
  END IF;
  EXECUTE format('DROP TABLE %I', name);
  PERFORM keep_events_since(month_end);
  RETURN month_end;
END $$;
