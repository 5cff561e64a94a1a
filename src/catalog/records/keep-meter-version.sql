-- A meter that changes leaves behind what it was: periods that have begun are counted to their end as they began.
CREATE OR REPLACE FUNCTION keep_meter_version() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  latest meter_version;
BEGIN
  SELECT * INTO latest FROM meter_version
  WHERE environment_id = NEW.environment_id AND feature_id = NEW.feature_id ORDER BY version DESC LIMIT 1;
  IF FOUND AND (latest.aggregation, latest.filters) = (NEW.aggregation, NEW.filters) AND latest.field IS NOT DISTINCT FROM NEW.field THEN
    RETURN NEW;
  END IF;
  INSERT INTO meter_version (environment_id, feature_id, version, aggregation, field, filters, valid_from)
  VALUES (NEW.environment_id, NEW.feature_id, coalesce(latest.version, 0) + 1, NEW.aggregation, NEW.field, NEW.filters, clock_timestamp());
  RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER keep_version AFTER INSERT OR UPDATE ON meter FOR EACH ROW EXECUTE FUNCTION keep_meter_version();
