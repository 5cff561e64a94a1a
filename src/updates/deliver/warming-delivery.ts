import type pg from 'pg'
import type { EntitlementService } from '../../entitlement/service.js'
import { FairPlaces } from '../../environment/fair-places.js'
import { unavailable } from '../../kernel/problem.js'
import type { Logger } from '../../platform/logger.js'
import type { JobQueue } from '../../platform/queue.js'
import type { QueueMessage } from '../wire/queue-message.js'
import { buildableStates } from './buildable-states.js'
import { entitlementsMessage } from './change-messages.js'
import type { ChangeSinks } from './delivery.js'

/** Customers whose states are read in one snapshot. */
const customersPerRead = 50
/** While so many messages wait no more are told: changes have to come through between them. */
const mostWaiting = 500
/** With a queue of SQS nobody says how many wait: so many reads each time. And the claims of others are looked for in between. */
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
 * whose state cannot be built is left out, and not counted. Environments read in turns, and none waits for the queue of another.
 */
export class WarmingDelivery {
  readonly #pool: pg.Pool
  readonly #entitlements: Pick<EntitlementService, 'states'>
  readonly #sinks: Pick<ChangeSinks, 'enqueue'>
  readonly #queueOf: (environmentId: string) => Pick<JobQueue<QueueMessage>, 'waiting'>
  readonly #log: Logger
  /** For reading states. */
  readonly #places = new FairPlaces({ inAll: 1, ofOwner: 1 })
  /** By environment: one that takes longer than its claim is not begun twice. */
  readonly #turns = new Map<string, Promise<void>>()

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

  /** Begins a turn of each that is under way and in nobody's hands. Waits for none of it: one that is slow would keep the others from their next. */
  async work(signal: AbortSignal): Promise<void> {
    for (const claimed of await this.#claim([...this.#turns.keys()])) {
      const { environmentId, id } = claimed
      const notYet = (error: unknown) => this.#log.warn({ err: error, environmentId }, 'a persistent cache is not warmed further yet')
      const turn = this.#turn(claimed, signal)
        .catch(notYet)
        .then(() => this.#release(environmentId, id))
        .catch(notYet)
        .finally(() => this.#turns.delete(environmentId))
      this.#turns.set(environmentId, turn)
    }
  }

  /** Ends when the turns that have begun have ended. */
  async workedAll(): Promise<void> {
    await Promise.all(this.#turns.values())
  }

  async #release(environmentId: string, id: string): Promise<void> {
    await this.#pool.query('UPDATE cache_warming SET claimed_until = NULL WHERE environment_id = $1::uuid AND id = $2::uuid', [
      environmentId,
      id,
    ])
  }

  /** Without those that are in hand here: another warming of one has its turn afterwards. */
  async #claim(inHand: readonly string[]): Promise<Claimed[]> {
    const { rows } = await this.#pool.query<Claimed>({
      name: 'updates_claim_warmings',
      text: `
        UPDATE cache_warming AS warming SET claimed_until = clock_timestamp() + make_interval(secs => $1)
        FROM environment
        WHERE environment.id = warming.environment_id AND environment.has_persistent_cache AND warming.ended_at IS NULL
          AND warming.environment_id <> ALL($2::uuid[])
          AND (warming.claimed_until IS NULL OR warming.claimed_until < clock_timestamp())
        RETURNING warming.environment_id AS "environmentId", warming.id, environment.persistent_cache_queue_url AS "queueUrl",
          warming.last_customer AS "lastCustomer"`,
      values: [claimSeconds, inHand],
    })
    return rows
  }

  async #turn({ environmentId, id, queueUrl, lastCustomer }: Claimed, signal: AbortSignal): Promise<void> {
    let after = lastCustomer
    for (let reads = 0; !signal.aborted && reads < readsPerTurn; reads++) {
      if (queueUrl === null && (await this.#queueOf(environmentId).waiting()) >= mostWaiting) return
      const { customers, states, leftOut } = await this.#places.run(environmentId, () => this.#read(environmentId, after))
      if (states.length > 0) {
        const isTold = await this.#sinks.enqueue(states.map(entitlementsMessage))
        if (!(await isTold())) throw unavailable('The queue of the environment has not taken it')
      }
      const before = after
      after = customers.at(-1)?.id ?? after
      const isLast = customers.length < customersPerRead
      const isOurs = await this.#recordTold({ environmentId, id, before, after, told: customers.length - leftOut, isLast })
      if (isLast || !isOurs) return
    }
  }

  async #read(environmentId: string, after: string | null) {
    const customers = await this.#customersAfter(environmentId, after)
    let leftOut = 0
    const customerIds = customers.map(({ refId }) => refId)
    if (customers.length === 0) return { customers, states: [], leftOut }
    const states = await buildableStates(this.#entitlements, environmentId, customerIds, (customerId, error) => {
      leftOut += 1
      this.#log.error({ err: error, environmentId, customerId }, 'a customer is left out of warming')
    })
    return { customers, states, leftOut }
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

  /** False: another one has begun, or another process has gone on with it. */
  async #recordTold(told: {
    environmentId: string
    id: string
    before: string | null
    after: string | null
    told: number
    isLast: boolean
  }): Promise<boolean> {
    const { rowCount } = await this.#pool.query({
      name: 'updates_record_warmed',
      text: `
        UPDATE cache_warming
        SET last_customer = $3::uuid, told = told + $4::int, ended_at = CASE WHEN $5 THEN clock_timestamp() END,
          claimed_until = clock_timestamp() + make_interval(secs => $6)
        WHERE environment_id = $1::uuid AND id = $2::uuid AND last_customer IS NOT DISTINCT FROM $7::uuid AND ended_at IS NULL`,
      values: [told.environmentId, told.id, told.after, told.told, told.isLast, claimSeconds, told.before],
    })
    return (rowCount ?? 0) > 0
  }
}
