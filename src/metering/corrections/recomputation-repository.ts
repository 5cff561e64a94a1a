/** Raw SQL of recomputations: what is to be counted anew, and how far it is. */
import type { EpochMs } from '../../kernel/clock.js'
import { busyEnvironments, endTime, type Queryable, startTime, toTime } from '../../platform/sql.js'

export interface Recomputation {
  id: string
  /** The caller's identifiers. */
  featureId: string
  /** Null: all customers. */
  customerId: string | null
  /** All that there are to look at: one without usage and events is done in no time. */
  customersTotal: number
  customersDone: number
  /** Counters of periods whose events have been dropped since: they stay as they are. */
  countersLeft: number
  createdAt: EpochMs
  /** Null: it is not finished yet. */
  finishedAt: EpochMs | null
}

/** Our ids of what the caller names, and the newest version of the feature's meter; null where there is none. */
export async function findRecomputed(
  db: Queryable,
  environmentId: string,
  asked: { featureId: string; customerId: string | null },
): Promise<{ featureId: string | null; customerId: string | null; meterVersion: number | null }> {
  const { rows } = await db.query<{ feature: string | null; customer: string | null; version: number | null }>({
    text: `
      SELECT feature.id AS feature, customer.id AS customer, (
        SELECT max(history.version) FROM meter_version AS history JOIN meter USING (environment_id, feature_id)
        WHERE history.environment_id = $1::uuid AND history.feature_id = feature.id
      ) AS version
      FROM (SELECT) AS always
      LEFT JOIN feature ON feature.environment_id = $1::uuid AND feature.ref_id = $2
      LEFT JOIN customer ON customer.environment_id = $1::uuid AND customer.ref_id = $3`,
    values: [environmentId, asked.featureId, asked.customerId],
  })
  const { feature, customer, version } = rows[0]!
  return { featureId: feature, customerId: customer, meterVersion: version }
}

export interface NewRecomputation {
  id: string
  featureId: string
  customerId: string | null
  from: EpochMs | null
  to: EpochMs | null
  meterVersion: number
}

/** Requests of an environment come one after the other, until their transactions end. */
export async function lockRequests(db: Queryable, environmentId: string): Promise<void> {
  await db.query({ text: `SELECT pg_advisory_xact_lock(hashtextextended('recomputations ' || $1, 0))`, values: [environmentId] })
}

/**
 * One for the same that nobody has begun or is beginning: it will read all that is committed now, because it stays locked until the transaction ends. Null: there is
 * none.
 */
export async function findUnbegun(db: Queryable, environmentId: string, work: Omit<NewRecomputation, 'id'>): Promise<string | null> {
  const { rows } = await db.query<{ id: string }>({
    text: `
      SELECT id FROM usage_recomputation
      WHERE environment_id = $1::uuid AND finished_at IS NULL AND done_until IS NULL AND feature_id = $2::uuid AND meter_version = $6::int
        AND customer_id IS NOT DISTINCT FROM $3::uuid
        AND from_time IS NOT DISTINCT FROM $4::timestamptz AND to_time IS NOT DISTINCT FROM $5::timestamptz
      LIMIT 1 FOR UPDATE SKIP LOCKED`,
    values: [environmentId, work.featureId, work.customerId, toTime(work.from), toTime(work.to), work.meterVersion],
  })
  return rows[0]?.id ?? null
}

export async function countUnfinished(db: Queryable, environmentId: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>({
    text: 'SELECT count(*)::int AS count FROM usage_recomputation WHERE environment_id = $1::uuid AND finished_at IS NULL',
    values: [environmentId],
  })
  return rows[0]!.count
}

export async function insertRecomputation(db: Queryable, environmentId: string, work: NewRecomputation): Promise<void> {
  await db.query({
    text: `
      INSERT INTO usage_recomputation (environment_id, id, feature_id, customer_id, from_time, to_time, meter_version, customers_total)
      SELECT $1::uuid, $2::uuid, $3::uuid, $4::uuid, $5::timestamptz, $6::timestamptz, $7::int, count(*)
      FROM customer WHERE environment_id = $1::uuid AND ($4::uuid IS NULL OR id = $4::uuid)`,
    values: [environmentId, work.id, work.featureId, work.customerId, toTime(work.from), toTime(work.to), work.meterVersion],
  })
}

