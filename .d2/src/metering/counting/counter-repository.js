import { fromText } from '../../kernel/decimal.js';
/** The database's time. */
export async function readTime(db) {
    const { rows } = await db.query('SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now');
    return Number(rows[0].now);
}
/** Every series there is in the scopes. */
export async function findSeries(db, environmentId, scopes) {
    const { rows } = await db.query({
        name: 'metering_find_series',
        text: `
      SELECT series.id, series.customer_id, series.resource_id, series.feature_id, series.reset_period, series.reset_rule, series.anchor, series.timezone
      FROM unnest($2::uuid[], $3::uuid[], $4::uuid[]) AS scope (customer_id, resource_id, feature_id)
      CROSS JOIN LATERAL (
        SELECT * FROM usage_series
        WHERE environment_id = $1::uuid AND customer_id = scope.customer_id AND feature_id = scope.feature_id AND resource_id IS NOT DISTINCT FROM scope.resource_id
      ) AS series`,
        values: [environmentId, scopes.map((s) => s.customerId), scopes.map((s) => s.resourceId), scopes.map((s) => s.featureId)],
    });
    return rows.map((row) => ({
        id: row.id,
        customerId: row.customer_id,
        resourceId: row.resource_id,
        featureId: row.feature_id,
        resetPeriod: row.reset_period,
        resetRule: row.reset_rule,
        anchor: row.anchor?.getTime() ?? null,
        timeZone: row.timezone,
    }));
}
export async function insertSeries(db, environmentId, series) {
    await db.query({
        name: 'metering_insert_series',
        text: `
      INSERT INTO usage_series (environment_id, id, customer_id, resource_id, feature_id, reset_period, reset_rule, anchor, timezone)
      SELECT $1::uuid, * FROM unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::uuid[], $6::reset_period[], $7::reset_rule[], $8::timestamptz[], $9::text[])`,
        values: [
            environmentId,
            series.map((s) => s.id),
            series.map((s) => s.customerId),
            series.map((s) => s.resourceId),
            series.map((s) => s.featureId),
            series.map((s) => s.resetPeriod),
            series.map((s) => s.resetRule),
            series.map((s) => toTime(s.anchor)),
            series.map((s) => s.timeZone),
        ],
    });
}
/**
 * Deletes the counters of series that nothing adds to any more, as far as late usage could still have changed them. A counter that is there is
 * therefore complete, and one that is missing is computed when its series is read again.
 */
export async function dropCounters(db, environmentId, seriesIds) {
    await db.query({
        name: 'metering_drop_counters',
        text: `
      WITH dropped AS (
        DELETE FROM usage_counter
        WHERE environment_id = $1::uuid AND series_id = ANY($2::uuid[]) AND period_end > clock_timestamp() - interval '36 days'
        RETURNING series_id, period_start
      )
      DELETE FROM usage_member AS member USING dropped
      WHERE member.environment_id = $1::uuid AND member.series_id = dropped.series_id AND member.period_start = dropped.period_start`,
        values: [environmentId, seriesIds],
    });
}
/** For each (customer, feature), the latest time of a measurement that is dated after `at`; absent where there is none. */
export async function findDatedAhead(db, environmentId, asked) {
    const { rows } = await db.query({
        name: 'metering_find_dated_ahead',
        text: `
      SELECT asked.ord::int AS ord, ahead.occurred_at AS latest
      FROM unnest($2::uuid[], $3::uuid[], $4::timestamptz[]) WITH ORDINALITY AS asked (customer_id, feature_id, at, ord)
      CROSS JOIN LATERAL (
        SELECT occurred_at FROM usage_measurement
        WHERE environment_id = $1::uuid AND customer_id = asked.customer_id AND feature_id = asked.feature_id AND occurred_at > asked.at
        ORDER BY occurred_at DESC, sequence DESC LIMIT 1
      ) AS ahead`,
        values: [environmentId, asked.map((a) => a.customerId), asked.map((a) => a.featureId), asked.map((a) => toTime(a.at))],
    });
    return new Map(rows.map(({ ord, latest }) => [ord - 1, latest.getTime()]));
}
/**
 * The periods whose counter is there, by index, with the version of the meter that counts it (null: usage that is reported). One that ends at another
 * time is not there: it was cut, or is to be.
 */
