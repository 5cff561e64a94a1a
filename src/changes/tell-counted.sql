-- Writes the message that tells what was counted together, for database functions that count; the same as recordCounted does for a list of usages.
--
-- p_version  the greatest of the customers' versions
-- p_changes  how many usages it tells
-- p_told     see src/changes/wire/told-reports.ts
CREATE OR REPLACE FUNCTION tell_counted(p_environment uuid, p_message uuid, p_version bigint, p_changes int, p_told text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO outbox_message (environment_id, id, kind, version, changes, told)
  VALUES (p_environment, p_message, 'usage', p_version, p_changes, p_told);
END $$;
