/** Rows of the database that nobody of this release has written, and that nobody can read. What is beside them must not wait for them. */
import type { Fault } from '../fault.js'

/** Nobody else is to be heard of for so long. */
const holdMs = 20_000
/** As much as a webhook never has. */
const largeBytes = 300_000

const inOutbox: Fault = {
  name: 'poison-rows',
  about: 'a change in the outbox that nobody can read',
  holdMs,
  async inject(stage) {
    const values = [stage.tenants.loaded.environmentId]
    const [row] = await stage.postgres.query<{ id: string }>(
      `INSERT INTO outbox_message (environment_id, id, kind, version, payload, told)
       VALUES ($1, gen_random_uuid(), 'usage', 1, '{"poison": [1]}', 'poison') RETURNING id::text`,
      values,
    )
    return async () => {
      const [others] = await stage.postgres.query<{ count: number }>(
        `SELECT count(*)::int AS count FROM outbox_message WHERE id::text <> $1 AND created_at < now() - interval '8 seconds'`,
        [row!.id],
      )
      await stage.postgres.query('DELETE FROM outbox_message WHERE environment_id = $1 AND id = $2', [...values, row!.id])
      return others!.count > 0 ? [`${others!.count} changes wait behind it`] : []
    }
  },
}

const amongEvents: Fault = {
  name: 'poison-rows-events',
  about: 'events of no known shape or too large, and an endpoint whose secret cannot be read',
  holdMs,
  async inject({ postgres, tenants }) {
    const environmentId = tenants.loaded.environmentId
    const [endpoint] = await postgres.query<{ id: string }>(
      `INSERT INTO webhook_endpoint (environment_id, id, url, secret)
       SELECT environment_id, gen_random_uuid(), url, 'poison' FROM webhook_endpoint WHERE environment_id = $1 RETURNING id::text`,
      [environmentId],
    )
    await postgres.query(
      `INSERT INTO notification_event (environment_id, id, type, payload_version, payload, occurred_at)
       SELECT $1, gen_random_uuid(), 'customer.created', 99, payload, now()
       FROM unnest(ARRAY['null', '[]', '{"customer": 1}', to_jsonb(repeat('x', $2))::text]::jsonb[]) AS poison (payload)`,
      [environmentId, largeBytes],
    )
    return async () => {
      const [others] = await postgres.query<{ count: number }>(
        `SELECT count(*)::int AS count FROM webhook_delivery
         WHERE environment_id = $1 AND endpoint_id <> $2 AND status = 'PENDING' AND due_at < now() - interval '8 seconds'`,
        [environmentId, endpoint!.id],
      )
      await postgres.query('DELETE FROM webhook_endpoint WHERE environment_id = $1 AND id = $2', [environmentId, endpoint!.id])
      return others!.count > 0 ? [`${others!.count} events wait behind them`] : []
    }
  },
}

const amongEvaluations: Fault = {
  name: 'poison-rows-evaluations',
  about: 'looks that are to be taken at customers who are not there, and an alert of a kind that is not known',
  holdMs,
  async inject({ postgres, tenants }) {
    const environmentId = tenants.loaded.environmentId
    const [alert] = await postgres.query<{ id: string }>(
      `INSERT INTO alert (environment_id, id, feature_id, thresholds, hysteresis_percent)
       SELECT environment_id, gen_random_uuid(), id, '{"poison": [1]}', 0 FROM feature WHERE environment_id = $1 AND ref_id = 'calls'
       RETURNING id::text`,
      [environmentId],
    )
    await postgres.query(
      'INSERT INTO customer_evaluation (environment_id, customer_id, version) SELECT $1, gen_random_uuid(), 1 FROM generate_series(1, 100)',
      [environmentId],
    )
    return async () => {
      const [others] = await postgres.query<{ count: number }>(
        `SELECT count(*)::int AS count FROM customer_evaluation
         WHERE environment_id = $1 AND version < (extract(epoch FROM now()) - 8) * 1000`,
        [environmentId],
      )
      await postgres.query('DELETE FROM alert WHERE environment_id = $1 AND id = $2', [environmentId, alert!.id])
      return others!.count > 0 ? [`${others!.count} looks wait behind it`] : []
    }
  },
}

export const rowFaults: readonly Fault[] = [inOutbox, amongEvents, amongEvaluations]
