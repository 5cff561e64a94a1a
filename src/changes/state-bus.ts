import { performance } from 'node:perf_hooks'
import { newId } from '../kernel/id.js'
import type { Life } from '../platform/process.js'
import type { QueueConnection } from '../platform/queue.js'
import { openRedis, openSubscriber, type Redis } from '../platform/redis.js'
import { Hearing } from './hearing.js'
import type { HeldChange } from './model/change.js'
import { UnheardAnnouncements } from './unheard-announcements.js'
import { untilPublished } from './until-published.js'
import {
  type AnnouncementTicket,
  announcementChannel,
  announcementOf,
  heardChannel,
  packHeard,
  unpackAnnouncement,
  unpackHeard,
} from './wire/announcements.js'
import { announceLua, holdersKey, type Listeners, leaseKey, leaseLua, leaseMs, leasePrefix, registerLua } from './wire/holders.js'

/** Several in a lease, so that a slow moment of Redis or of the process costs no trust. */
const beatMs = 200
/** Environments that are registered in one step, during which Redis does nothing else. */
const registeredPerStep = 100
/** An environment that nobody has asked for in that time is not heard of any more. */
const idleMs = 3_600_000
const idleLookMs = 60_000

/** An announcement that a worker publishes for this process, with what it answers. */
export interface ExpectedAnnouncement {
  ticket: AnnouncementTicket
  /** Answers when each of the holders has acknowledged it, or has lost its trust in what it holds. Never fails. */
  heardBy(listeners: Listeners): Promise<void>
  /** It is not waited for any more. */
  forget(): void
}

/**
 * asked  somebody wants to know whether all that is announced is heard
 * heard  Redis has confirmed, and this process is registered
 * left   nobody wants to know any more. Until that is confirmed what is announced is acknowledged, as it may be waited for
 */
