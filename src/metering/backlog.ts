import type { Redis } from 'ioredis'
import { Gauge, type Registry } from '../platform/metrics.js'
import type { JobQueue } from '../platform/queue.js'

export interface BacklogLimits {
  /** Jobs that wait in one queue: some seconds of work for its workers. */
  maxWaitingJobs: number
  /** Memory that Redis uses, in bytes; null: as much as it has. */
  maxRedisBytes: number | null
}

const refreshMs = 500

/**
 * How much usage waits to be stored or counted, looked at twice a second while calls come. Above a mark the door refuses: a queue that grows faster than
 * it is worked off ends with a Redis that refuses everybody.
 */
export class Backlog {
  readonly #parts: { redis: Redis; queues: Pick<JobQueue<unknown>, 'waiting'>[]; limits: BacklogLimits }
  #refreshedAt = Number.NEGATIVE_INFINITY
  #isTooLong = false

  constructor({
    metrics,
    ...parts
  }: { redis: Redis; queues: Pick<JobQueue<unknown>, 'waiting'>[]; limits: BacklogLimits; metrics: Registry }) {
    this.#parts = parts
    const backlog = this
    new Gauge({
      name: 'tollgate_usage_refused_for_backlog',
      help: '1 while the door refuses usage because too much of it waits',
      registers: [metrics],
      collect() {
        this.set(backlog.#isTooLong ? 1 : 0)
      },
    })
  }

  /** As of the last look, and has it looked again. What cannot be looked at is not too long: adding a job will tell. */
  isTooLong(): boolean {
    if (performance.now() - this.#refreshedAt > refreshMs) {
      this.#refreshedAt = performance.now()
      this.refresh().catch(() => {
        this.#isTooLong = false
      })
    }
    return this.#isTooLong
  }

  async refresh(): Promise<void> {
    const { redis, queues, limits } = this.#parts
    const [memory, ...waiting] = await Promise.all([redis.info('memory'), ...queues.map((queue) => queue.waiting())])
    const used = Number(/^used_memory:(\d+)/m.exec(memory)?.[1] ?? 0)
    this.#isTooLong = waiting.some((jobs) => jobs > limits.maxWaitingJobs) || (limits.maxRedisBytes !== null && used > limits.maxRedisBytes)
  }
}
