import { setTimeout as sleep } from 'node:timers/promises'
import type { Hearing } from '../../changes/hearing.js'
import { type ChangeKind } from '../../changes/model/change.js'
import { unavailable } from '../../kernel/problem.js'
import type { Logger } from '../../platform/logger.js'
import type { Life } from '../../platform/process.js'
import type { Redis } from '../../platform/redis.js'
import { every } from '../../platform/timer.js'
import type { AlertMessage } from '../../updates/wire/alert-message.js'
import { type ChangeMessage, changeChannel } from '../../updates/wire/change-message.js'
import type { FairTurns } from '../access/fair-turns.js'
import { ChangeQueue, type PushedMessage } from './change-queue.js'

/**
 * Of the changes of one environment that wait for a turn or for a listener. Some seconds of a busy environment: who is further behind begins afresh.
 */
const defaultMaxWaitingBytes = 32 * 1024 * 1024
/** An object that was read from JSON takes about this many times its text, and at least this much. */
const [bytesPerCharacter, leastBytes] = [4, 500]

const beatMs = 1_000
/** Who listens through this process is not told for longer that it hears everything while it does not. */
const silenceMs = 5_000

/** The changes of environments as they are delivered. Redis is asked only for the environments that somebody listens to. */
export class ChangeFeed {
  readonly #redis: Redis
  readonly #prefix: string
  readonly #turns: FairTurns
  readonly #log: Logger
  readonly #maxWaitingBytes: number
  readonly #channels = new Map<string, Channel>()
  readonly #gapListeners: Array<() => void> = []