export async function findRecomputation(db: Queryable, environmentId: string, id: string): Promise<Recomputation | null> {
  const { rows } = await db.query<{
    feature: string
    customer: string | null
    customers_total: number
    customers_done: number
    counters_left: number
    created_at: Date
    finished_at: Date | null
  }>({
    text: `
      SELECT feature.ref_id AS feature, customer.ref_id AS customer, work.customers_total, work.customers_done, work.counters_left, work.created_at, work.finished_at
      FROM usage_recomputation AS work
      JOIN feature ON feature.environment_id = work.environment_id AND feature.id = work.feature_id
      LEFT JOIN customer ON customer.environment_id = work.environment_id AND customer.id = work.customer_id
      WHERE work.environment_id = $1::uuid AND work.id = $2::uuid`,
    values: [environmentId, id],
  })
  const row = rows[0]
  if (!row) return null
  return {
    id,
    featureId: row.feature,
    customerId: row.customer,
    // Customers that have come since are looked at too.
    customersTotal: Math.max(row.customers_total, row.customers_done),
    customersDone: row.customers_done,
    countersLeft: row.counters_left,
    createdAt: row.created_at.getTime(),
    finishedAt: row.finished_at?.getTime() ?? null,
  }
}

export interface ClaimedRecomputation extends NewRecomputation {
  environmentId: string
  /** The last customer that is done. */
  doneUntil: string | null
  /** Of its next step. */
  stepSize: number
}

/** More than there are processes that look at once. */
const mostLookedAt = 20

/**
 * Of the environment after `after`, or the next one that has any, the recomputation that was worked on longest ago; locked until the transaction ends. So
 * environments have their turns, and the recomputations of each of them.
 */
export async function claimRecomputation(db: Queryable, after: string): Promise<ClaimedRecomputation | null> {
  const { rows } = await db.query<{ environment_id: string; id: string }>({
    text: `
      WITH RECURSIVE ${busyEnvironments('usage_recomputation', 'finished_at IS NULL').text}
      SELECT busy.environment_id, due.id FROM busy CROSS JOIN LATERAL (
        SELECT id, row_number() OVER (ORDER BY due_at) AS place FROM (
          SELECT id, due_at FROM usage_recomputation AS work
          WHERE work.environment_id = busy.environment_id AND finished_at IS NULL AND due_at <= clock_timestamp()
          ORDER BY due_at LIMIT ${mostLookedAt}
        ) AS first
      ) AS due
      ORDER BY due.place, busy.environment_id <= $1::uuid, busy.environment_id LIMIT ${mostLookedAt}`,
    values: [after],
  })
  // Rows are locked by environment: of those that all look at, each takes the first that no other has.
  for (const { environment_id, id } of rows) {
    const claimed = await claimOne(db, environment_id, id)
    if (claimed) return claimed
  }
  return null
}

async function claimOne(db: Queryable, environmentId: string, recomputationId: string): Promise<ClaimedRecomputation | null> {
  const { rows } = await db.query<{
    environment_id: string
    id: string
    feature_id: string
    customer_id: string | null
    from_time: Date | null
    to_time: Date | null
    meter_version: number
    done_until: string | null
    step_size: number
  }>({
    text: `
      SELECT environment_id, id, feature_id, customer_id, from_time, to_time, meter_version, done_until, step_size
      FROM usage_recomputation
      WHERE environment_id = $1::uuid AND id = $2::uuid AND finished_at IS NULL AND due_at <= clock_timestamp() FOR UPDATE SKIP LOCKED`,
    values: [environmentId, recomputationId],
  })
  const row = rows[0]
  if (!row) return null
  return {
    environmentId: row.environment_id,
    id: row.id,
    featureId: row.feature_id,
    customerId: row.customer_id,
    from: row.from_time?.getTime() ?? null,
    to: row.to_time?.getTime() ?? null,
    meterVersion: row.meter_version,
    doneUntil: row.done_until,
    stepSize: row.step_size,
  }
}

/** The next customers in the order of their ids. Whether they have usage of the feature, or events that it can be counted from, is found under their lock. */
export async function nextCustomers(
  db: Queryable,
  { environmentId, customerId, doneUntil }: ClaimedRecomputation,
  limit: number,
): Promise<{ id: string; refId: string }[]> {
  const { rows } = await db.query<{ id: string; ref_id: string }>({
    text: `
      SELECT id, ref_id FROM customer
      WHERE environment_id = $1::uuid AND id > coalesce($3::uuid, '00000000-0000-0000-0000-000000000000') AND ($2::uuid IS NULL OR id = $2::uuid)
      ORDER BY id LIMIT $4::int`,
    values: [environmentId, customerId, doneUntil, limit],
  })
  return rows.map(({ id, ref_id }) => ({ id, refId: ref_id }))
}

