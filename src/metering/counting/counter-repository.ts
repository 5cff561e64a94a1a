/** Raw SQL of counters and their members. Who writes them, or reads them to add to them, holds the customers' locks. */
import type { EpochMs } from '../../kernel/clock.js'
import { type Decimal, fromText } from '../../kernel/decimal.js'
import { endTime, plainArray, type Queryable, startTime, toTime } from '../../platform/sql.js'
import type { MeterVersion } from '../model/meter.js'
import { reachedDays } from '../model/windows.js'

export interface CounterPeriod {
  seriesId: string
  /** Null: usage that is never reset. */
  start: EpochMs | null
  end: EpochMs | null
}

/**
 * The periods whose counter is there, by index, with the version of the meter that counts it (null: usage that is reported). One that ends at another
 * time is not there: it was cut, or is to be.
 */
export async function findCounters(db: Queryable, environmentId: string, periods: CounterPeriod[]): Promise<Map<number, number | null>> {
  const { rows } = await db.query<{ ord: number; meter_version: number | null }>({
    name: 'metering_find_counters',
    text: `
      SELECT asked.ord::int AS ord, counter.meter_version
      FROM unnest($2::uuid[], $3::timestamptz[], $4::timestamptz[]) WITH ORDINALITY AS asked (series_id, period_start, period_end, ord)
      CROSS JOIN LATERAL (
        SELECT meter_version FROM usage_counter
        WHERE environment_id = $1::uuid AND series_id = asked.series_id AND period_start = asked.period_start AND period_end = asked.period_end LIMIT 1
      ) AS counter`,
    values: [environmentId, periods.map((p) => p.seriesId), periods.map((p) => startTime(p.start)), periods.map((p) => endTime(p.end))],
  })
  return new Map(rows.map(({ ord, meter_version }) => [ord - 1, meter_version]))
}

/**
 * Deletes the counters of series that nothing adds to any more, as far as late usage could still have changed them. A counter that is there is
 * therefore complete, and one that is missing is computed when its series is read again.
 */
export async function dropCounters(db: Queryable, environmentId: string, seriesIds: string[]): Promise<void> {
  await db.query({
    name: 'metering_drop_counters',
    text: `
      WITH dropped AS (
        DELETE FROM usage_counter
        WHERE environment_id = $1::uuid AND series_id = ANY($2::uuid[]) AND period_end > clock_timestamp() - make_interval(days => $3::int)
        RETURNING series_id, period_start
      )
      DELETE FROM usage_member AS member USING dropped
      WHERE member.environment_id = $1::uuid AND member.series_id = dropped.series_id AND member.period_start = dropped.period_start`,
    values: [environmentId, seriesIds, reachedDays],
  })
}

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

export interface CounterValue {
  usage: Decimal
  version: EpochMs
}

/**
 * Writes counters with their members, in one statement but for the members of replaced counters. Counters are looked up one by one and written where they
 * were found, which nobody changes under the lock: a join planned while there were few of them goes through all of the environment's for each. Answers the
 * counters by index; one that was to be there and is not is absent.
 */
