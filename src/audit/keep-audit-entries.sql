-- An entry stays as it was written. Entries go with their whole month only, by drop_audit_month.
CREATE OR REPLACE FUNCTION keep_audit_entries() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the audit log is only added to: % of % is refused', lower(TG_OP), TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation';
END $$;

CREATE OR REPLACE TRIGGER keep_entries BEFORE UPDATE OR DELETE ON audit_entry FOR EACH ROW EXECUTE FUNCTION keep_audit_entries();
CREATE OR REPLACE TRIGGER keep_all BEFORE TRUNCATE ON audit_entry FOR EACH STATEMENT EXECUTE FUNCTION keep_audit_entries();

-- Rows of a partition are guarded as those of the whole; being emptied is not handed down.
DO $$
DECLARE
  part regclass;
BEGIN
  FOR part IN SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = 'audit_entry'::regclass LOOP
    EXECUTE format('CREATE OR REPLACE TRIGGER keep_all BEFORE TRUNCATE ON %s FOR EACH STATEMENT EXECUTE FUNCTION keep_audit_entries()', part);
  END LOOP;
END $$;
