/** Raw SQL of recomputations: what is to be counted anew, and how far it is. */
import type { EpochMs } from '../kernel/clock.js'
import { newId } from '../kernel/id.js'
import { type Connection, toTime } from './counter-repository.js'

export interface Recomputation {
  id: string
  /** The caller's identifiers. */
  featureId: string
  /** Null: all customers. */
  customerId: string | null
  customersTotal: number
  customersDone: number
  createdAt: EpochMs
  /** Null: it is not finished yet. */
  finishedAt: EpochMs | null
}

/** Our ids of what the caller names, and the newest version of the feature's meter; null where there is none. */
export async function findRecomputed(
  db: Connection,
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

export async function insertRecomputation(db: Connection, environmentId: string, work: NewRecomputation): Promise<void> {
  await db.query({
    text: `
      INSERT INTO usage_recomputation (environment_id, id, feature_id, customer_id, from_time, to_time, meter_version, customers_total)
      SELECT $1::uuid, $2::uuid, $3::uuid, $4::uuid, $5::timestamptz, $6::timestamptz, $7::int, count(DISTINCT customer_id)
      FROM usage_series WHERE environment_id = $1::uuid AND feature_id = $3::uuid AND ($4::uuid IS NULL OR customer_id = $4::uuid)`,
    values: [environmentId, work.id, work.featureId, work.customerId, toTime(work.from), toTime(work.to), work.meterVersion],
  })
}

export async function findRecomputation(db: Connection, environmentId: string, id: string): Promise<Recomputation | null> {
  const { rows } = await db.query<{
    feature: string
    customer: string | null
    customers_total: number
    customers_done: number
    created_at: Date
    finished_at: Date | null
  }>({
    text: `
      SELECT feature.ref_id AS feature, customer.ref_id AS customer, work.customers_total, work.customers_done, work.created_at, work.finished_at
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
    customersTotal: row.customers_total,
    customersDone: row.customers_done,
    createdAt: row.created_at.getTime(),
    finishedAt: row.finished_at?.getTime() ?? null,
  }
}

export interface ClaimedRecomputation extends NewRecomputation {
  environmentId: string
  /** The last customer that is done. */
  doneUntil: string | null
}

/** The oldest recomputation that nobody works on, locked until the transaction ends. */
export async function claimRecomputation(db: Connection): Promise<ClaimedRecomputation | null> {
  const { rows } = await db.query<{
    environment_id: string
    id: string
    feature_id: string
    customer_id: string | null
    from_time: Date | null
    to_time: Date | null
    meter_version: number
    done_until: string | null
  }>({
    text: `
      SELECT environment_id, id, feature_id, customer_id, from_time, to_time, meter_version, done_until
      FROM usage_recomputation WHERE finished_at IS NULL ORDER BY created_at LIMIT 1 FOR UPDATE SKIP LOCKED`,
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
  }
}

/** The next customers that have usage of the feature, in the order of their ids. */
export async function nextCustomers(
  db: Connection,
  { environmentId, featureId, customerId, doneUntil }: ClaimedRecomputation,
  limit: number,
): Promise<{ id: string; refId: string }[]> {
  const { rows } = await db.query<{ id: string; ref_id: string }>({
    text: `
      SELECT customer.id, customer.ref_id FROM customer
      WHERE customer.environment_id = $1::uuid AND customer.id > coalesce($4::uuid, '00000000-0000-0000-0000-000000000000')
        AND ($3::uuid IS NULL OR customer.id = $3::uuid)
        AND EXISTS (SELECT FROM usage_series WHERE environment_id = $1::uuid AND customer_id = customer.id AND feature_id = $2::uuid)
      ORDER BY customer.id LIMIT $5::int`,
    values: [environmentId, featureId, customerId, doneUntil, limit],
  })
  return rows.map(({ id, ref_id }) => ({ id, refId: ref_id }))
}

export async function advanceRecomputation(
  db: Connection,
  { environmentId, id }: ClaimedRecomputation,
  customerIds: string[],
  isLast: boolean,
): Promise<void> {
  await db.query({
    text: `
      UPDATE usage_recomputation SET done_until = coalesce($3::uuid, done_until), customers_done = customers_done + $4::int,
        finished_at = CASE WHEN $5::boolean THEN clock_timestamp() END
      WHERE environment_id = $1::uuid AND id = $2::uuid`,
    values: [environmentId, id, customerIds.at(-1) ?? null, customerIds.length, isLast],
  })
}

/** Messages that have the customers' states built anew. */
export async function tellCustomers(
  db: Connection,
  environmentId: string,
  customers: { refId: string; version: EpochMs }[],
): Promise<void> {
  await db.query({
    text: `
      INSERT INTO outbox_message (environment_id, id, kind, customer_id, version)
      SELECT $1::uuid, id, 'entitlements', ref_id, version FROM unnest($2::uuid[], $3::text[], $4::bigint[]) AS given (id, ref_id, version)`,
    values: [environmentId, customers.map(() => newId()), customers.map(({ refId }) => refId), customers.map(({ version }) => version)],
  })
}
