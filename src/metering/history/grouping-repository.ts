/**
 * Raw SQL of groupings: what each quarter of an hour had of each group, kept beside the row of usage_rollup that it goes with.
 *
 * outdated  a bucket whose row of usage_rollup is another one than when its groups were made. Every count of something writes that row, so its xmin tells.
 */
import type { EpochMs } from '../../kernel/clock.js'
import { newId } from '../../kernel/id.js'
import { endTime, type Queryable, startTime, toTime } from '../../platform/sql.js'
import { ownPart } from '../model/bucket.js'
import type { GroupBucket, GroupShare } from '../model/groups.js'

export interface Grouping {
  id: string
  /** Its buckets can be told from usage_rollup. */
  isReady: boolean
}

/** The grouping of the customer's feature by these dimensions (sorted), made when it is asked for first. */
export async function findGrouping(
  db: Queryable,
  environmentId: string,
  { customerId, featureId, dimensions }: { customerId: string; featureId: string; dimensions: readonly string[] },
): Promise<Grouping> {
  const values = [environmentId, customerId, featureId, dimensions]
  const text = `
    SELECT id, ready_at IS NOT NULL AS is_ready FROM usage_grouping
    WHERE environment_id = $1::uuid AND customer_id = $2::uuid AND feature_id = $3::uuid AND dimensions = $4::text[]`
  const find = async () => (await db.query<{ id: string; is_ready: boolean }>({ text, values })).rows[0]
  let row = await find()
  if (!row) {
    await db.query({
      text: `
        INSERT INTO usage_grouping (environment_id, customer_id, feature_id, dimensions, id)
        VALUES ($1::uuid, $2::uuid, $3::uuid, $4::text[], $5::uuid) ON CONFLICT DO NOTHING`,
      values: [...values, newId()],
    })
    row = (await find())!
  }
  return { id: row.id, isReady: row.is_ready }
}

export async function markReady(db: Queryable, environmentId: string, groupingId: string): Promise<void> {
  await db.query({
    text: 'UPDATE usage_grouping SET ready_at = now() WHERE environment_id = $1::uuid AND id = $2::uuid',
    values: [environmentId, groupingId],
  })
}

/** Buckets of one customer's feature. */
export interface BucketRange {
  customerId: string
  featureId: string
  /** Null: the customer with all its resources. */
  resourceId: string | null
  from: EpochMs | null
  to: EpochMs
}

export interface OutdatedBucket {
  part: string
  bucket: EpochMs
  /** See `usage_group_rollup.source`. */
  source: string
  /** Counted events that it has. */
  events: number
}

/** Forgets what is kept of buckets that have no usage any more, and answers those whose groups are to be made, the oldest first. */
export async function findOutdated(
  db: Queryable,
  environmentId: string,
  groupingId: string,
  { customerId, featureId, resourceId, from, to }: BucketRange,
  limit: number,
): Promise<OutdatedBucket[]> {
  const { rows } = await db.query<{ part_id: string; bucket_start: Date; source: string; events: string }>({
    text: `
      WITH gone AS (
        DELETE FROM usage_group_rollup AS kept
        WHERE environment_id = $1::uuid AND grouping_id = $2::uuid AND ($5::uuid IS NULL OR part_id = $5::uuid)
          AND bucket_start >= $6::timestamptz AND bucket_start < $7::timestamptz AND NOT EXISTS (
            SELECT FROM usage_rollup WHERE environment_id = $1::uuid AND customer_id = $3::uuid AND feature_id = $4::uuid
              AND part_id = kept.part_id AND bucket_start = kept.bucket_start)
      )
      SELECT rollup.part_id, rollup.bucket_start, rollup.xmin::text AS source, rollup.events
      FROM usage_rollup AS rollup LEFT JOIN usage_group_rollup AS kept
        ON kept.environment_id = $1::uuid AND kept.grouping_id = $2::uuid AND kept.part_id = rollup.part_id AND kept.bucket_start = rollup.bucket_start
      WHERE rollup.environment_id = $1::uuid AND rollup.customer_id = $3::uuid AND rollup.feature_id = $4::uuid
        AND ($5::uuid IS NULL OR rollup.part_id = $5::uuid) AND rollup.bucket_start >= $6::timestamptz AND rollup.bucket_start < $7::timestamptz
        AND kept.source IS DISTINCT FROM rollup.xmin::text
      ORDER BY rollup.bucket_start, rollup.part_id LIMIT $8::int`,
    values: [environmentId, groupingId, customerId, featureId, resourceId, startTime(from), toTime(to), limit],
  })
  return rows.map(({ part_id, bucket_start, source, events }) => ({
    part: part_id,
    bucket: bucket_start.getTime(),
    source,
    events: Number(events),
  }))
}

