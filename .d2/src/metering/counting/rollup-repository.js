import { endTime, plainArray, startTime, toTime } from './counter-repository.js';
export const bucketMs = 15 * 60_000;
/** The customer's own usage. */
export const ownPart = '00000000-0000-0000-0000-000000000000';
export const bucketOf = (at) => Math.floor(at / bucketMs) * bucketMs;
/** Adds events to what is rolled up. */
export async function addToRollups(db, environmentId, changes) {
    const isSum = changes.every(({ aggregation }) => aggregation !== 'MAX' && aggregation !== 'MIN');
    await writeRollups(db, environmentId, changes, isSum ? 'sum' : 'any');
}
/** Has [from, to), on bucket boundaries, say what the changes say, and nothing else. */
export async function replaceRollups(db, environmentId, ranges, changes) {
    await db.query({
        name: 'metering_drop_rollups',
        text: `
      DELETE FROM usage_rollup USING unnest($2::uuid[], $3::uuid[], $4::timestamptz[], $5::timestamptz[]) AS given (customer_id, feature_id, from_time, to_time)
      WHERE environment_id = $1::uuid AND usage_rollup.customer_id = given.customer_id AND usage_rollup.feature_id = given.feature_id
        AND bucket_start >= given.from_time AND bucket_start < given.to_time`,
        values: [
            environmentId,
            ranges.map((r) => r.customerId),
            ranges.map((r) => r.featureId),
            ranges.map((r) => startTime(r.from)),
            ranges.map((r) => endTime(r.to)),
        ],
    });
    if (changes.length > 0)
        await writeRollups(db, environmentId, changes, 'replace');
}
/**
 * The usage of a row (`rollup`) with that of another (`excluded`) of the same time and part. `aggregation`: SQL of the aggregation of the meter. What no
 * event has counted is no largest and no smallest.
 */
export const mergedUsage = (aggregation) => `CASE (${aggregation})
  WHEN 'MAX' THEN CASE WHEN rollup.events = 0 THEN excluded.usage WHEN excluded.events = 0 THEN rollup.usage ELSE greatest(rollup.usage, excluded.usage) END
  WHEN 'MIN' THEN CASE WHEN rollup.events = 0 THEN excluded.usage WHEN excluded.events = 0 THEN rollup.usage ELSE least(rollup.usage, excluded.usage) END
  ELSE rollup.usage + excluded.usage END`;