  /** `redis` is a subscriber's connection, used for nothing else. */
  constructor({ redis, prefix, turns, log, maxWaitingBytes = defaultMaxWaitingBytes }: ChangeFeedOptions) {
    this.#redis = redis
    this.#prefix = prefix
    this.#turns = turns
    this.#log = log
    this.#maxWaitingBytes = maxWaitingBytes
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

  /** Whoever listens begins afresh. */
  tellGap(): void {
    for (const listener of this.#gapListeners) listener()
  }

  /** Finds out that nothing is heard any more, be it that Redis is away or that the connection only looks open. */
  watch(life: Life, hearing: Pick<Hearing, 'prove'>): void {
    let heardAt = performance.now()
    every(life, 'hearing of changes', beatMs, async () => {
      const heardUntil = await hearing.prove(beatMs).catch(() => null)
      if (heardUntil !== null || this.#channels.size === 0) heardAt = performance.now()
      if (performance.now() - heardAt < silenceMs) return
      this.#log.warn('changes are not heard any more')
      heardAt = performance.now()
      this.tellGap()
    })
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

  /**
   * Changes of the environment from now on, until `signal` aborts. Fails with ListenerLags when too much waits for the environment, and more for this
   * listener than for others.
   */
  changes(environmentId: string, { kinds, customerId, signal }: ListenOptions): AsyncGenerator<ChangeMessage, void> {
    const isWanted = (message: PushedMessage): message is ChangeMessage =>
      message.kind !== 'alert' && kinds.includes(message.kind) && (customerId === null || message.customerId === customerId)
    return this.#listen(environmentId, isWanted, signal)
  }

  /** The same for thresholds that are reached. */
  alerts(environmentId: string, signal: AbortSignal): AsyncGenerator<AlertMessage, void> {
    return this.#listen(environmentId, (message): message is AlertMessage => message.kind === 'alert', signal)
  }

  async *#listen<Message extends PushedMessage>(
    environmentId: string,
    isWanted: (message: PushedMessage) => message is Message,
    signal: AbortSignal,
  ): AsyncGenerator<Message, void> {
    const channel = this.#open(environmentId)
    const queue = new ChangeQueue((bytes) => {
      channel.waitingBytes += bytes
    })
    channel.listeners.set(queue, isWanted)
    signal.addEventListener('abort', queue.end, { once: true })
    if (signal.aborted) queue.end()
    try {
      for (let change = await queue.take(); change; change = await queue.take()) yield change as Message
    } finally {
      queue.end()
      channel.listeners.delete(queue)
      signal.removeEventListener('abort', queue.end)
      this.#release(environmentId, channel)
    }
  }

  #open(environmentId: string): Channel {
    const name = changeChannel(this.#prefix, environmentId)
    const known = this.#channels.get(name)
    const channel = known ?? {
      environmentId,
      holders: 0,
      listeners: new Map(),
      texts: [],
      waitingBytes: 0,
      isRead: false,
      subscribed: this.#redis.subscribe(name),
    }
    channel.holders += 1
    this.#channels.set(name, channel)
    return channel
  }

  #release(environmentId: string, channel: Channel): void {
    channel.holders -= 1
    if (channel.holders > 0) return
    const name = changeChannel(this.#prefix, environmentId)
    this.#channels.delete(name)
    this.#redis.unsubscribe(name).catch((error: unknown) => this.#log.debug({ err: error }, 'unsubscribing failed'))
  }

  /** Many may arrive at once, and states are large: each is read when its environment has a turn. */
  #receive(name: string, text: string): void {
    const channel = this.#channels.get(name)
    if (!channel || channel.listeners.size === 0) return
    channel.texts.push(text)
    channel.waitingBytes += bytesOf(text)
    if (channel.waitingBytes > this.#maxWaitingBytes) this.#giveUp(channel)
    if (!channel.isRead) void this.#read(name, channel)
  }

  async #read(name: string, channel: Channel): Promise<void> {
    channel.isRead = true
    while (channel.texts.length > 0) {
      await this.#turns.take(channel.environmentId)
      const text = channel.texts.shift()
      if (text !== undefined) this.#tell(name, channel, text)
    }
    channel.isRead = false
  }

  #tell(name: string, channel: Channel, text: string): void {
    const bytes = bytesOf(text)
    channel.waitingBytes -= bytes
    try {
      const waiting = { change: JSON.parse(text) as PushedMessage, bytes, holders: 0 }
      for (const [queue, isWanted] of channel.listeners) if (isWanted(waiting.change)) queue.add(waiting)
    } catch (error) {
      this.#log.error({ err: error, channel: name }, 'change message could not be read')
    }
  }

  /** Who is furthest behind is given up first. */
  #giveUp(channel: Channel): void {
    const behind = [...channel.listeners.keys()].sort((one, other) => other.length - one.length)
    this.#log.warn({ environmentId: channel.environmentId, bytes: channel.waitingBytes }, 'listeners do not keep up with the changes')
    for (const queue of behind) {
      if (channel.waitingBytes <= this.#maxWaitingBytes || queue.length === 0) break
      queue.giveUp()
    }
    if (channel.waitingBytes <= this.#maxWaitingBytes) return
    // What was not read yet is too much by itself, and everybody misses it.
    channel.waitingBytes -= bytesOfAll(channel.texts.splice(0))
    for (const queue of behind) queue.giveUp()
  }

  /** ioredis subscribes again by itself, at a moment it does not tell: asking once more tells when it is done. */
  async #resume(): Promise<void> {
    try {
      await this.#redis.subscribe(...this.#channels.keys())
      this.#log.info('listening to changes again, what came meanwhile was missed')
      this.tellGap()
    } catch (error) {
      this.#log.warn({ err: error }, 'listening to changes failed')
    }
  }
}

interface ChangeFeedOptions {
  redis: Redis
  prefix: string
  turns: FairTurns
  log: Logger
  /** Of one environment. */
  maxWaitingBytes?: number
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
  environmentId: string
  holders: number
  /** Those who listen, each with what it wants to hear of. */
  listeners: Map<ChangeQueue, (message: PushedMessage) => boolean>
  /** Not read yet. */
  texts: string[]
  /** Of these and of what listeners have not taken, estimated. */
  waitingBytes: number
  isRead: boolean
  subscribed: Promise<unknown>
}

const bytesOf = (text: string) => leastBytes + bytesPerCharacter * text.length
const bytesOfAll = (texts: readonly string[]) => texts.reduce((sum, text) => sum + bytesOf(text), 0)
