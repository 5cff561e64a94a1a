/** Raw SQL that moves counters, with their members, the versions of their customers and the messages about them. */
import type { EpochMs } from '../kernel/clock.js'
import { type Decimal, fromText } from '../kernel/decimal.js'
import { type Connection, type CounterPeriod, endTime, startTime, toTime } from './counter-repository.js'
import type { MeterVersion } from './meter.js'

/** What is done to a counter. */
export type CounterHow =
  /** To the counter that is there. */
  | 'add'
  | 'max'
  | 'min'
  | 'avg'
  | 'unique'
  /** Whatever is there is replaced, its members too. */
  | 'replace'
  /** It is only answered. */
  | 'read'

export interface CounterWrite extends CounterPeriod {
  how: CounterHow
  /** For 'unique' and for a replacement of such a counter it is ignored: the members tell. */
  value: Decimal
  /** Raw events that bring it. */
  events: number
  version: EpochMs
  /** For 'replace': what counts the events; null for usage that is reported. */
  meter: Pick<MeterVersion, 'version' | 'aggregation'> | null
}

/** A member of a UNIQUE counter (an index). Those of one counter are distinct. */
export interface MemberWrite {
  counter: number
  hash: Buffer
  firstAt: EpochMs
}

/** A usage message for the outbox, with the usage that counter `counter` (an index) has after the write. Ids are the caller's. */
export interface UsageMessage {
  id: string
  counter: number
  customerRefId: string
  resourceRefId: string | null
  featureRefId: string
}

export interface VersionWrite {
  customerId: string
  version: EpochMs
  /** The change is more than usage. */
  isAccess: boolean
}

export interface CounterValue {
  usage: Decimal
  version: EpochMs
}

/**
 * Writes counters with their members, versions of customers and messages, in one statement but for the members of replaced counters. Answers the
 * counters by index; one that was to be there and is not is absent.
 */