/** How usage is added to what is there; `measured` names the features, unless nothing is but sums. */
const added = {
    sum: 'rollup.usage + excluded.usage',
    any: mergedUsage('SELECT aggregation FROM unnest($8::uuid[], $9::text[]) AS measured (feature_id, aggregation) WHERE measured.feature_id = rollup.feature_id'),
    replace: 'excluded.usage',
};
async function writeRollups(db, environmentId, changes, how) {
    await db.query({
        name: `metering_rollups_${how}`,
        text: `
      INSERT INTO usage_rollup AS rollup (environment_id, customer_id, feature_id, part_id, bucket_start, usage, events)
      SELECT $1::uuid, customer_id, feature_id, part_id, bucket_start, value, events
      FROM unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::timestamptz[], $6::numeric[], $7::bigint[]) AS given (customer_id, feature_id, part_id, bucket_start, value, events)
      ON CONFLICT (environment_id, customer_id, feature_id, part_id, bucket_start) DO UPDATE SET
        usage = ${added[how]},
        events = ${how === 'replace' ? 'excluded.events' : 'rollup.events + excluded.events'}`,
        values: [
            environmentId,
            plainArray(changes.map((c) => c.customerId)),
            plainArray(changes.map((c) => c.featureId)),
            plainArray(changes.map((c) => c.resourceId ?? ownPart)),
            plainArray(changes.map((c) => toTime(c.bucket))),
            plainArray(changes.map((c) => c.value)),
            plainArray(changes.map((c) => c.events)),
            ...(how === 'any' ? aggregationColumns(changes) : []),
        ],
    });
}
function aggregationColumns(changes) {
    const aggregations = new Map(changes.map(({ featureId, aggregation }) => [featureId, aggregation]));
    return [[...aggregations.keys()], [...aggregations.values()]];
}
/** Rolls up the measurements of the buckets anew: their last SET, if there is one, and what follows it. Costs as much as the buckets have. */
export async function rollUpMeasurements(db, environmentId, buckets) {
    await db.query({
        name: 'metering_roll_up_measurements',
        text: `
      WITH asked AS MATERIALIZED (
        SELECT DISTINCT * FROM unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::timestamptz[]) AS asked (customer_id, feature_id, part_id, bucket_start)
      ), rolled AS MATERIALIZED (
        SELECT asked.*, total.usage, total.is_level
        FROM asked CROSS JOIN LATERAL (
          WITH counted AS MATERIALIZED (
            SELECT value, behavior, occurred_at, sequence FROM usage_measurement
            WHERE environment_id = $1::uuid AND customer_id = asked.customer_id AND feature_id = asked.feature_id
              AND occurred_at >= asked.bucket_start AND occurred_at < asked.bucket_start + interval '15 minutes'
              AND coalesce(resource_id, '${ownPart}') = asked.part_id
          ), last_set AS (
            SELECT occurred_at, sequence FROM counted WHERE behavior = 'SET' ORDER BY occurred_at DESC, sequence DESC LIMIT 1
          )
          SELECT coalesce(sum(value), 0) AS usage, EXISTS (SELECT FROM last_set) AS is_level FROM counted
          WHERE NOT EXISTS (SELECT FROM last_set) OR (occurred_at, sequence) >= (SELECT occurred_at, sequence FROM last_set)
        ) AS total
      )
      INSERT INTO usage_rollup (environment_id, customer_id, feature_id, part_id, bucket_start, usage, events, is_level)
      SELECT $1::uuid, customer_id, feature_id, part_id, bucket_start, usage, 0, is_level FROM rolled
      ON CONFLICT (environment_id, customer_id, feature_id, part_id, bucket_start)
        DO UPDATE SET usage = excluded.usage, is_level = excluded.is_level`,
        values: [
            environmentId,
            buckets.map((b) => b.customerId),
            buckets.map((b) => b.featureId),
            buckets.map((b) => b.resourceId ?? ownPart),
            buckets.map((b) => toTime(b.bucket)),
        ],
    });
}
/** Adds what was reported in the ranges to what is rolled up of their events: a feature may have got its meter later. */
export async function addMeasurementsToRollups(db, environmentId, ranges) {
    await db.query({
        name: 'metering_add_measurements_to_rollups',
        text: `
      WITH counted AS MATERIALIZED (
        SELECT measurement.customer_id, measurement.feature_id, coalesce(resource_id, '${ownPart}') AS part_id,
          date_bin('15 minutes', occurred_at, 'epoch') AS bucket_start, value, behavior, occurred_at, sequence
        FROM unnest($2::uuid[], $3::uuid[], $4::timestamptz[], $5::timestamptz[]) AS given (customer_id, feature_id, from_time, to_time)
        JOIN usage_measurement AS measurement ON measurement.environment_id = $1::uuid AND measurement.customer_id = given.customer_id
          AND measurement.feature_id = given.feature_id AND occurred_at >= given.from_time AND occurred_at < given.to_time
      ), last_set AS (
        SELECT DISTINCT ON (customer_id, feature_id, part_id, bucket_start) customer_id, feature_id, part_id, bucket_start, occurred_at, sequence
        FROM counted WHERE behavior = 'SET' ORDER BY customer_id, feature_id, part_id, bucket_start, occurred_at DESC, sequence DESC
      )
      INSERT INTO usage_rollup AS rollup (environment_id, customer_id, feature_id, part_id, bucket_start, usage, events, is_level)
      SELECT $1::uuid, customer_id, feature_id, part_id, bucket_start, sum(value), 0, bool_or(last_set.sequence IS NOT NULL)
      FROM counted LEFT JOIN last_set USING (customer_id, feature_id, part_id, bucket_start)
      WHERE last_set.sequence IS NULL OR (counted.occurred_at, counted.sequence) >= (last_set.occurred_at, last_set.sequence)
      GROUP BY customer_id, feature_id, part_id, bucket_start
      ON CONFLICT (environment_id, customer_id, feature_id, part_id, bucket_start)
        DO UPDATE SET usage = rollup.usage + excluded.usage, is_level = excluded.is_level`,
        values: [
            environmentId,
            ranges.map((r) => r.customerId),
            ranges.map((r) => r.featureId),
            ranges.map((r) => startTime(r.from)),
            ranges.map((r) => endTime(r.to)),
        ],
    });
}
/**
 * Usage in [first cut or reset, last cut), per part and slice in which there was some. Cuts and resets are sorted. Costs as much as there are quarters of
 * an hour with usage, whatever was reported in them.
 */
