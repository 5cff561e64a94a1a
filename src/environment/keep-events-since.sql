-- Notes in every environment that raw events before `until` have been dropped.
CREATE OR REPLACE FUNCTION keep_events_since(until timestamptz) RETURNS void LANGUAGE sql AS $$
  UPDATE environment SET events_kept_since = greatest(events_kept_since, until)
$$;
