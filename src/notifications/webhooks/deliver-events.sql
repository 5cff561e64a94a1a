-- An event waits for each endpoint that hears of its type, also for one that is paused or disabled: it may be resumed. A test is for its endpoint alone,
-- and of one that is disabled all others hear.
CREATE OR REPLACE FUNCTION deliver_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO webhook_delivery (environment_id, endpoint_id, event_id, customer_id)
  SELECT event.environment_id, endpoint.id, event.id, event.customer_id
  FROM added AS event JOIN webhook_endpoint AS endpoint ON endpoint.environment_id = event.environment_id
  WHERE CASE event.type
      WHEN 'webhook_endpoint.tested' THEN endpoint.id::text = event.payload ->> 'endpointId'
      WHEN 'webhook_endpoint.disabled' THEN endpoint.id::text <> event.payload ->> 'endpointId'
        AND (endpoint.event_types = '{}' OR event.type = ANY(endpoint.event_types))
      ELSE endpoint.event_types = '{}' OR event.type = ANY(endpoint.event_types)
    END
  ORDER BY event.customer_id, event.customer_index, event.id;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER deliver_events AFTER INSERT ON notification_event
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION deliver_events();