/** Keeps what the groups have in the buckets. One that is outdated by then is found so by the next reader. */
export async function keepGroups(
  db: Queryable,
  environmentId: string,
  groupingId: string,
  buckets: (GroupBucket & { source: string })[],
): Promise<void> {
  await db.query({
    text: `
      INSERT INTO usage_group_rollup (environment_id, grouping_id, part_id, bucket_start, source, is_level, groups)
      SELECT $1::uuid, $2::uuid, * FROM unnest($3::uuid[], $4::timestamptz[], $5::text[], $6::boolean[], $7::jsonb[])
      ON CONFLICT (environment_id, grouping_id, part_id, bucket_start)
        DO UPDATE SET source = excluded.source, is_level = excluded.is_level, groups = excluded.groups`,
    values: [
      environmentId,
      groupingId,
      buckets.map(({ part }) => part),
      buckets.map(({ bucket }) => toTime(bucket)),
      buckets.map(({ source }) => source),
      buckets.map(({ isLevel }) => isLevel),
      buckets.map(({ groups }) => JSON.stringify(groups)),
    ],
  })
}

const pageSize = 2_000

/** What is kept in the range, in the order of time. */
export async function readGroupBuckets(
  db: Queryable,
  environmentId: string,
  groupingId: string,
  { resourceId, from, to }: Pick<BucketRange, 'resourceId' | 'from' | 'to'>,
  visit: (bucket: GroupBucket) => void,
): Promise<void> {
  let after: [string, string] = [startTime(from), ownPart]
  for (let isFirst = true; ; isFirst = false) {
    const { rows } = await db.query<{ part_id: string; bucket_start: Date; is_level: boolean; groups: GroupShare[] }>({
      text: `
        SELECT part_id, bucket_start, is_level, groups FROM usage_group_rollup
        WHERE environment_id = $1::uuid AND grouping_id = $2::uuid AND ($3::uuid IS NULL OR part_id = $3::uuid)
          AND (bucket_start, part_id) ${isFirst ? '>=' : '>'} ($4::timestamptz, $5::uuid) AND bucket_start < $6::timestamptz
        ORDER BY bucket_start, part_id LIMIT ${pageSize}`,
      values: [environmentId, groupingId, resourceId, ...after, toTime(to)],
    })
    for (const { part_id, bucket_start, is_level, groups } of rows)
      visit({ part: part_id, bucket: bucket_start.getTime(), isLevel: is_level, groups })
    const last = rows.at(-1)
    if (!last || rows.length < pageSize) return
    after = [last.bucket_start.toISOString(), last.part_id]
  }
}

/** Measurements of the buckets, in the order in which they count. */
export async function readMeasurements(
  db: Queryable,
  environmentId: string,
  { customerId, featureId }: { customerId: string; featureId: string },
  buckets: OutdatedBucket[],
  visit: (row: { bucket: number; dimensions: Record<string, string | number | boolean | null>; value: string; isSet: boolean }) => void,
): Promise<void> {
  const { rows } = await db.query<{
    ord: string
    dimensions: Record<string, string | number | boolean | null> | null
    value: string
    is_set: boolean
  }>({
    text: `
      SELECT asked.ord, measurement.dimensions, measurement.value::text AS value, measurement.behavior = 'SET' AS is_set
      FROM unnest($4::uuid[], $5::timestamptz[]) WITH ORDINALITY AS asked (part_id, bucket_start, ord)
      CROSS JOIN LATERAL (
        SELECT * FROM usage_measurement
        WHERE environment_id = $1::uuid AND customer_id = $2::uuid AND feature_id = $3::uuid AND coalesce(resource_id, '${ownPart}') = asked.part_id
          AND occurred_at >= asked.bucket_start AND occurred_at < asked.bucket_start + interval '15 minutes'
      ) AS measurement
      ORDER BY asked.ord, measurement.occurred_at, measurement.sequence`,
    values: [environmentId, customerId, featureId, buckets.map(({ part }) => part), buckets.map(({ bucket }) => toTime(bucket))],
  })
  for (const { ord, dimensions, value, is_set } of rows)
    visit({ bucket: Number(ord) - 1, dimensions: dimensions ?? {}, value, isSet: is_set })
}

/** The periods of the customer's counters that touch the range, with the version of the meter that counts them; the latest written first. */
export async function findCountedVersions(
  db: Queryable,
  environmentId: string,
  { customerId, featureId, from, to }: BucketRange,
): Promise<{ start: EpochMs; end: EpochMs; version: number }[]> {
  const { rows } = await db.query<{ start: string; end: string; version: number }>({
    text: `
      SELECT extract(epoch FROM counter.period_start) * 1000 AS start, extract(epoch FROM counter.period_end) * 1000 AS end, counter.meter_version AS version
      FROM usage_series AS series
      JOIN usage_counter AS counter ON counter.environment_id = series.environment_id AND counter.series_id = series.id
      WHERE series.environment_id = $1::uuid AND series.customer_id = $2::uuid AND series.feature_id = $3::uuid AND series.resource_id IS NULL
        AND counter.meter_version IS NOT NULL AND counter.period_end > $4::timestamptz AND counter.period_start < $5::timestamptz
      ORDER BY counter.version DESC`,
    values: [environmentId, customerId, featureId, startTime(from), endTime(to)],
  })
  return rows.map(({ start, end, version }) => ({ start: Number(start), end: Number(end), version }))
}