interface Channel {
  environmentId: string
  state: 'asked' | 'heard' | 'left'
  /** By the clock that only goes on. */
  askedAt: number
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
  /** By environment: every check asks for one. */
  readonly #channels = new Map<string, Channel>()
  readonly #unheard: UnheardAnnouncements
  #trustedUntil = 0
  #connection = 0
  #isBeating = false
  #isLeavingIdle = false
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
    this.#unheard = new UnheardAnnouncements(life.metrics)
    this.#subscriber.on('message', (channel: string, text: string) => this.#receive(channel, text))
    this.#subscriber.on('close', () => this.#interrupt())
    this.#subscriber.on('ready', () => void this.#resume())
    const beat = setInterval(() => void this.#beat(), beatMs)
    life.open('lease of held states', beat, () => this.#leave(beat))
    life.open(
      'idle environments',
      setInterval(() => void this.leaveIdle(performance.now()), idleLookMs),
      clearInterval,
    )
  }

  /** Whether everything that was announced until now has been heard here, which was proved less than `maxAgeMs` ago. Asked for the first time, it begins to listen. */
  isTrusted(environmentId: string, maxAgeMs = Number.POSITIVE_INFINITY): boolean {
    const channel = this.#channels.get(environmentId)
    const now = performance.now()
    if (!channel || channel.state === 'left') this.#listen(environmentId, now)
    else {
      channel.askedAt = now
      const leftMs = this.#trustedUntil - now
      if (channel.state === 'heard' && leftMs > 0) return leaseMs - leftMs < maxAgeMs
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
    this.#unheard.acknowledged(ticket.number, this.#id)
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
    const number = this.#unheard.begin()
    return {
      ticket: { sender: this.#id, number },
      heardBy: (listeners) => this.#heardByAll(number, Promise.resolve(listeners)),
      forget: () => this.#unheard.forget(number),
    }
  }

  #heardByAll(number: number, published: Promise<Listeners>): Promise<void> {
    const named = published.then(({ epoch, holders }) => {
      this.#hearEpoch(epoch)
      return performance.now() < this.#epoch.isWholeFrom ? null : holders
    })
    return this.#unheard.heardByAll(number, named)
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
      this.#unheard.acknowledged(number, by)
      return
    }
    const environmentId = channelName.slice(announcementChannel(this.#prefix, '').length)
    if (this.#channels.has(environmentId)) this.#hear(environmentId, channelName, text)
  }

  #hear(environmentId: string, channelName: string, text: string): void {
    try {
      const { changes, ticket } = unpackAnnouncement(text)
      this.#listener.apply(environmentId, changes)
      if (ticket?.sender === this.#id) this.#unheard.acknowledged(ticket.number, this.#id)
      // One that does not arrive is waited for until the lease is over.
      else if (ticket)
        this.#publisher.publish(heardChannel(this.#prefix, ticket.sender), packHeard(ticket.number, this.#id)).catch(() => undefined)
    } catch (error) {
      this.#life.log.error({ err: error, channel: channelName }, 'held changes could not be read')
      this.#listener.forgetAll()
    }
  }

  #listen(environmentId: string, now: number): void {
    const channel: Channel = { environmentId, state: 'asked', askedAt: now }
    this.#channels.set(environmentId, channel)
    void this.#subscribe([channel])
  }

  /**
   * Forgets the environments that nobody has asked for lately: first nobody waits for this process when they change, then it does not hear of that. Does
   * nothing while it is under way. Never fails.
   */
  async leaveIdle(now: number): Promise<void> {
    if (this.#isLeavingIdle) return
    this.#isLeavingIdle = true
    for (const [environmentId, channel] of [...this.#channels]) {
      // Who asks meanwhile has it subscribed and registered anew, in this order on the same connections, and is not to be struck off.
      const isSame = () => this.#channels.get(environmentId) === channel
      if (!isSame() || now - channel.askedAt < idleMs) continue
      channel.state = 'left'
      try {
        this.#listener.apply(environmentId, [{ customerId: null, version: null }])
        await this.#publisher.srem(holdersKey(this.#prefix, environmentId), this.#id)
        if (isSame()) await this.#subscriber.unsubscribe(announcementChannel(this.#prefix, environmentId))
        if (isSame()) this.#channels.delete(environmentId)
      } catch (error) {
        this.#life.log.debug({ err: error }, 'an idle environment is left later')
      }
    }
    this.#isLeavingIdle = false
  }

  async #subscribe(channels: readonly Channel[]): Promise<void> {
    const connection = this.#connection
    try {
      const names = channels.map(({ environmentId }) => announcementChannel(this.#prefix, environmentId))
      await this.#subscriber.subscribe(this.#acknowledgements, ...names)
      await this.#register(channels)
    } catch (error) {
      this.#life.log.debug({ err: error }, 'held changes cannot be heard yet')
      return
    }
    if (connection !== this.#connection) return
    for (const channel of channels) if (channel.state === 'asked') channel.state = 'heard'
    await this.#beat()
  }

  /** From then on announcements wait for this process while it has a lease. */
  async #register(channels: readonly Channel[]): Promise<void> {
    for (let start = 0; start < channels.length; start += registeredPerStep) {
      const step = channels.slice(start, start + registeredPerStep).filter(({ state }) => state !== 'left')
      const keys = [leasePrefix(this.#prefix), ...step.map(({ environmentId }) => holdersKey(this.#prefix, environmentId))]
      await this.#publisher.registerHolder(keys.length, ...keys, this.#id)
    }
  }

  #interrupt(): void {
    this.#connection += 1
    this.#distrust()
    for (const channel of this.#channels.values()) if (channel.state === 'heard') channel.state = 'asked'
    this.#listener.forgetAll()
  }

  #distrust(): void {
    this.#trustedUntil = 0
    this.#isRegistered = false
  }

  async #resume(): Promise<void> {
    await this.#subscribe([...this.#channels.values()])
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
    await this.#register([...this.#channels.values()])
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