export async function writeCounters(
  db: Connection,
  environmentId: string,
  {
    counters,
    members,
    messages,
    versions,
  }: { counters: CounterWrite[]; members: MemberWrite[]; messages: UsageMessage[]; versions: VersionWrite[] },
): Promise<Map<number, CounterValue>> {
  const replaced = counters.filter(({ how, meter }) => how === 'replace' && meter?.aggregation === 'UNIQUE')
  if (replaced.length > 0) await dropMembers(db, environmentId, replaced)
  const { rows } = await db.query<{ ord: number; usage: string; version: string }>({
    name: 'metering_write_counters',
    text: `
      WITH given AS MATERIALIZED (
        SELECT * FROM unnest($2::uuid[], $3::timestamptz[], $4::timestamptz[], $5::text[], $6::numeric[], $7::bigint[], $16::int[], $17::int[], $18::text[])
          WITH ORDINALITY AS given (series_id, period_start, period_end, how, value, version, events, meter_version, aggregation, ord)
      ), new_members AS (
        INSERT INTO usage_member (environment_id, series_id, period_start, member, first_at)
        SELECT $1::uuid, given.series_id, given.period_start, named.member, named.first_at
        FROM unnest($19::int[], $20::bytea[], $21::timestamptz[]) AS named (ord, member, first_at) JOIN given USING (ord)
        ON CONFLICT DO NOTHING RETURNING series_id, period_start
      ), joined AS (
        SELECT series_id, period_start, count(*) AS members FROM new_members GROUP BY series_id, period_start
      ), changes AS (
        SELECT given.*, coalesce(joined.members, 0) AS members FROM given LEFT JOIN joined USING (series_id, period_start)
      ), added AS (
        UPDATE usage_counter AS counter SET
          usage = CASE given.how
            WHEN 'add' THEN counter.usage + given.value
            WHEN 'max' THEN CASE WHEN counter.events = 0 THEN given.value ELSE greatest(counter.usage, given.value) END
            WHEN 'min' THEN CASE WHEN counter.events = 0 THEN given.value ELSE least(counter.usage, given.value) END
            WHEN 'avg' THEN ${mean('coalesce(counter.total, 0) + given.value', 'counter.events + given.events')}
            ELSE counter.usage + given.members END,
          total = CASE given.how WHEN 'avg' THEN coalesce(counter.total, 0) + given.value ELSE counter.total END,
          events = counter.events + given.events,
          version = given.version
        FROM changes AS given
        WHERE given.how NOT IN ('read', 'replace')
          AND counter.environment_id = $1::uuid AND counter.series_id = given.series_id AND counter.period_start = given.period_start
        RETURNING given.ord, counter.usage, counter.version
      ), replaced AS (
        INSERT INTO usage_counter AS counter (environment_id, series_id, period_start, period_end, usage, version, events, total, meter_version)
        SELECT $1::uuid, series_id, period_start, period_end,
          CASE aggregation
            WHEN 'UNIQUE' THEN members
            WHEN 'AVG' THEN CASE WHEN events = 0 THEN 0 ELSE ${mean('value', 'events')} END
            ELSE value END,
          version, events, CASE aggregation WHEN 'AVG' THEN value END, meter_version
        FROM changes WHERE how = 'replace'
        ON CONFLICT (environment_id, series_id, period_start)
          DO UPDATE SET period_end = excluded.period_end, usage = excluded.usage, version = excluded.version,
            events = excluded.events, total = excluded.total, meter_version = excluded.meter_version
        RETURNING counter.series_id, counter.period_start, counter.usage, counter.version
      ), answered AS (
        SELECT ord, usage, version FROM added
        UNION ALL
        SELECT given.ord, replaced.usage, replaced.version FROM replaced JOIN given USING (series_id, period_start)
        UNION ALL
        SELECT given.ord, counter.usage, counter.version
        FROM given CROSS JOIN LATERAL (
          SELECT usage, version FROM usage_counter
          WHERE environment_id = $1::uuid AND series_id = given.series_id AND period_start = given.period_start LIMIT 1
        ) AS counter
        WHERE given.how = 'read'
      ), versioned AS (
        UPDATE customer_state AS state
        SET version = given.version, access_version = CASE WHEN given.is_access THEN given.version ELSE state.access_version END
        FROM unnest($8::uuid[], $9::bigint[], $10::boolean[]) AS given (customer_id, version, is_access)
        WHERE state.environment_id = $1::uuid AND state.customer_id = given.customer_id
      ), told AS (
        INSERT INTO outbox_message (environment_id, id, kind, customer_id, resource_id, version, payload)
        SELECT $1::uuid, message.id, 'usage', message.customer_id, message.resource_id, answered.version, jsonb_build_object(
          'featureId', message.feature_id,
          'usage', jsonb_build_object(
            'currentUsage', trim_scale(answered.usage)::text,
            'periodStart', CASE WHEN isfinite(given.period_start) THEN floor(extract(epoch FROM given.period_start) * 1000) END,
            'periodEnd', CASE WHEN isfinite(given.period_end) THEN floor(extract(epoch FROM given.period_end) * 1000) END,
            'updatedAt', answered.version))
        FROM unnest($11::uuid[], $12::int[], $13::text[], $14::text[], $15::text[]) AS message (id, ord, customer_id, resource_id, feature_id)
        JOIN answered USING (ord)
        JOIN given USING (ord)
      )
      SELECT ord::int AS ord, usage::text AS usage, version FROM answered`,
    values: [
      environmentId,
      counters.map((c) => c.seriesId),
      counters.map((c) => startTime(c.start)),
      counters.map((c) => endTime(c.end)),
      counters.map((c) => c.how),
      counters.map((c) => c.value),
      counters.map((c) => c.version),
      versions.map((v) => v.customerId),
      versions.map((v) => v.version),
      versions.map((v) => v.isAccess),
      messages.map((m) => m.id),
      messages.map((m) => m.counter + 1),
      messages.map((m) => m.customerRefId),
      messages.map((m) => m.resourceRefId),
      messages.map((m) => m.featureRefId),
      counters.map((c) => c.events),
      counters.map((c) => c.meter?.version ?? null),
      counters.map((c) => c.meter?.aggregation ?? null),
      members.map((m) => m.counter + 1),
      members.map((m) => m.hash),
      members.map((m) => toTime(m.firstAt)),
    ],
  })
  return new Map(rows.map(({ ord, usage, version }) => [ord - 1, { usage: fromText(usage), version: Number(version) }]))
}

/** To 9 decimals, half away from zero. The scale is for the division, whose result is else as short as its operands are long. */
function mean(total: string, events: string): string {
  return `round((${total})::numeric(60, 20) / (${events}), 9)`
}

async function dropMembers(db: Connection, environmentId: string, periods: CounterPeriod[]): Promise<void> {
  await db.query({
    name: 'metering_drop_members',
    text: `
      DELETE FROM usage_member USING unnest($2::uuid[], $3::timestamptz[]) AS given (series_id, period_start)
      WHERE environment_id = $1::uuid AND usage_member.series_id = given.series_id AND usage_member.period_start = given.period_start`,
    values: [environmentId, periods.map((p) => p.seriesId), periods.map((p) => startTime(p.start))],
  })
}
