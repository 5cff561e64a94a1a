import type pg from 'pg'
import type { EntitlementState } from '../../entitlement/rules/state.js'
import type { EntitlementService } from '../../entitlement/service.js'
import type { Logger } from '../../platform/logger.js'
import type { JobQueue } from '../../platform/queue.js'
import type { QueueMessage } from '../wire/queue-message.js'
import { entitlementsMessage } from './change-messages.js'
import type { ChangeSinks } from './delivery.js'

/** Customers whose states are read in one snapshot. */
const customersPerRead = 50
/** While so many messages wait no more are told: changes have to come through between them. */
const mostWaiting = 500
/** With a queue of SQS nobody says how many wait: so many customers each time. */
const readsPerTurn = 20
const claimSeconds = 30

interface Claimed {
  environmentId: string
  id: string
  queueUrl: string | null
  lastCustomer: string | null
}

/**
 * Tells an environment's queue of each of its customers, as if each had changed. Goes on where another process ended: what is told twice is written once. A customer
 * whose state cannot be built is left out.
 */
export class WarmingDelivery {
  readonly #pool: pg.Pool
  readonly #entitlements: Pick<EntitlementService, 'states'>
  readonly #sinks: Pick<ChangeSinks, 'enqueue'>
  readonly #queueOf: (environmentId: string) => Pick<JobQueue<QueueMessage>, 'waiting'>
  readonly #log: Logger

  constructor(parts: {
    pool: pg.Pool
    entitlements: Pick<EntitlementService, 'states'>
    sinks: Pick<ChangeSinks, 'enqueue'>
    queueOf: (environmentId: string) => Pick<JobQueue<QueueMessage>, 'waiting'>
    log: Logger
  }) {
    this.#pool = parts.pool
    this.#entitlements = parts.entitlements
    this.#sinks = parts.sinks
    this.#queueOf = parts.queueOf
    this.#log = parts.log
  }

  /** A turn of each that is under way and in nobody's hands. */
  async work(signal: AbortSignal): Promise<void> {
    for (const claimed of await this.#claim()) {
      await this.#turn(claimed, signal).catch((error: unknown) =>
        this.#log.warn({ err: error, environmentId: claimed.environmentId }, 'a persistent cache is not warmed further yet'),
      )
      await this.#pool.query('UPDATE cache_warming SET claimed_until = NULL WHERE environment_id = $1::uuid AND id = $2::uuid', [
        claimed.environmentId,
        claimed.id,
      ])
    }
  }

  async #claim(): Promise<Claimed[]> {
    const { rows } = await this.#pool.query<Claimed>({
      name: 'updates_claim_warmings',
      text: `
        UPDATE cache_warming AS warming SET claimed_until = clock_timestamp() + make_interval(secs => $1)
        FROM environment
        WHERE environment.id = warming.environment_id AND environment.has_persistent_cache AND warming.ended_at IS NULL
          AND (warming.claimed_until IS NULL OR warming.claimed_until < clock_timestamp())
        RETURNING warming.environment_id AS "environmentId", warming.id, environment.persistent_cache_queue_url AS "queueUrl",
          warming.last_customer AS "lastCustomer"`,
      values: [claimSeconds],
    })
    return rows
  }

  async #turn({ environmentId, id, queueUrl, lastCustomer }: Claimed, signal: AbortSignal): Promise<void> {
    let after = lastCustomer
    for (let reads = 0; !signal.aborted && (queueUrl === null || reads < readsPerTurn); reads++) {
      if (queueUrl === null && (await this.#queueOf(environmentId).waiting()) >= mostWaiting) return
      const customers = await this.#customersAfter(environmentId, after)
      if (customers.length > 0) {
        const states = await this.#states(
          environmentId,
          customers.map(({ refId }) => refId),
        )
        await this.#sinks.enqueue(states.map(entitlementsMessage))
      }
      after = customers.at(-1)?.id ?? after
      const isLast = customers.length < customersPerRead
      const isOurs = await this.#recordTold({ environmentId, id, after, told: customers.length, isLast })
      if (isLast || !isOurs) return
    }
  }

  async #customersAfter(environmentId: string, after: string | null): Promise<{ id: string; refId: string }[]> {
    const { rows } = await this.#pool.query<{ id: string; refId: string }>({
      name: 'updates_customers_to_tell',
      text: `
        SELECT id, ref_id AS "refId" FROM customer
        WHERE environment_id = $1::uuid AND archived_at IS NULL AND id > coalesce($2::uuid, '00000000-0000-0000-0000-000000000000')
        ORDER BY id LIMIT $3`,
      values: [environmentId, after, customersPerRead],
    })
    return rows
  }

  async #states(environmentId: string, customerIds: readonly string[]): Promise<EntitlementState[]> {
    try {
      return await this.#entitlements.states(environmentId, customerIds)
    } catch (error) {
      if (customerIds.length === 1) {
        this.#log.error({ err: error, environmentId, customerId: customerIds[0] }, 'a customer is left out of warming')
        return []
      }
      const states: EntitlementState[] = []
      for (const customerId of customerIds) states.push(...(await this.#states(environmentId, [customerId])))
      return states
    }
  }

  /** False: another one has begun. */
  async #recordTold(told: { environmentId: string; id: string; after: string | null; told: number; isLast: boolean }): Promise<boolean> {
    const { rowCount } = await this.#pool.query({
      name: 'updates_record_warmed',
      text: `
        UPDATE cache_warming
        SET last_customer = $3::uuid, told = told + $4::int, ended_at = CASE WHEN $5 THEN clock_timestamp() END,
          claimed_until = clock_timestamp() + make_interval(secs => $6)
        WHERE environment_id = $1::uuid AND id = $2::uuid`,
      values: [told.environmentId, told.id, told.after, told.told, told.isLast, claimSeconds],
    })
    return (rowCount ?? 0) > 0
  }
}
