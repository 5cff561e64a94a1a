import { EventEmitter, on } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ChangeKind } from '../../changes/model/change.js'
import { unavailable } from '../../kernel/problem.js'
import type { Logger } from '../../platform/logger.js'
import type { Redis } from '../../platform/redis.js'
import { type ChangeMessage, changeChannel } from '../../updates/wire/change-message.js'

/** The changes of environments as they are delivered. Redis is asked only for the environments that somebody listens to. */
export class ChangeFeed {
  readonly #redis: Redis
  readonly #prefix: string
  readonly #log: Logger
  readonly #channels = new Map<string, Channel>()
  readonly #gapListeners: Array<() => void> = []

  /** `redis` is a subscriber's connection, used for nothing else. */
  constructor({ redis, prefix, log }: { redis: Redis; prefix: string; log: Logger }) {
    this.#redis = redis
    this.#prefix = prefix
    this.#log = log
    redis.on('message', (channel: string, text: string) => this.#receive(channel, text))
    let isInterrupted = false
    redis.on('close', () => {
      isInterrupted = true
    })
    redis.on('ready', () => {
      if (isInterrupted && this.#channels.size > 0) void this.#resume()
      isInterrupted = false
    })
  }

  /** Called when changes may have been missed: whoever listened does not know any more what is current. */
  onGap(listener: () => void): void {
    this.#gapListeners.push(listener)
  }

  /**
   * Answers once the changes of the environment arrive here, and with it what ends that. A socket holds its environment, so that a subscription
   * on it misses nothing from the moment it is received.
   */
  async hold(environmentId: string): Promise<() => void> {
    const channel = this.#open(environmentId)
    try {
      await withinDeadline(channel.subscribed)
    } catch (error) {
      this.#release(environmentId, channel)
      throw unavailable('Updates cannot be listened to at the moment', error)
    }
    return () => this.#release(environmentId, channel)
  }

  /** Changes of the environment from now on, until `signal` aborts. */
  async *changes(environmentId: string, { kinds, customerId, signal }: ListenOptions): AsyncGenerator<ChangeMessage, void> {
    const channel = this.#open(environmentId)
    try {
      for await (const [change] of on(channel.emitter, 'change', { signal }) as AsyncIterable<[ChangeMessage]>) {
        if (kinds.includes(change.kind) && (customerId === null || change.customerId === customerId)) yield change
      }
    } catch (error) {
      if (!signal.aborted) throw error
    } finally {
      this.#release(environmentId, channel)
    }
  }

  #open(environmentId: string): Channel {
    const name = changeChannel(this.#prefix, environmentId)
    const known = this.#channels.get(name)
    const channel = known ?? { emitter: new EventEmitter().setMaxListeners(0), listeners: 0, subscribed: this.#redis.subscribe(name) }
    channel.listeners += 1
    this.#channels.set(name, channel)
    return channel
  }

  #release(environmentId: string, channel: Channel): void {
    channel.listeners -= 1
    if (channel.listeners > 0) return
    const name = changeChannel(this.#prefix, environmentId)
    this.#channels.delete(name)
    this.#redis.unsubscribe(name).catch((error: unknown) => this.#log.debug({ err: error }, 'unsubscribing failed'))
  }

  #receive(name: string, text: string): void {
    const channel = this.#channels.get(name)
    if (!channel) return
    try {
      channel.emitter.emit('change', JSON.parse(text) as ChangeMessage)
    } catch (error) {
      this.#log.error({ err: error, channel: name }, 'change message could not be read')
    }
  }

  /** ioredis subscribes again by itself, at a moment it does not tell: asking once more tells when it is done. */
  async #resume(): Promise<void> {
    try {
      await this.#redis.subscribe(...this.#channels.keys())
      this.#log.info('listening to changes again, what came meanwhile was missed')
      for (const listener of this.#gapListeners) listener()
    } catch (error) {
      this.#log.warn({ err: error }, 'listening to changes failed')
    }
  }
}

interface ListenOptions {
  kinds: readonly ChangeKind[]
  /** Only those of this customer; null: of all. */
  customerId: string | null
  signal: AbortSignal
}

/** The connection waits for a Redis that is away; a client should not. */
const subscribeTimeoutMs = 3_000

async function withinDeadline(subscribed: Promise<unknown>): Promise<void> {
  const deadline = new AbortController()
  const late = sleep(subscribeTimeoutMs, undefined, { signal: deadline.signal }).then(() => {
    throw new Error('no answer from Redis')
  })
  try {
    await Promise.race([subscribed, late])
  } finally {
    deadline.abort()
    late.catch(() => undefined)
  }
}

interface Channel {
  emitter: EventEmitter
  listeners: number
  subscribed: Promise<unknown>
}
