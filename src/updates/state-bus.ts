import { performance } from 'node:perf_hooks'
import { newId } from '../kernel/id.js'
import { Counter, Histogram, latencyBuckets } from '../platform/metrics.js'
import type { Life } from '../platform/process.js'
import type { QueueConnection } from '../platform/queue.js'
import { openRedis, type Redis } from '../platform/redis.js'
import type { HeldChange } from './held-change.js'

/**
 * How long a process may trust what it holds without a sign that it hears everything. An announcement waits no longer than this for those that do not
 * acknowledge it: by then they do not trust what they hold.
 */
const leaseMs = 1_000
/** Several in a lease, so that a slow moment of Redis or of the process costs no trust. */
const beatMs = 200

/** On an environment's channel. `sender` is absent when nobody waits for an acknowledgement. */
interface Announcement {
  sender?: string
  number?: number
  changes: HeldChange[]
}

const channelOf = (prefix: string, environmentId: string): string => `${prefix}:held-changes:${environmentId}`
const acknowledgementsOf = (prefix: string, sender: string): string => `${prefix}:held-changes-heard:${sender}`

/** For workers, which answer nobody that has to read its own write: sent, and not waited for. */
export async function publishHeldChanges(redis: Redis, prefix: string, environmentId: string, changes: HeldChange[]): Promise<void> {
  await redis.publish(channelOf(prefix, environmentId), JSON.stringify({ changes } satisfies Announcement))
}

/** Hears changes in the order in which they happened to be published; see `README.md` for what it is relied upon for. */
export interface HeldChangeListener {
  apply(environmentId: string, changes: readonly HeldChange[]): void
  /** Changes may have been missed. */
  forgetAll(): void
}

/**
 * Keeps the memories of all web processes in step. Redis delivers to one connection in order, so a ping that comes back on the subscriber's connection
 * proves that everything published before it was sent has been heard.
 */
export class StateBus {
  readonly #id = newId()
  readonly #prefix: string
  /** The channel on which others say that they have heard. */
  readonly #acknowledgements: string
  /** How the JSON of its own announcements begins, up to their number. */
  readonly #ownStart = `{"sender":"${this.#id}","number":`
  readonly #subscriber: Redis
  readonly #publisher: Redis
  readonly #life: Life
  readonly #listener: HeldChangeListener
  /** Environments by channel; true once Redis has confirmed. */
  readonly #channels = new Map<string, { environmentId: string; isHeard: boolean }>()
  readonly #unheard = new Map<number, { heard: number; expected: number; done: () => void }>()
  readonly #seconds: Histogram
  readonly #lost: Counter
  #announcements = 0
  #trustedUntil = 0
  #connection = 0
  #isBeating = false