export async function findCounters(db, environmentId, periods) {
    const { rows } = await db.query({
        name: 'metering_find_counters',
        text: `
      SELECT asked.ord::int AS ord, counter.meter_version
      FROM unnest($2::uuid[], $3::timestamptz[], $4::timestamptz[]) WITH ORDINALITY AS asked (series_id, period_start, period_end, ord)
      CROSS JOIN LATERAL (
        SELECT meter_version FROM usage_counter
        WHERE environment_id = $1::uuid AND series_id = asked.series_id AND period_start = asked.period_start AND period_end = asked.period_end LIMIT 1
      ) AS counter`,
        values: [environmentId, periods.map((p) => p.seriesId), periods.map((p) => startTime(p.start)), periods.map((p) => endTime(p.end))],
    });
    return new Map(rows.map(({ ord, meter_version }) => [ord - 1, meter_version]));
}
/** Those of the customers that have resources. */
export async function findWithResources(db, environmentId, customerIds) {
    const { rows } = await db.query({
        name: 'metering_find_with_resources',
        text: `
      SELECT asked.customer_id
      FROM unnest($2::uuid[]) AS asked (customer_id)
      CROSS JOIN LATERAL (SELECT FROM customer_resource WHERE environment_id = $1::uuid AND customer_id = asked.customer_id LIMIT 1) AS resource`,
        values: [environmentId, customerIds],
    });
    return new Set(rows.map(({ customer_id }) => customer_id));
}
/**
 * The stored measurements of each range, added up: per resource, the last SET by (time, sequence) and every DELTA after it. Costs as much as the
 * range has measurements.
 */
export async function sumMeasurements(db, environmentId, ranges) {
    const { rows } = await db.query({
        name: 'metering_sum_measurements',
        text: `
      SELECT coalesce(total.usage, 0)::text AS usage
      FROM unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::timestamptz[], $6::timestamptz[])
        WITH ORDINALITY AS asked (customer_id, resource_id, feature_id, from_time, to_time, ord)
      CROSS JOIN LATERAL (
        WITH counted AS MATERIALIZED (
          SELECT coalesce(resource_id, '00000000-0000-0000-0000-000000000000') AS part, value, behavior, occurred_at, sequence
          FROM usage_measurement
          WHERE environment_id = $1::uuid AND customer_id = asked.customer_id AND feature_id = asked.feature_id
            AND occurred_at >= asked.from_time AND occurred_at < asked.to_time
            AND (asked.resource_id IS NULL OR resource_id = asked.resource_id)
        ), last_set AS (
          SELECT DISTINCT ON (part) part, occurred_at, sequence FROM counted WHERE behavior = 'SET' ORDER BY part, occurred_at DESC, sequence DESC
        )
        SELECT sum(counted.value) AS usage
        FROM counted LEFT JOIN last_set ON last_set.part = counted.part
        WHERE last_set.part IS NULL OR (counted.occurred_at, counted.sequence) >= (last_set.occurred_at, last_set.sequence)
      ) AS total
      ORDER BY asked.ord`,
        values: [environmentId, ...rangeColumns(ranges)],
    });
    return rows.map(({ usage }) => fromText(usage));
}
export function rangeColumns(ranges) {
    return [
        ranges.map((r) => r.customerId),
        ranges.map((r) => r.resourceId),
        ranges.map((r) => r.featureId),
        ranges.map((r) => startTime(r.from)),
        ranges.map((r) => endTime(r.to)),
    ];
}
export const toTime = (at) => (at === null ? null : new Date(at).toISOString());
export const startTime = (at) => toTime(at) ?? '-infinity';
export const endTime = (at) => toTime(at) ?? 'infinity';
/**
 * PostgreSQL's text of an array whose elements need no quotes: ids, numbers, times, names of ours. Writing it takes a fraction of what the driver does
 * to any text.
 */
export const plainArray = (values) => `{${values.map((value) => value ?? 'NULL').join()}}`;
//# sourceMappingURL=counter-repository.js.map