import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { newId } from '../kernel/id.js'
import { Counter, Histogram, latencyBuckets } from '../platform/metrics.js'
import type { Life } from '../platform/process.js'
import type { QueueConnection } from '../platform/queue.js'
import { openRedis, type Redis } from '../platform/redis.js'
import type { HeldChange } from './model/change.js'
import {
  type AnnouncementTicket,
  announcementChannel,
  announcementOf,
  heardChannel,
  packHeard,
  unpackAnnouncement,
  unpackHeard,
} from './wire/announcements.js'

/**
 * How long a process may trust what it holds without a sign that it hears everything. An announcement waits no longer than this for those that do not
 * acknowledge it: by then they do not trust what they hold.
 */
const leaseMs = 1_000
/** How long a change is tried to be published. */
const publishMs = 2_000
const publishPauseMs = 50
/** Several in a lease, so that a slow moment of Redis or of the process costs no trust. */
const beatMs = 200

/** An announcement that a worker publishes for this process, with what it answers. */
export interface ExpectedAnnouncement {
  ticket: AnnouncementTicket
  /** Answers when as many processes as heard it have acknowledged it, or have lost their trust in what they hold. Never fails. */
  heardBy(receivers: number): Promise<void>
  /** It is not waited for any more. */
  forget(): void
}

/** Who has acknowledged an announcement, and how many are to. */
interface Unheard {
  by: Set<string>
  receivers: number
  done: () => void
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
  readonly #subscriber: Redis
  readonly #publisher: Redis
  readonly #life: Life
  readonly #listener: HeldChangeListener
  /** Environments by channel; true once Redis has confirmed. */
  readonly #channels = new Map<string, { environmentId: string; isHeard: boolean }>()
  readonly #unheard = new Map<number, Unheard>()
  readonly #seconds: Histogram
  readonly #lost: Counter
  #announcements = 0
  #trustedUntil = 0
  #connection = 0
  #isBeating = false

  constructor({ life, queues, listener }: { life: Life; queues: QueueConnection; listener: HeldChangeListener }) {
    this.#prefix = queues.prefix
    this.#acknowledgements = heardChannel(queues.prefix, this.#id)
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
    const channel = this.#channels.get(announcementChannel(this.#prefix, environmentId))
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
    const { ticket } = this.expect()
    const announcement = announcementOf(this.#prefix, environmentId, changes, ticket)
    return this.#heardByAll(
      ticket.number,
      untilPublished(() => this.#publisher.publish(...announcement)),
    )
  }

  /** For changes that a worker announces. They are applied here when they are heard. */
  expect(): ExpectedAnnouncement {
    this.#announcements += 1
    const number = this.#announcements
    this.#unheard.set(number, { by: new Set(), receivers: Number.POSITIVE_INFINITY, done: () => undefined })
    return {
      ticket: { sender: this.#id, number },
      heardBy: (receivers) => this.#heardByAll(number, Promise.resolve(receivers)),
      forget: () => this.#unheard.delete(number),
    }
  }

  #heardByAll(number: number, receivers: Promise<number>): Promise<void> {
    const startedAt = performance.now()
    const unheard = this.#unheard.get(number)!
    return new Promise((resolve) => {
      const end = (isHeard: boolean) => {
        clearTimeout(lease)
        this.#unheard.delete(number)
        if (!isHeard) this.#lost.inc()
        this.#seconds.observe((performance.now() - startedAt) / 1000)
        resolve()
      }
      let lease: NodeJS.Timeout | undefined
      unheard.done = () => end(true)
      receivers
        // Counted from when it was published, or may have been at the latest.
        .finally(() => {
          if (this.#unheard.has(number)) lease = setTimeout(end, leaseMs, false)
        })
        .then((count) => {
          unheard.receivers = count
          this.#acknowledged(number)
        })
        .catch(() => undefined)
    })
  }

  /** `by` may say so more than once: a batch that is worked on twice is announced twice. */
  #acknowledged(number: number, by?: string): void {
    const unheard = this.#unheard.get(number)
    if (!unheard) return
    if (by !== undefined) unheard.by.add(by)
    if (unheard.by.size >= unheard.receivers) unheard.done()
  }

  #receive(channelName: string, text: string): void {
    if (channelName === this.#acknowledgements) {
      const { number, by } = unpackHeard(text)
      this.#acknowledged(number, by)
      return
    }
    const channel = this.#channels.get(channelName)
    if (channel) this.#hear(channel.environmentId, channelName, text)
  }

  #hear(environmentId: string, channelName: string, text: string): void {
    try {
      const { changes, ticket } = unpackAnnouncement(text)
      this.#listener.apply(environmentId, changes)
      if (ticket?.sender === this.#id) this.#acknowledged(ticket.number, this.#id)
      // One that does not arrive is waited for until the lease is over.
      else if (ticket)
        this.#publisher.publish(heardChannel(this.#prefix, ticket.sender), packHeard(ticket.number, this.#id)).catch(() => undefined)
    } catch (error) {
      this.#life.log.error({ err: error, channel: channelName }, 'held changes could not be read')
      this.#listener.forgetAll()
    }
  }

  #listen(environmentId: string): void {
    const name = announcementChannel(this.#prefix, environmentId)
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

/**
 * What could not be published is published again: others hear well, and go on to trust what they hold. A Redis that is away for so long is away for them, too,
 * and they have lost their trust by then.
 */
async function untilPublished<T>(publish: () => Promise<T>): Promise<T> {
  const until = performance.now() + publishMs
  for (;;) {
    try {
      return await publish()
    } catch (error) {
      if (performance.now() >= until) throw error
      await sleep(publishPauseMs)
    }
  }
}
