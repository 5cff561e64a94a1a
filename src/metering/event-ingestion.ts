import type pg from 'pg'
import { customerArchived, customerNotFound, customerResourceNotFound } from '../customer/problems.js'
import { newId } from '../kernel/id.js'
import { Problem } from '../kernel/problem.js'
import type { Logger } from '../platform/logger.js'
import { type Place, placeKey } from './bindings.js'
import { type FoundPlace, findPlaces, type NewEvent, storeEvents } from './event-repository.js'
import type { MeteringMetrics } from './ingestion-metrics.js'
import type { AggregationJob, Call, EventAnswer, StoredEvent } from './jobs.js'
import { notCountedInTime, type RefusedItem, refusedItem, toPlainProblem } from './problems.js'
import { type EventItem, eventIdentity } from './report.js'
import { isTransient } from './transaction.js'

/**
 * Stores raw events: one statement per batch, which also says that the batch waits to be counted. May run twice for the same batch: identities are
 * claimed in that statement, and an event whose identity is taken was stored before, which is a success.
 */
export class EventIngestion {
  readonly #pool: pg.Pool
  readonly #metrics: MeteringMetrics
  readonly #log: Logger
  readonly #stored: (job: AggregationJob) => void

  /** `stored` is called after the commit with the events that are new. */
  constructor(parts: { pool: pg.Pool; metrics: MeteringMetrics; log: Logger; stored: (job: AggregationJob) => void }) {
    this.#pool = parts.pool
    this.#metrics = parts.metrics
    this.#log = parts.log
    this.#stored = parts.stored
  }

  /** One answer per call, all committed. A batch that the database refuses is halved, as with reports. Throws what is expected to pass later. */
  async ingest(environmentId: string, calls: Call<EventItem>[]): Promise<EventAnswer[]> {
    try {
      return await this.#ingestTogether(environmentId, calls)
    } catch (error) {
      if (isTransient(error)) throw error
      if (calls.length > 1) {
        const half = calls.length >> 1
        const first = await this.ingest(environmentId, calls.slice(0, half))
        return [...first, ...(await this.ingest(environmentId, calls.slice(half)))]
      }
      this.#log.error({ err: error, environmentId, events: calls[0]?.items.length }, 'events could not be stored')
      this.#metrics.items.inc({ kind: 'event', result: 'refused' }, calls[0]?.items.length ?? 0)
      return [{ problem: toPlainProblem(Problem.from(error)) }]
    }
  }

  async #ingestTogether(environmentId: string, calls: Call<EventItem>[]): Promise<EventAnswer[]> {
    const stopTimer = this.#metrics.commitSeconds.startTimer({ kind: 'event' })
    const places = new Map<string, Place>()
    for (const { items } of calls)
      for (const { customerId, resourceId } of items) places.set(placeKey({ customerId, resourceId }), { customerId, resourceId })
    const { places: found, now } = await findPlaces(this.#pool, environmentId, [...places.values()])
    const sums = { accepted: 0, duplicate: 0, refused: 0, expired: 0 }
    const events = new Map<string, NewEvent>()
    const answers = calls.map(({ deadline, items }): EventAnswer => {
      if (now >= deadline) {
        sums.expired += items.length
        return { problem: toPlainProblem(notCountedInTime()) }
      }
      const refused: RefusedItem[] = []
      for (const [index, event] of items.entries()) {
        const place = checkPlace(event, found.get(placeKey(event)))
        if (place instanceof Problem) {
          refused.push(refusedItem(index, place))
          continue
        }
        const hash = eventIdentity(environmentId, event)
        const identity = hash.toString('base64')
        if (events.has(identity)) sums.duplicate += 1
        else events.set(identity, { event, hash, customerId: place.customerId, resourceId: place.resourceId })
      }
      sums.refused += refused.length
      return { refused }
    })
    const given = [...events.values()]
    const batchId = newId()
    const times = given.length === 0 ? new Map<number, number>() : await storeEvents(this.#pool, environmentId, batchId, given)
    stopTimer()
    sums.accepted = times.size
    sums.duplicate += given.length - times.size
    for (const [result, count] of Object.entries(sums)) if (count > 0) this.#metrics.items.inc({ kind: 'event', result }, count)
    this.#metrics.batchSize.observe({ kind: 'event' }, times.size)
    if (times.size > 0) this.#stored({ v: 1, environmentId, batchId, events: toStored(given, times), storedAt: Date.now() })
    return answers
  }
}

function checkPlace({ customerId, resourceId }: EventItem, place: FoundPlace | undefined): FoundPlace | Problem {
  if (!place) return customerNotFound(customerId)
  if (place.isArchived) return customerArchived(customerId)
  if (resourceId !== null && place.resourceId === null) return customerResourceNotFound(customerId, resourceId)
  return place
}

function toStored(events: NewEvent[], times: ReadonlyMap<number, number>): StoredEvent[] {
  return [...times].map(([index, occurredAt]) => {
    const { event, customerId, resourceId } = events[index]!
    return {
      customerId,
      customerRefId: event.customerId,
      resourceId,
      resourceRefId: event.resourceId,
      eventName: event.eventName,
      dimensions: event.dimensions,
      occurredAt,
    }
  })
}
