-- A new time zone takes effect where the usage period ends that was begun in the old one: so the old ones are remembered.
ALTER TABLE "customer" ADD COLUMN     "former_timezones" JSONB;