export async function writeCounters(
  db: Queryable,
  environmentId: string,
  { counters, members }: { counters: CounterWrite[]; members: MemberWrite[] },
): Promise<Map<number, CounterValue>> {
  const replaced = counters.filter(({ how, meter }) => how === 'replace' && meter?.aggregation === 'UNIQUE')
  if (replaced.length > 0) await dropMembers(db, environmentId, replaced)
  const { rows } = await db.query<{ ords: string | null; usages: string; versions: string }>({
    name: 'metering_write_counters',
    text: `
      WITH given AS MATERIALIZED (
        SELECT * FROM unnest($2::uuid[], $3::timestamptz[], $4::timestamptz[], $5::text[], $6::numeric[], $7::bigint[], $8::int[], $9::int[], $10::text[])
          WITH ORDINALITY AS given (series_id, period_start, period_end, how, value, version, events, meter_version, aggregation, ord)
      ), new_members AS (
        INSERT INTO usage_member (environment_id, series_id, period_start, member, first_at)
        SELECT $1::uuid, given.series_id, given.period_start, named.member, named.first_at
        FROM unnest($11::int[], $12::bytea[], $13::timestamptz[]) AS named (ord, member, first_at) JOIN given USING (ord)
        ON CONFLICT DO NOTHING RETURNING series_id, period_start
      ), joined AS (
        SELECT series_id, period_start, count(*) AS members FROM new_members GROUP BY series_id, period_start
      ), changes AS (
        SELECT given.*, coalesce(joined.members, 0) AS members FROM given LEFT JOIN joined USING (series_id, period_start)
      ), found AS MATERIALIZED (
        SELECT changes.*, counter.position FROM changes CROSS JOIN LATERAL (
          SELECT ctid AS position FROM usage_counter
          WHERE environment_id = $1::uuid AND series_id = changes.series_id AND period_start = changes.period_start LIMIT 1
        ) AS counter
        WHERE changes.how NOT IN ('read', 'replace')
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
        FROM found AS given WHERE counter.ctid = given.position
        RETURNING given.ord, counter.usage, counter.version
      ), replaced AS (
        INSERT INTO usage_counter AS counter (environment_id, series_id, period_start, period_end, usage, version, events, total, meter_version)
        SELECT $1::uuid, series_id, period_start, period_end,
          CASE aggregation
            WHEN 'UNIQUE' THEN members
            WHEN 'AVG' THEN CASE WHEN events = 0 THEN 0 ELSE ${mean('value', 'events')} END
            ELSE value END,
          version, CASE aggregation WHEN 'UNIQUE' THEN 0 ELSE events END, CASE aggregation WHEN 'AVG' THEN value END, meter_version
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
      )
      SELECT string_agg(ord::text, ',') AS ords, string_agg(trim_scale(usage)::text, ',') AS usages, string_agg(version::text, ',') AS versions FROM answered`,
    values: [
      environmentId,
      plainArray(counters.map((c) => c.seriesId)),
      plainArray(counters.map((c) => startTime(c.start))),
      plainArray(counters.map((c) => endTime(c.end))),
      plainArray(counters.map((c) => c.how)),
      plainArray(counters.map((c) => c.value)),
      plainArray(counters.map((c) => c.version)),
      plainArray(counters.map((c) => c.events)),
      plainArray(counters.map((c) => c.meter?.version ?? null)),
      plainArray(counters.map((c) => c.meter?.aggregation ?? null)),
      plainArray(members.map((m) => m.counter + 1)),
      members.map((m) => m.hash),
      plainArray(members.map((m) => toTime(m.firstAt))),
    ],
  })
  const { ords, usages, versions } = rows[0]!
  if (ords === null) return new Map()
  // One text for many rows: the driver takes several times as long for the rows.
  const [usageOf, versionOf] = [usages.split(','), versions.split(',')]
  return new Map(ords.split(',').map((ord, i) => [Number(ord) - 1, { usage: fromText(usageOf[i]!), version: Number(versionOf[i]) }]))
}

/** To 9 decimals, half away from zero. The scale is for the division, whose result is else as short as its operands are long. */
function mean(total: string, events: string): string {
  return `round((${total})::numeric(60, 20) / (${events}), 9)`
}

async function dropMembers(db: Queryable, environmentId: string, periods: CounterPeriod[]): Promise<void> {
  await db.query({
    name: 'metering_drop_members',
    text: `
      DELETE FROM usage_member USING unnest($2::uuid[], $3::timestamptz[]) AS given (series_id, period_start)
      WHERE environment_id = $1::uuid AND usage_member.series_id = given.series_id AND usage_member.period_start = given.period_start`,
    values: [environmentId, periods.map((p) => p.seriesId), periods.map((p) => startTime(p.start))],
  })
}
