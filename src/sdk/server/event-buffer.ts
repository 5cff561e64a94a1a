import { setTimeout as sleep } from 'node:timers/promises'
import { Problem } from '../../kernel/problem.js'
import { isRefusal, mayBeCounted, outcomeUnknown, type RefusedItem } from '../../metering/model/problems.js'
import type { SentEvent } from '../../reader/api/client.js'
import { toTollgateError } from '../error.js'
import type { Dimensions, UsageEvent } from '../types.js'
import { tell } from './figures.js'
import type { EventBufferOptions, Hooks } from './options.js'
import { type NewEvent, toSentEvent } from './reports.js'

/** Of one call to the API: a larger event goes alone. */
const maxBatchBytes = 1024 * 1024
/** After the API did not take a batch. */
const firstPauseMs = 1_000
const longestPauseMs = 30_000

interface Buffered {
  event: SentEvent
  bytes: number
  /** It was sent, and nobody knows whether it was stored. */
  isUnknown: boolean
}

interface Parts {
  options: EventBufferOptions
  /** Fails with a Problem; its `details.items` name those that were refused while the others are stored. */
  send: (events: readonly SentEvent[], timeoutMs?: number) => Promise<void>
  hooks: Hooks
}

/**
 * Events on their way, within bounds of number and bytes, until the API has acknowledged them. Sent some at a time, each under its key, so that one that is sent
 * again counts once.
 */
export class EventBuffer {
  readonly #parts: Parts
  readonly #waiting: Buffered[] = []
  #bytes = 0
  #draining: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  #pauseMs = 0
  #isClosed = false

  constructor(parts: Parts) {
    this.#parts = parts
  }

  get size(): number {
    return this.#waiting.length
  }

  /**
   * Answers how many were taken: the first ones, as far as there is room; the hook is told of the others.
   * @throws TollgateError for an event that cannot be sent; none is taken then
   */
  take(events: readonly NewEvent[]): number {
    const { maxEvents, maxBytes, batchSize } = this.#parts.options
    const read = events.map((event, index) => toSentEvent(event, `events[${index}]`))
    let taken = 0
    for (const event of read) {
      const bytes = Buffer.byteLength(JSON.stringify(event))
      if (this.#isClosed || this.#waiting.length >= maxEvents || this.#bytes + bytes > maxBytes) break
      this.#waiting.push({ event, bytes, isUnknown: false })
      this.#bytes += bytes
      taken++
    }
    if (taken < read.length) this.#drop(read.slice(taken), this.#isClosed ? 'closed' : 'full')
    if (this.#pauseMs === 0 && this.#waiting.length >= batchSize) void this.#drain().catch(() => {})
    else if (this.#waiting.length > 0) this.#schedule()
    return taken
  }

  /** Resolves when all that was taken is acknowledged or refused. Fails with a TollgateError when the API takes none now: they stay here. */
  async flush(timeoutMs?: number): Promise<void> {
    await this.#drain(timeoutMs).catch((error: unknown) => {
      throw toTollgateError(error)
    })
  }

  /** Sends what it can in the time; of what is left then the hook is told. */
  async close(timeoutMs: number): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    const until = performance.now() + timeoutMs
    let failure: unknown
    const sent = async () => {
      await this.#draining?.catch(() => {})
      // It has the rest of the time, and sends again by itself as long as that may help.
      if (this.#waiting.length > 0) await this.#drain(Math.max(1, until - performance.now())).catch((error: unknown) => (failure = error))
    }
    const waiting = new AbortController()
    await Promise.race([sent(), sleep(timeoutMs, undefined, { signal: waiting.signal }).catch(() => {})])
    waiting.abort()
    const left = this.#waiting.splice(0).map(({ event }) => event)
    this.#bytes = 0
    clearTimeout(this.#timer)
    if (left.length > 0) this.#drop(left, 'closed', failure)
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#draining || this.#isClosed) return
    this.#timer = setTimeout(() => void this.#drain().catch(() => {}), Math.max(this.#pauseMs, this.#parts.options.flushIntervalMs))
  }

  #drain(timeoutMs?: number): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#draining ??= this.#sendAll(timeoutMs).finally(() => {
      this.#draining = undefined
      if (this.#waiting.length > 0) this.#schedule()
    })
    return this.#draining
  }

  async #sendAll(timeoutMs?: number): Promise<void> {
    let most = this.#parts.options.batchSize
    while (this.#waiting.length > 0) {
      const batch = this.#nextBatch(most)
      try {
        await this.#parts.send(batch, timeoutMs)
        this.#forget(batch.length)
        most = this.#parts.options.batchSize
      } catch (error) {
        const problem = Problem.from(error)
        const items = problem.details.items as RefusedItem[] | undefined
        if (items !== undefined) {
          const refused = items.flatMap(({ index }) => this.#waiting[index] ?? [])
          this.#forget(batch.length)
          this.#refuse(refused, problem)
        } else if (!isRefusal(problem)) {
          if (mayBeCounted(problem)) for (const sent of this.#waiting.slice(0, batch.length)) sent.isUnknown = true
          this.#pauseMs = Math.min(2 * this.#pauseMs || firstPauseMs, longestPauseMs)
          throw error
        } else if (batch.length > 1) {
          // One of them makes the API refuse all: it is found by halves.
          most = Math.ceil(batch.length / 2)
        } else {
          const refused = this.#waiting.slice(0, 1)
          this.#forget(1)
          this.#refuse(refused, problem)
        }
      }
      this.#pauseMs = 0
    }
  }

  #nextBatch(most: number): SentEvent[] {
    let [count, bytes] = [0, 0]
    for (const { bytes: more } of this.#waiting) {
      if (count === most || (count > 0 && bytes + more > maxBatchBytes)) break
      count++
      bytes += more
    }
    return this.#waiting.slice(0, count).map(({ event }) => event)
  }

  /** What an attempt before may have stored is not known to be refused. */
  #refuse(refused: readonly Buffered[], problem: Problem): void {
    for (const isUnknown of [false, true]) {
      const events = refused.filter((one) => one.isUnknown === isUnknown).map(({ event }) => event)
      const keys = events.map(({ idempotencyKey }) => idempotencyKey)
      this.#drop(events, 'refused', isUnknown ? outcomeUnknown(keys, 'UNKNOWN', problem) : problem)
    }
  }

  #forget(count: number): void {
    for (const { bytes } of this.#waiting.splice(0, count)) this.#bytes -= bytes
  }

  #drop(events: readonly SentEvent[], why: 'full' | 'refused' | 'closed', error?: unknown): void {
    const { eventsDropped } = this.#parts.hooks
    if (eventsDropped === undefined || events.length === 0) return
    tell(() => eventsDropped({ events: events.map(fromSent), why, ...(error === undefined ? {} : { error: toTollgateError(error) }) }))
  }
}

/** As it can be tracked again: under the key that it has. */
const fromSent = ({ resourceId, timestamp, dimensions, ...event }: SentEvent): UsageEvent => ({
  ...event,
  dimensions: dimensions as Dimensions,
  ...(resourceId === null ? {} : { resourceId }),
  ...(timestamp === null ? {} : { timestamp: new Date(timestamp) }),
})