  constructor({ life, queues, listener }: { life: Life; queues: QueueConnection; listener: HeldChangeListener }) {
    this.#prefix = queues.prefix
    this.#acknowledgements = acknowledgementsOf(queues.prefix, this.#id)
    this.#life = life
    this.#listener = listener
    this.#publisher = openRedis(life, queues.redisUrl, 'request')
    this.#subscriber = openRedis(life, queues.redisUrl, 'subscriber')
    const registers = [life.metrics]
    this.#seconds = new Histogram({
      name: 'tollgate_announcement_seconds',
      help: 'From the commit of a change until every web process knew of it',
      buckets: latencyBuckets,
      registers,
    })
    this.#lost = new Counter({
      name: 'tollgate_announcements_unheard_total',
      help: 'Announcements that some web process did not acknowledge, or that Redis did not take',
      registers,
    })
    this.#subscriber.on('message', (channel: string, text: string) => this.#receive(channel, text))
    this.#subscriber.on('close', () => this.#interrupt())
    this.#subscriber.on('ready', () => void this.#resume())
    life.open(
      'lease of held states',
      setInterval(() => void this.#beat(), beatMs),
      clearInterval,
    )
  }

  /** Whether everything that was announced until now has been heard here. Asked for the first time, it begins to listen. */
  isTrusted(environmentId: string): boolean {
    const channel = this.#channels.get(channelOf(this.#prefix, environmentId))
    if (!channel) this.#listen(environmentId)
    else if (channel.isHeard && performance.now() < this.#trustedUntil) return true
    void this.#beat()
    return false
  }

  /**
   * Answers when no process answers from what it held before: each has acknowledged the changes, or has lost its trust in what it holds. Never fails:
   * the change is committed, and its delivery tells everybody once more.
   */
  announce(environmentId: string, changes: HeldChange[]): Promise<void> {
    if (changes.length === 0) return Promise.resolve()
    this.#listener.apply(environmentId, changes)
    const startedAt = performance.now()
    this.#announcements += 1
    const number = this.#announcements
    return new Promise((resolve) => {
      const end = (isHeard: boolean) => {
        clearTimeout(lease)
        this.#unheard.delete(number)
        if (!isHeard) this.#lost.inc()
        this.#seconds.observe((performance.now() - startedAt) / 1000)
        resolve()
      }
      const lease = setTimeout(end, leaseMs, false)
      this.#unheard.set(number, { heard: 0, expected: Number.POSITIVE_INFINITY, done: () => end(true) })
      const announcement: Announcement = { sender: this.#id, number, changes }
      this.#publisher
        .publish(channelOf(this.#prefix, environmentId), JSON.stringify(announcement))
        // Counted from when it may have been published at the latest.
        .finally(() => this.#unheard.has(number) && lease.refresh())
        .then((receivers) => this.#expect(number, receivers))
        .catch(() => undefined)
    })
  }

  #expect(number: number, receivers: number): void {
    const unheard = this.#unheard.get(number)
    if (!unheard) return
    unheard.expected = receivers
    if (unheard.heard >= receivers) unheard.done()
  }

  #heard(number: number): void {
    const unheard = this.#unheard.get(number)
    if (!unheard) return
    unheard.heard += 1
    if (unheard.heard >= unheard.expected) unheard.done()
  }

  #receive(channelName: string, text: string): void {
    const channel = this.#channels.get(channelName)
    if (channelName === this.#acknowledgements) this.#heard(Number(text))
    // Its own were applied when they were announced.
    else if (text.startsWith(this.#ownStart)) this.#heard(Number.parseInt(text.slice(this.#ownStart.length), 10))
    else if (channel) this.#hear(channel.environmentId, channelName, text)
  }

  #hear(environmentId: string, channelName: string, text: string): void {
    try {
      const { changes, sender, number } = JSON.parse(text) as Announcement
      this.#listener.apply(environmentId, changes)
      // One that does not arrive is waited for until the lease is over.
      if (sender) this.#publisher.publish(acknowledgementsOf(this.#prefix, sender), String(number)).catch(() => undefined)
    } catch (error) {
      this.#life.log.error({ err: error, channel: channelName }, 'held changes could not be read')
      this.#listener.forgetAll()
    }
  }

  #listen(environmentId: string): void {
    const name = channelOf(this.#prefix, environmentId)
    const channel = { environmentId, isHeard: false }
    this.#channels.set(name, channel)
    void this.#subscribe([name])
  }

  async #subscribe(names: string[]): Promise<void> {
    const connection = this.#connection
    try {
      await this.#subscriber.subscribe(this.#acknowledgements, ...names)
    } catch (error) {
      this.#life.log.debug({ err: error }, 'held changes cannot be heard yet')
      return
    }
    if (connection !== this.#connection) return
    for (const name of names) {
      const channel = this.#channels.get(name)
      if (channel) channel.isHeard = true
    }
    await this.#beat()
  }

  #interrupt(): void {
    this.#connection += 1
    this.#trustedUntil = 0
    for (const channel of this.#channels.values()) channel.isHeard = false
    this.#listener.forgetAll()
  }

  async #resume(): Promise<void> {
    await this.#subscribe([...this.#channels.keys()])
  }

  /** Counted from before the ping was sent: what was published later may still be on its way. */
  async #beat(): Promise<void> {
    if (this.#isBeating || this.#channels.size === 0 || this.#subscriber.status !== 'ready') return
    this.#isBeating = true
    const connection = this.#connection
    const sentAt = performance.now()
    try {
      await this.#subscriber.ping()
      if (connection === this.#connection) this.#trustedUntil = sentAt + leaseMs
    } catch (error) {
      this.#life.log.debug({ err: error }, 'no sign of life from Redis')
    } finally {
      this.#isBeating = false
    }
  }
}
