import type pg from 'pg'
import type { EntitlementService } from '../../entitlement/service.js'
import type { EpochMs } from '../../kernel/clock.js'
import { unavailable } from '../../kernel/problem.js'
import { type EndedPeriod, findEndedPeriods } from '../../metering/counting/ended-periods.js'
import type { Logger } from '../../platform/logger.js'
import { nodesOf } from '../../platform/redis/cluster.js'
import type { Redis } from '../../platform/redis.js'
import { changeChannel } from '../wire/change-message.js'
import { buildableStates } from './buildable-states.js'
import { turnoverMessages } from './change-messages.js'
import type { ChangeSinks } from './delivery.js'

/** Who builds the states may have a clock that is late by so much. */
const delayMs = 5_000
/** A month ends for all customers at once. With the delay and the pause between two sweeps it stays below a minute. */
const spreadMs = 35_000
/** Periods that are looked for in one step. */
const periodsPerStep = 1_000
/** Customers whose states are read in one snapshot, and told together. */
const customersPerRead = 50
/** Somebody who has listened for so long has read the state of before. */
const lookBackMs = 60_000
/** While one process tells an environment's, others leave it alone. One that is killed is followed after so long. */
const leaseSeconds = 30
/** Longer than any process is away whose listeners are still there. */
const positionSeconds = 3_600

/** An environment that somebody listens to, by its own time. */
interface Listened {
  environmentId: string
  now: EpochMs
  isTestClock: boolean
}

/**
 * Tells the usage of the new period when one has ended by time: nothing is committed then that would tell it. Only to environments that somebody listens
 * to, only of customers that had usage, each at its own moment within a minute. May run in several processes: how far an environment is told is kept in
 * Redis, under a lease; what is told twice after all says the same.
 */
export class EndedPeriods {
  readonly #pool: pg.Pool
  readonly #redis: Redis
  readonly #prefix: string
  readonly #entitlements: Pick<EntitlementService, 'states'>
  readonly #sinks: Pick<ChangeSinks, 'publish'>
  readonly #log: Logger

  constructor(parts: {
    pool: pg.Pool
    redis: Redis
    /** Of the channels. */
    prefix: string
    entitlements: Pick<EntitlementService, 'states'>
    sinks: Pick<ChangeSinks, 'publish'>
    log: Logger
  }) {
    this.#pool = parts.pool
    this.#redis = parts.redis
    this.#prefix = parts.prefix
    this.#entitlements = parts.entitlements
    this.#sinks = parts.sinks
    this.#log = parts.log
  }

  /** Tells what has its turn by now, a step of each environment in turn, so that none waits for a large one. */
  async tell(signal?: AbortSignal): Promise<void> {
    let waiting = await this.#listened()
    while (waiting.length > 0 && !signal?.aborted) {
      const unfinished: Listened[] = []
      for (const environment of waiting) {
        // One in trouble holds up no other: it has its next turn with the next sweep.
        const isAll = await this.#step(environment, signal).catch((error: unknown) => {
          this.#log.warn({ err: error, environmentId: environment.environmentId }, 'ends of usage periods could not be told')
          return true
        })
        if (!isAll) unfinished.push(environment)
      }
      waiting = unfinished
    }
  }

  /** A socket holds the channel of its environment, in whichever web process it ends. */
  async #listened(): Promise<Listened[]> {
    const before = changeChannel(this.#prefix, '')
    const pattern = `${before.replace(/[\\*?[\]]/g, '\\$&')}*`
    // A node knows of its own subscribers. One that does not answer has none.
    const heard = await Promise.allSettled(nodesOf(this.#redis).map((node) => node.pubsub('CHANNELS', pattern) as Promise<string[]>))
    const channels = [...new Set(heard.flatMap((outcome) => (outcome.status === 'fulfilled' ? outcome.value : [])))]
    if (channels.length === 0 && heard.some(({ status }) => status === 'rejected')) throw unavailable('Redis does not say who listens')
    if (channels.length === 0) return []
    const { rows } = await this.#pool.query<Listened>({
      text: `
        SELECT id AS "environmentId", environment_clock(id)::float8 AS now, test_clock IS NOT NULL AS "isTestClock"
        FROM environment WHERE id::text = ANY($1::text[])`,
      values: [channels.map((channel) => channel.slice(before.length))],
    })
    return rows
  }

  /** False: there is more. */
  async #step(environment: Listened, signal?: AbortSignal): Promise<boolean> {
    const { environmentId, now, isTestClock } = environment
    const lease = `${this.#prefix}:ended-periods:lease:${environmentId}`
    const position = `${this.#prefix}:ended-periods:told:${environmentId}`
    if ((await this.#redis.set(lease, '', 'EX', leaseSeconds, 'NX')) === null) return true
    try {
      const told = await this.#redis.get(position)
      const after = told === null ? now - lookBackMs : Number(told)
      // Also the first step begins there again when it fails.
      if (told === null) await this.#redis.set(position, after, 'EX', positionSeconds)
      // Time that is moved by hand stands still in between: nobody's turn would come later.
      const spread = isTestClock ? { delayMs: 0, spreadMs: 0 } : { delayMs, spreadMs }
      const ended = await findEndedPeriods(this.#pool, environmentId, { after, until: now, ...spread, limit: periodsPerStep })
      const isAll = ended.length < periodsPerStep
      if (!(await this.#tellCustomers(environmentId, byCustomer(ended), signal))) return true
      await this.#redis.set(position, isAll ? now : ended.at(-1)!.turnAt, 'EX', positionSeconds)
      return isAll
    } finally {
      await this.#redis.del(lease)
    }
  }

  /** False: told to stop before all were told. A customer whose state cannot be built holds up nobody else; fails while nobody's can. */
  async #tellCustomers(environmentId: string, ended: ReadonlyMap<string, EndedPeriod[]>, signal?: AbortSignal): Promise<boolean> {
    const customerIds = [...ended.keys()]
    for (let start = 0; start < customerIds.length; start += customersPerRead) {
      if (signal?.aborted) return false
      const together = customerIds.slice(start, start + customersPerRead)
      const states = await buildableStates(this.#entitlements, environmentId, together, (customerId, error) =>
        this.#log.warn({ err: error, environmentId, customerId }, 'the end of a usage period could not be told'),
      )
      const messages = states.flatMap((state) => turnoverMessages(state, ended.get(state.customerId)!))
      if (messages.length > 0) await this.#sinks.publish(messages)
    }
    return true
  }
}

function byCustomer(ended: readonly EndedPeriod[]): Map<string, EndedPeriod[]> {
  const groups = new Map<string, EndedPeriod[]>()
  for (const period of ended) groups.set(period.customerId, [...(groups.get(period.customerId) ?? []), period])
  return groups
}
