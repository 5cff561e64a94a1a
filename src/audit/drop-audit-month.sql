-- Drops the oldest month of the audit log if all of it is before `before`; answers its end, null when there is nothing to drop. The only way in which entries
-- go. One month at a time, so that its locks are held for a moment only.
CREATE OR REPLACE FUNCTION drop_audit_month(before timestamptz) RETURNS timestamptz LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  name text;
  month_end timestamptz;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('audit_partitions'));
  SELECT child.relname, (to_date(right(child.relname, 6), 'YYYYMM') + interval '1 month') AT TIME ZONE 'UTC' INTO name, month_end
  FROM pg_inherits JOIN pg_class AS child ON child.oid = inhrelid
  WHERE inhparent = 'audit_entry'::regclass AND child.relname ~ '^audit_entry_\d{6}$' ORDER BY child.relname LIMIT 1;
  IF name IS NULL OR month_end > before THEN
    RETURN NULL;
  END IF;
  EXECUTE format('DROP TABLE %I', name);
  RETURN month_end;
END $$;
