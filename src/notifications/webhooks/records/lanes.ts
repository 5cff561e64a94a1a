/** What workers take and record: raw SQL, by the clock of the database. */
import type pg from 'pg'
import { plainArray } from '../../../platform/sql.js'
import { type AttemptOutcome, failuresWithoutRest } from '../rules/schedule.js'
import type { ToldEvent } from './deliveries.js'

/** An endpoint that a worker has to itself for a while. */
export interface Lane {
  environmentId: string
  endpointId: string
  url: string
  /** Sealed. */
  secret: Buffer
  /** Those that are still valid, sealed. */
  formerSecrets: Buffer[]
  failuresInRow: number
}

export interface DueDelivery extends ToldEvent {
  customerId: string | null
  attempts: number
  tries: number
  /** Of the change that has made the event; null: it was not traced. */
  traceparent: string | null
}

const isDue = "delivery.status = 'PENDING' AND delivery.due_at <= clock_timestamp()"

const freeLanes = (condition: string, limit: string) => `
        SELECT environment_id, id FROM webhook_endpoint AS endpoint
        WHERE status = 'ACTIVE' AND NOT environment_id = ANY($5::uuid[]) AND ${condition}
          AND (leased_until IS NULL OR leased_until < clock_timestamp()) AND (rests_until IS NULL OR rests_until < clock_timestamp())
          AND (
            SELECT due_at FROM webhook_delivery AS delivery
            WHERE delivery.environment_id = endpoint.environment_id AND delivery.endpoint_id = endpoint.id AND delivery.status = 'PENDING'
            ORDER BY due_at, position LIMIT 1) <= clock_timestamp()
        ORDER BY served_at NULLS FIRST, id LIMIT ${limit} FOR NO KEY UPDATE SKIP LOCKED`

/**
 * Takes endpoints that have something due and that nobody has: those that wait longest first, and those that have failed again and again after all others.
 * `doubtful`: how many of these at most. `without`: environments of which none is taken.
 */
export async function leaseLanes(
  pool: pg.Pool,
  {
    worker,
    limit,
    doubtful,
    without,
    seconds,
  }: { worker: string; limit: number; doubtful: number; without: readonly string[]; seconds: number },
): Promise<Lane[]> {
  const { rows } = await pool.query<Lane>({
    name: 'webhooks_lease_lanes',
    text: `
      WITH well AS MATERIALIZED (${freeLanes(`failures_in_row <= ${failuresWithoutRest}`, '$2::int')}
      ), doubtful AS MATERIALIZED (${freeLanes(`failures_in_row > ${failuresWithoutRest}`, 'least($2::int - (SELECT count(*) FROM well), $4::int)')}
      ), free AS (
        SELECT * FROM well UNION ALL SELECT * FROM doubtful
      )
      UPDATE webhook_endpoint AS endpoint
      SET leased_by = $1::uuid, leased_until = clock_timestamp() + make_interval(secs => $3), served_at = clock_timestamp()
      FROM free WHERE endpoint.environment_id = free.environment_id AND endpoint.id = free.id
      RETURNING endpoint.environment_id AS "environmentId", endpoint.id AS "endpointId", endpoint.url, endpoint.secret,
        ARRAY(
          SELECT secret FROM unnest(endpoint.former_secrets, endpoint.former_secrets_expire_at) AS former(secret, expires_at)
          WHERE expires_at > clock_timestamp()) AS "formerSecrets",
        endpoint.failures_in_row AS "failuresInRow"`,
    values: [worker, limit, seconds, doubtful, plainArray([...without])],
  })
  return rows
}

/** Keeps what the worker has; answers the endpoints that it still has, and that are still to be sent to. */
export async function extendLeases(pool: pg.Pool, worker: string, endpointIds: readonly string[], seconds: number): Promise<Set<string>> {
  const { rows } = await pool.query<{ id: string }>({
    name: 'webhooks_extend_leases',
    text: `
      UPDATE webhook_endpoint SET leased_until = clock_timestamp() + make_interval(secs => $3)
      WHERE id = ANY($2::uuid[]) AND leased_by = $1::uuid AND status = 'ACTIVE' RETURNING id`,
    values: [worker, plainArray([...endpointIds]), seconds],
  })
  return new Set(rows.map(({ id }) => id))
}

export async function releaseLane(pool: pg.Pool, worker: string, { environmentId, endpointId }: Lane): Promise<void> {
  await pool.query({
    name: 'webhooks_release_lane',
    text: `
      UPDATE webhook_endpoint SET leased_by = NULL, leased_until = NULL
      WHERE environment_id = $1::uuid AND id = $2::uuid AND leased_by = $3::uuid`,
    values: [environmentId, endpointId, worker],
  })
}

/**
 * What is due for an endpoint, in its order, without what the worker has already; of many large ones fewer. Each event is looked up by its key, whatever the plan was made
 * for: a join that was planned while there were few looks through all of them for each.
 */