export async function readRollups(db, environmentId, { customerId, featureId, resourceId }, { from, cuts, resets, aggregation }) {
    const running = aggregation === 'MAX' ? 'max(usage)' : aggregation === 'MIN' ? 'min(usage)' : 'sum(usage)';
    const { rows } = await db.query({
        text: `
      WITH placed AS (
        SELECT part_id, bucket_start, usage, events,
          width_bucket(bucket_start, $6::timestamptz[]) AS cut, width_bucket(bucket_start, $7::timestamptz[]) AS period,
          count(*) FILTER (WHERE is_level) OVER (PARTITION BY part_id ORDER BY bucket_start) AS level
        FROM usage_rollup
        WHERE environment_id = $1::uuid AND customer_id = $2::uuid AND feature_id = $3::uuid AND ($4::uuid IS NULL OR part_id = $4::uuid)
          AND bucket_start >= $5::timestamptz AND bucket_start < $8::timestamptz
      ), running AS (
        SELECT part_id, bucket_start, cut, period,
          ${running} OVER since AS usage, sum(events) OVER since AS events
        FROM placed WINDOW since AS (PARTITION BY part_id, period, level ORDER BY bucket_start)
      )
      SELECT DISTINCT ON (part_id, cut, period) part_id AS part, cut - 1 AS cut, period - 1 AS period, usage::text, events
      FROM running ORDER BY part_id, cut, period, bucket_start DESC`,
        values: [environmentId, customerId, featureId, resourceId, startTime(from), cuts.map(toTime), resets.map(toTime), toTime(cuts.at(-1))],
    });
    return rows.map(({ part, cut, period, usage, events }) => ({ part, cut, period, usage, events: Number(events) }));
}
/** New members of a UNIQUE meter, per slice. A member counts where its period first counted it. */
export async function readNewMembers(db, environmentId, { customerId, featureId, resourceId }, { from, cuts, resets }) {
    const { rows } = await db.query({
        text: `
      SELECT width_bucket(first_at, $6::timestamptz[]) - 1 AS cut, width_bucket(first_at, $7::timestamptz[]) - 1 AS period, count(DISTINCT member) AS members
      FROM usage_series AS series
      JOIN usage_member AS member ON member.environment_id = $1::uuid AND member.series_id = series.id
      WHERE series.environment_id = $1::uuid AND series.customer_id = $2::uuid AND series.feature_id = $3::uuid
        AND series.resource_id IS NOT DISTINCT FROM $4::uuid AND first_at >= $5::timestamptz AND first_at < $8::timestamptz
      GROUP BY 1, 2`,
        values: [environmentId, customerId, featureId, resourceId, startTime(from), cuts.map(toTime), resets.map(toTime), toTime(cuts.at(-1))],
    });
    return rows.map(({ cut, period, members }) => ({ cut, period, members: Number(members) }));
}
//# sourceMappingURL=rollup-repository.js.map