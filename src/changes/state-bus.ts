import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { newId } from '../kernel/id.js'
import { Counter, Histogram, latencyBuckets } from '../platform/metrics.js'
import type { Life } from '../platform/process.js'
import type { QueueConnection } from '../platform/queue.js'
import { openRedis, openSubscriber, type Redis } from '../platform/redis.js'
import { Hearing } from './hearing.js'
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
import { announceLua, holdersKey, type Listeners, leaseKey, leaseLua, leasePrefix, registerLua } from './wire/holders.js'

/**
 * How long a process may trust what it holds without a sign that it hears everything and is waited for. An announcement waits no longer than this for those
 * that do not acknowledge it: by then they do not trust what they hold.
 */
export const leaseMs = 1_000
/** How long a change is tried to be published. */
const publishMs = 2_000
const publishPauseMs = 50
/** Several in a lease, so that a slow moment of Redis or of the process costs no trust. */
const beatMs = 200
/** Environments that are registered in one step, during which Redis does nothing else. */
const registeredPerStep = 100

/** An announcement that a worker publishes for this process, with what it answers. */
export interface ExpectedAnnouncement {
  ticket: AnnouncementTicket
  /** Answers when each of the holders has acknowledged it, or has lost its trust in what it holds. Never fails. */
  heardBy(listeners: Listeners): Promise<void>
  /** It is not waited for any more. */
  forget(): void
}

/** Who has acknowledged an announcement, and who is to. */
interface Unheard {
  by: Set<string>
  /** Null: not known, or everybody that there may be. */
  holders: readonly string[] | null
  done: () => void
}

interface ScriptedRedis extends Redis {
  announceChanges(...keysAndArguments: string[]): Promise<[epoch: string, holders: string[]]>
  prolongLease(...keysAndArguments: (string | number)[]): Promise<[epoch: string, isKept: 0 | 1]>
  registerHolder(keyCount: number, ...keysAndArguments: string[]): Promise<null>
}

/** Hears changes in the order in which they happened to be published; see `README.md` for what it is relied upon for. */
export interface HeldChangeListener {
  apply(environmentId: string, changes: readonly HeldChange[]): void
  /** Changes may have been missed. */
  forgetAll(): void
}

/**
 * Keeps the memories of all web processes in step. A process answers from memory as long as its beats come back on the connection on which it hears changes,
 * and Redis has it among those that announcements wait for.
 */
export class StateBus {
  readonly #id = newId()
  readonly #prefix: string
  /** The channel on which others say that they have heard. */
  readonly #acknowledgements: string
  readonly #subscriber: Redis
  readonly #publisher: ScriptedRedis
  readonly #hearing: Hearing
  readonly #life: Life
  readonly #listener: HeldChangeListener
  /** Environments by channel; true once Redis has confirmed, and this process is registered. */
  readonly #channels = new Map<string, { environmentId: string; isHeard: boolean }>()
  readonly #unheard = new Map<number, Unheard>()
  readonly #seconds: Histogram
  readonly #lost: Counter
  #announcements = 0
  #trustedUntil = 0
  #connection = 0
  #isBeating = false
  /** Of Redis, and from when on all that trust what they hold are certainly registered there. */
  #epoch = { name: '', isWholeFrom: 0 }
  /** For all environments that it hears of, under a lease that has lasted since. */
  #isRegistered = false

