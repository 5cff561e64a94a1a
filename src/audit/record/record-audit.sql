-- Writes what a transaction has changed, as recordAudit has gathered it. The time in an id is that of its entry, by the clock of the database: an id says where
-- its entry stands, and in which month.
CREATE OR REPLACE FUNCTION record_audit(entries jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO audit_entry (environment_id, id, at, trace_id, actor_kind, actor_id, actor_name, address, operation, entity_kind, entity_id, before, after)
  SELECT environment_id, (lpad(to_hex((extract(epoch FROM now_at) * 1000)::bigint), 12, '0') || substr(given.id, 13))::uuid, now_at,
    trace_id, actor_kind, actor_id, actor_name, address, operation, entity_kind, entity_id, given.before, given.after
  FROM date_trunc('milliseconds', clock_timestamp()) AS now_at, jsonb_to_recordset(entries) AS given (environment_id uuid, id text, trace_id text,
    actor_kind audit_actor_kind, actor_id text, actor_name text, address text, operation text, entity_kind text, entity_id text, before jsonb, after jsonb);
END $$;
