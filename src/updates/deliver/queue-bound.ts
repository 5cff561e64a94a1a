import { Queue } from 'bullmq'
import { queuePrefix } from '../../platform/redis/slots.js'
import type { Redis } from '../../platform/redis.js'
import { environmentQueue } from './jobs.js'

/** Of one environment. Some minutes of a busy one, and far more than reading everything anew costs. */
const mostWaitingBytes = 128 * 1024 * 1024
/** Fewer are not weighed. */
const fewMessages = 500
/** Messages that are weighed for all. */
const sampled = 25
/** Redis does nothing else while it takes so many away. */
const discardedAtOnce = 500

/**
 * How much of Redis the messages to a persistent cache may take that nobody works off. Beyond it they are worth less than what they tell: a consumer that comes
 * back reads everything anew, which holds whatever has happened meanwhile.
 */
export class QueueBound {
  readonly #redis: Redis
  readonly #prefix: string
  readonly #mostBytes: number

  constructor({ redis, prefix, mostBytes = mostWaitingBytes }: { redis: Redis; prefix: string; mostBytes?: number }) {
    this.#redis = redis
    this.#prefix = prefix
    this.#mostBytes = mostBytes
  }

  /** By the size of some of those that wait. */
  async isExceeded(environmentId: string): Promise<boolean> {
    const { queue } = environmentQueue(environmentId)
    const key = `${queuePrefix(this.#prefix, queue)}:${queue}`
    const [waiting, delayed] = await Promise.all([this.#redis.llen(`${key}:wait`), this.#redis.zcard(`${key}:delayed`)])
    if (waiting + delayed < fewMessages) return false
    const positions = (count: number) => Array.from({ length: Math.min(count, sampled) }, (_, n) => Math.floor((n * count) / sampled))
    const ids = await Promise.all([
      ...positions(waiting).map((at) => this.#redis.lindex(`${key}:wait`, at)),
      ...positions(delayed).map(async (at) => (await this.#redis.zrange(`${key}:delayed`, at, at))[0] ?? null),
    ])
    const weights = await Promise.all(ids.map((id) => (id === null ? null : this.#redis.memory('USAGE', `${key}:${id}`))))
    const known = weights.filter((weight) => weight !== null)
    const mean = known.reduce((sum, weight) => sum + weight, 0) / Math.max(1, known.length)
    return (waiting + delayed) * mean > this.#mostBytes
  }

  /** Takes away what waits, oldest first; answers how many. What is in work stays. */
  async discard(environmentId: string): Promise<number> {
    const { queue: name } = environmentQueue(environmentId)
    const queue = new Queue(name, {
      connection: this.#redis,
      prefix: queuePrefix(this.#prefix, name),
      skipWaitingForReady: true,
      skipVersionCheck: true,
    })
    queue.on('error', () => undefined)
    try {
      let discarded = 0
      for (const state of ['wait', 'delayed'] as const)
        for (let lot = discardedAtOnce; lot >= discardedAtOnce; ) {
          lot = (await queue.clean(0, discardedAtOnce, state)).length
          discarded += lot
        }
      return discarded
    } finally {
      await queue.close()
    }
  }
}