export async function findDue(
  pool: pg.Pool,
  { environmentId, endpointId }: Lane,
  { without, limit, maxBytes }: { without: readonly string[]; limit: number; maxBytes: number },
): Promise<DueDelivery[]> {
  const { rows } = await pool.query<DueDelivery>({
    name: 'webhooks_find_due',
    text: `
      WITH due AS MATERIALIZED (
        SELECT event_id, due_at, position, customer_id, attempts, tries FROM webhook_delivery AS delivery
        WHERE environment_id = $1::uuid AND endpoint_id = $2::uuid AND ${isDue} AND NOT event_id = ANY($3::uuid[])
        ORDER BY due_at, position LIMIT $4::int
      ), sized AS (
        SELECT due.*, event.type, event.payload_version, event.customer_version, event.customer_index, event.payload, event.occurred_at, event.traceparent,
          sum(pg_column_size(event.payload)) OVER (ORDER BY due.due_at, due.position) - pg_column_size(event.payload) AS before
        FROM due CROSS JOIN LATERAL (
          SELECT * FROM notification_event WHERE environment_id = $1::uuid AND id = due.event_id LIMIT 1
        ) AS event
      )
      SELECT event_id AS id, customer_id AS "customerId", attempts, tries, type, payload_version AS "payloadVersion",
        customer_version AS "customerVersion", customer_index AS "customerIndex", payload, occurred_at AS "occurredAt", traceparent
      FROM sized WHERE before < $5::int ORDER BY due_at, position`,
    values: [environmentId, endpointId, plainArray([...without]), limit, maxBytes],
  })
  return rows
}

/** What becomes of a delivery by an attempt. */
export type Consequence = { status: 'DELIVERED' } | { status: 'FAILED' } | { status: 'PENDING'; pauseMs: number }

export interface MadeAttempt {
  eventId: string
  outcome: AttemptOutcome
  consequence: Consequence
}

/**
 * Records attempts at an endpoint, each of another event, and what becomes of their deliveries. One that is gone meanwhile, with its endpoint, is nothing; and who comes
 * late with a failure (its process stood still, and another one took over) takes nothing back.
 */
export async function recordAttempts(
  pool: pg.Pool | pg.PoolClient,
  { environmentId, endpointId }: Lane,
  made: readonly MadeAttempt[],
): Promise<void> {
  const rows = made.map(({ eventId, outcome: { durationMs, statusCode, response, error }, consequence }) => {
    const pauseMs = consequence.status === 'PENDING' ? consequence.pauseMs : null
    return { event: eventId, status: consequence.status, pauseMs, durationMs, statusCode, response, error }
  })
  await pool.query({
    name: 'webhooks_record_attempts',
    text: 'SELECT record_attempts($1::uuid, $2::uuid, $3::jsonb)',
    values: [environmentId, endpointId, JSON.stringify(rows)],
  })
}

/** Counts the attempt for the endpoint, and has it left alone for a while. Answers since how long it fails. */
export async function countFailure(
  pool: pg.Pool | pg.PoolClient,
  { environmentId, endpointId }: Lane,
): Promise<{ failuresInRow: number; failingForMs: number } | null> {
  const { rows } = await pool.query<{ failuresInRow: number; failingForMs: number }>({
    name: 'webhooks_count_failure',
    text: `
      UPDATE webhook_endpoint SET failures_in_row = failures_in_row + 1, failing_since = coalesce(failing_since, clock_timestamp())
      WHERE environment_id = $1::uuid AND id = $2::uuid
      RETURNING failures_in_row AS "failuresInRow", (extract(epoch FROM clock_timestamp() - failing_since) * 1000)::float8 AS "failingForMs"`,
    values: [environmentId, endpointId],
  })
  return rows[0] ?? null
}

export async function letRest(pool: pg.Pool, { environmentId, endpointId }: Lane, ms: number): Promise<void> {
  await pool.query({
    name: 'webhooks_let_rest',
    text: `
      UPDATE webhook_endpoint SET rests_until = clock_timestamp() + make_interval(secs => $3::float8 / 1000)
      WHERE environment_id = $1::uuid AND id = $2::uuid`,
    values: [environmentId, endpointId, ms],
  })
}

export async function clearFailures(pool: pg.Pool, { environmentId, endpointId }: Lane): Promise<void> {
  await pool.query({
    name: 'webhooks_clear_failures',
    text: `
      UPDATE webhook_endpoint SET failures_in_row = 0, failing_since = NULL, rests_until = NULL
      WHERE environment_id = $1::uuid AND id = $2::uuid AND failures_in_row > 0`,
    values: [environmentId, endpointId],
  })
}

export interface WaitingCounts {
  /** Deliveries that wait for an attempt, at most as many as were counted. */
  pending: number
  /** Seconds since the oldest that is due came due, of endpoints that are neither at rest nor paused; 0: none is. */
  lagSeconds: number
  disabled: number
}

export async function countWaiting(pool: pg.Pool, most: number): Promise<WaitingCounts> {
  const { rows } = await pool.query<WaitingCounts>({
    text: `
      SELECT
        (SELECT count(*) FROM (SELECT FROM webhook_delivery WHERE status = 'PENDING' LIMIT $1) AS counted)::int AS pending,
        (SELECT count(*) FROM webhook_endpoint WHERE status = 'DISABLED')::int AS disabled,
        coalesce((
          SELECT greatest(0, extract(epoch FROM clock_timestamp() - min(oldest.due_at)))
          FROM webhook_endpoint AS endpoint CROSS JOIN LATERAL (
            SELECT due_at FROM webhook_delivery AS delivery
            WHERE delivery.environment_id = endpoint.environment_id AND delivery.endpoint_id = endpoint.id AND delivery.status = 'PENDING'
            ORDER BY due_at LIMIT 1
          ) AS oldest
          WHERE endpoint.status = 'ACTIVE' AND endpoint.failures_in_row = 0), 0)::float8 AS "lagSeconds"`,
    values: [most],
  })
  return rows[0]!
}