  constructor({ life, queues, listener }: { life: Life; queues: QueueConnection; listener: HeldChangeListener }) {
    this.#prefix = queues.prefix
    this.#acknowledgements = heardChannel(queues.prefix, this.#id)
    this.#life = life
    this.#listener = listener
    const publisher = openRedis(life, queues.redisUrl, 'request')
    publisher.defineCommand('announceChanges', { numberOfKeys: 2, lua: announceLua })
    publisher.defineCommand('prolongLease', { numberOfKeys: 2, lua: leaseLua })
    publisher.defineCommand('registerHolder', { lua: registerLua })
    this.#publisher = publisher as ScriptedRedis
    this.#subscriber = openSubscriber(life, queues)
    this.#hearing = new Hearing({ subscriber: this.#subscriber, publisher, prefix: queues.prefix })
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
    const beat = setInterval(() => void this.#beat(), beatMs)
    life.open('lease of held states', beat, () => this.#leave(beat))
  }

  /** Whether everything that was announced until now has been heard here, which was proved less than `maxAgeMs` ago. Asked for the first time, it begins to listen. */
  isTrusted(environmentId: string, maxAgeMs = Number.POSITIVE_INFINITY): boolean {
    const channel = this.#channels.get(announcementChannel(this.#prefix, environmentId))
    if (!channel) this.#listen(environmentId)
    else if (channel.isHeard) {
      const leftMs = this.#trustedUntil - performance.now()
      if (leftMs > 0) return leaseMs - leftMs < maxAgeMs
    }
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
    this.#acknowledged(ticket.number, this.#id)
    const keys = [leasePrefix(this.#prefix), holdersKey(this.#prefix, environmentId)]
    const announcement = announcementOf(this.#prefix, environmentId, changes, ticket)
    const published = untilPublished(() => this.#publisher.announceChanges(...keys, ...announcement))
    return this.#heardByAll(
      ticket.number,
      published.then(([epoch, holders]) => ({ epoch, holders })),
    )
  }

  /** For changes that a worker announces. They are applied here when they are heard. */
  expect(): ExpectedAnnouncement {
    this.#announcements += 1
    const number = this.#announcements
    this.#unheard.set(number, { by: new Set(), holders: null, done: () => undefined })
    return {
      ticket: { sender: this.#id, number },
      heardBy: (listeners) => this.#heardByAll(number, Promise.resolve(listeners)),
      forget: () => this.#unheard.delete(number),
    }
  }

  #heardByAll(number: number, published: Promise<Listeners>): Promise<void> {
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
      published
        // Counted from when it was published, or may have been at the latest.
        .finally(() => {
          if (this.#unheard.has(number)) lease = setTimeout(end, leaseMs, false)
        })
        .then(({ epoch, holders }) => {
          this.#hearEpoch(epoch)
          if (performance.now() < this.#epoch.isWholeFrom) return
          unheard.holders = holders
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
    if (unheard.holders?.every((name) => unheard.by.has(name))) unheard.done()
  }

  /**
   * Another one: Redis was promoted, or started again. What was announced by then may not have been heard here, and who trusts what it holds may not be
   * registered there; leases of before are over when this one would be.
   */
  #hearEpoch(epoch: string): void {
    const before = this.#epoch.name
    if (epoch === before) return
    this.#epoch = { name: epoch, isWholeFrom: before === '' ? 0 : performance.now() + leaseMs }
    if (before === '') return
    this.#distrust()
    this.#listener.forgetAll()
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
      await this.#register(names)
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

  /** From then on announcements wait for this process while it has a lease. */
  async #register(names: string[]): Promise<void> {
    const environmentIds = names.flatMap((name) => this.#channels.get(name)?.environmentId ?? [])
    for (let start = 0; start < environmentIds.length; start += registeredPerStep) {
      const step = environmentIds.slice(start, start + registeredPerStep)
      const keys = [leasePrefix(this.#prefix), ...step.map((id) => holdersKey(this.#prefix, id))]
      await this.#publisher.registerHolder(keys.length, ...keys, this.#id)
    }
  }

  #interrupt(): void {
    this.#connection += 1
    this.#distrust()
    for (const channel of this.#channels.values()) channel.isHeard = false
    this.#listener.forgetAll()
  }

  #distrust(): void {
    this.#trustedUntil = 0
    this.#isRegistered = false
  }

  async #resume(): Promise<void> {
    await this.#subscribe([...this.#channels.keys()])
  }

  /** Never fails. */
  async #beat(): Promise<void> {
    if (this.#isBeating || this.#channels.size === 0 || this.#subscriber.status !== 'ready') return
    this.#isBeating = true
    try {
      // Who has registered anew has to hear once more: what was announced just before may be on its way, and was not waited for.
      if ((await this.#prolongTrust()) === 'registered') await this.#prolongTrust()
    } catch (error) {
      this.#life.log.debug({ err: error }, 'no sign of life from Redis')
    } finally {
      this.#isBeating = false
    }
  }

  /**
   * First it hears, then it has itself waited for: who hears nothing holds up nobody. The trust is counted from before the beat was sent, as what was published
   * later may still be on its way; so it ends before the lease does.
   */
  async #prolongTrust(): Promise<'registered' | 'done'> {
    const connection = this.#connection
    const heardUntil = await this.#hearing.prove(leaseMs)
    if (heardUntil === null || connection !== this.#connection) return 'done'
    const [epoch, isKept] = await this.#publisher.prolongLease(leasePrefix(this.#prefix), leaseKey(this.#prefix, this.#id), leaseMs)
    if (connection !== this.#connection) return 'done'
    this.#hearEpoch(epoch)
    // Nobody waited for it meanwhile, and it may have been struck off.
    if (isKept === 0) this.#distrust()
    if (this.#isRegistered) {
      this.#trustedUntil = heardUntil + leaseMs
      return 'done'
    }
    await this.#register([...this.#channels.keys()])
    if (connection !== this.#connection || epoch !== this.#epoch.name) return 'done'
    this.#isRegistered = true
    return 'registered'
  }

  /** Nobody waits for a process that has stopped. */
  async #leave(beat: NodeJS.Timeout): Promise<void> {
    clearInterval(beat)
    this.#interrupt()
    this.#channels.clear()
    if (this.#publisher.status === 'ready') await this.#publisher.del(leaseKey(this.#prefix, this.#id)).catch(() => undefined)
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