/** Where a customer or one of its resources has counted events: first and last of a quarter of an hour. Resource null: the customer's own. */
export interface EventSpan {
  customerId: string
  resourceRefId: string | null
  first: EpochMs
  last: EpochMs
}

/** The spans of all events in [from, to), of whatever meter. Costs as much as the customers have events there. */
export async function findEventSpans(
  db: Queryable,
  environmentId: string,
  { customerIds, from, to }: { customerIds: string[]; from: EpochMs | null; to: EpochMs | null },
): Promise<EventSpan[]> {
  const { rows } = await db.query<{ customer_id: string; resource_ref: string | null; first: Date; last: Date }>({
    text: `
      SELECT span.customer_id, resource.ref_id AS resource_ref, span.first, span.last
      FROM unnest($2::uuid[]) AS asked (customer_id)
      CROSS JOIN LATERAL (
        SELECT event.customer_id, event.resource_id, min(event.occurred_at) AS first, max(event.occurred_at) AS last
        FROM raw_event AS event
        WHERE event.environment_id = $1::uuid AND event.customer_id = asked.customer_id
          AND event.occurred_at >= $3::timestamptz AND event.occurred_at < $4::timestamptz
        GROUP BY event.customer_id, event.resource_id, date_bin('15 minutes', event.occurred_at, 'epoch')
      ) AS span
      LEFT JOIN customer_resource AS resource
        ON resource.environment_id = $1::uuid AND resource.customer_id = span.customer_id AND resource.id = span.resource_id`,
    values: [environmentId, customerIds, startTime(from), endTime(to)],
  })
  return rows.map((row) => ({
    customerId: row.customer_id,
    resourceRefId: row.resource_ref,
    first: row.first.getTime(),
    last: row.last.getTime(),
  }))
}

/** The resources that have had usage of the feature of their own. */
export async function findResourcesOf(
  db: Queryable,
  environmentId: string,
  { featureId, customerIds }: { featureId: string; customerIds: string[] },
): Promise<{ customerId: string; resourceRefId: string }[]> {
  const { rows } = await db.query<{ customer_id: string; ref_id: string }>({
    text: `
      SELECT DISTINCT series.customer_id, resource.ref_id
      FROM unnest($3::uuid[]) AS asked (customer_id)
      CROSS JOIN LATERAL (
        SELECT customer_id, resource_id FROM usage_series WHERE environment_id = $1::uuid AND customer_id = asked.customer_id AND feature_id = $2::uuid
      ) AS series
      JOIN customer_resource AS resource
        ON resource.environment_id = $1::uuid AND resource.customer_id = series.customer_id AND resource.id = series.resource_id`,
    values: [environmentId, featureId, customerIds],
  })
  return rows.map(({ customer_id, ref_id }) => ({ customerId: customer_id, resourceRefId: ref_id }))
}

/** Notes how far it is. `left`: counters that were left as they are. `nextStep`: customers of the next step. */
export async function advanceRecomputation(
  db: Queryable,
  { environmentId, id }: ClaimedRecomputation,
  { customerIds, left, isLast, nextStep }: { customerIds: string[]; left: number; isLast: boolean; nextStep: number },
): Promise<void> {
  await db.query({
    text: `
      UPDATE usage_recomputation SET done_until = coalesce($3::uuid, done_until), customers_done = customers_done + $4::int,
        counters_left = counters_left + $5::int, step_size = $7::int, due_at = clock_timestamp(), failures = 0, finished_at = CASE WHEN $6::boolean THEN clock_timestamp() END
      WHERE environment_id = $1::uuid AND id = $2::uuid`,
    values: [environmentId, id, customerIds.at(-1) ?? null, customerIds.length, left, isLast, nextStep],
  })
}

/**
 * Leaves it alone for a while, twice as long each time, up to five minutes; answers for how many seconds. The others go on. Its next step is half as large, in
 * case it was too much for the time of a statement.
 */
export async function pauseRecomputation(db: Queryable, { environmentId, id }: ClaimedRecomputation): Promise<number> {
  const { rows } = await db.query<{ seconds: number }>({
    text: `
      UPDATE usage_recomputation SET failures = failures + 1, step_size = greatest(1, step_size / 2),
        due_at = clock_timestamp() + make_interval(secs => least(2 ^ least(failures, 16), 300))
      WHERE environment_id = $1::uuid AND id = $2::uuid
      RETURNING least(2 ^ least(failures - 1, 16), 300)::float8 AS seconds`,
    values: [environmentId, id],
  })
  return rows[0]?.seconds ?? 0
}
