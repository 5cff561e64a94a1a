-- Makes sure that the months until `to_time` have their partitions, from this one on. Safe to run at any time and twice at once. Entries that have come
-- before the partition of their month are in the default one and move over, which is why the guard of that one is lifted for a moment: nobody else gets in.
CREATE OR REPLACE FUNCTION ensure_audit_partitions(to_time timestamptz) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  month timestamptz := date_trunc('month', least(now(), (SELECT min(at) FROM audit_entry_default)), 'UTC');
  next_month timestamptz;
  name text;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('audit_partitions'));
  WHILE month <= to_time LOOP
    name := 'audit_entry_' || to_char(month AT TIME ZONE 'UTC', 'YYYYMM');
    next_month := date_trunc('month', month + interval '32 days', 'UTC');
    IF to_regclass(name) IS NULL THEN
      EXECUTE format('CREATE TABLE %I (LIKE audit_entry INCLUDING ALL)', name);
      LOCK TABLE audit_entry_default IN ACCESS EXCLUSIVE MODE;
      ALTER TABLE audit_entry_default DISABLE TRIGGER USER;
      EXECUTE format('WITH moved AS (DELETE FROM audit_entry_default WHERE at >= %L AND at < %L RETURNING *) INSERT INTO %I SELECT * FROM moved', month, next_month, name);
      ALTER TABLE audit_entry_default ENABLE TRIGGER USER;
      EXECUTE format('CREATE TRIGGER keep_all BEFORE TRUNCATE ON %I FOR EACH STATEMENT EXECUTE FUNCTION keep_audit_entries()', name);
      EXECUTE format('ALTER TABLE audit_entry ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', name, month, next_month);
    END IF;
    month := next_month;
  END LOOP;
END $$;
