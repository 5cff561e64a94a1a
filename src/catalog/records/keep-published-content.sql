-- What belongs to a published version never changes either. The argument of a trigger is the column that names the version.
CREATE OR REPLACE FUNCTION keep_published_content() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  row_before jsonb := CASE WHEN TG_OP <> 'INSERT' THEN to_jsonb(OLD) END;
  row_after jsonb := CASE WHEN TG_OP <> 'DELETE' THEN to_jsonb(NEW) END;
  row_any jsonb := coalesce(row_after, row_before);
BEGIN
  IF EXISTS (
    SELECT FROM package_version v
    WHERE v.environment_id = (row_any ->> 'environment_id')::uuid
      AND v.id IN ((row_before ->> TG_ARGV[0])::uuid, (row_after ->> TG_ARGV[0])::uuid)
      AND v.status <> 'DRAFT'
  ) THEN
    RAISE EXCEPTION '% of a published package version cannot be changed', TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
END $$;

CREATE OR REPLACE TRIGGER keep_published BEFORE INSERT OR UPDATE OR DELETE ON package_entitlement
  FOR EACH ROW EXECUTE FUNCTION keep_published_content('package_version_id');
CREATE OR REPLACE TRIGGER keep_published BEFORE INSERT OR UPDATE OR DELETE ON price
  FOR EACH ROW EXECUTE FUNCTION keep_published_content('package_version_id');
CREATE OR REPLACE TRIGGER keep_published BEFORE INSERT OR UPDATE OR DELETE ON plan_compatible_addon
  FOR EACH ROW EXECUTE FUNCTION keep_published_content('plan_version_id');
CREATE OR REPLACE TRIGGER keep_published BEFORE INSERT OR UPDATE OR DELETE ON addon_dependency
  FOR EACH ROW EXECUTE FUNCTION keep_published_content('addon_version_id');
