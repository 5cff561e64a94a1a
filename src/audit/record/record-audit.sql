-- Writes what a transaction has changed, as recordAudit has gathered it. The time in an id is that of its entry, by the clock of the database, with the part of the
-- millisecond that has passed in the 12 bits that UUIDv7 has for it: an id says where its entry stands, also beside others of the millisecond, and in which month.
CREATE OR REPLACE FUNCTION record_audit(entries jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO audit_entry (environment_id, id, at, trace_id, actor_kind, actor_id, actor_name, address, operation, entity_kind, entity_id, before, after)
  SELECT environment_id, (lpad(to_hex(us / 1000), 12, '0') || '7' || lpad(to_hex(us % 1000 * 4096 / 1000), 3, '0') || substr(given.id, 17))::uuid,
    to_timestamp(us / 1000 / 1000.0),
    trace_id, actor_kind, actor_id, actor_name, address, operation, entity_kind, entity_id, given.before, given.after
  FROM CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint) AS us, jsonb_to_recordset(entries) AS given (environment_id uuid, id text, trace_id text,
    actor_kind audit_actor_kind, actor_id text, actor_name text, address text, operation text, entity_kind text, entity_id text, before jsonb, after jsonb);
END $$;
