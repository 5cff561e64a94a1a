-- A published version never changes: only which one is the latest, and its retirement.
CREATE OR REPLACE FUNCTION keep_published_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.status = 'DRAFT' THEN
    RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
  END IF;
  IF TG_OP = 'UPDATE' AND NEW.status <> 'DRAFT'
    AND to_jsonb(NEW) - 'status' - 'is_latest' = to_jsonb(OLD) - 'status' - 'is_latest' THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'package version % is published and cannot be changed', OLD.id USING ERRCODE = 'integrity_constraint_violation';
END $$;

CREATE OR REPLACE TRIGGER keep_published BEFORE UPDATE OR DELETE ON package_version FOR EACH ROW EXECUTE FUNCTION keep_published_version();
