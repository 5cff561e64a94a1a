import { LRUCache } from 'lru-cache'
import type pg from 'pg'
import { customerArchived, customerNotFound, customerResourceNotFound } from '../../../customer/model/problems.js'
import type { Clock, EpochMs } from '../../../kernel/clock.js'
import { newId } from '../../../kernel/id.js'
import { Problem } from '../../../kernel/problem.js'
import type { Logger } from '../../../platform/logger.js'
import { type FoundHolder, findHolders } from '../../counting/holder-repository.js'
import { type Holder, holderKey } from '../../model/holder.js'
import { notCountedInTime, outcomeUnknown, type RefusedItem, refusedItem, toPlainProblem } from '../../model/problems.js'
import { type EventItem, eventIdentity } from '../../model/report.js'
import type { Call, EventAnswer } from '../../wire/call.js'
import { type AggregationJob, deadlineMs } from '../../wire/jobs.js'
import { packStored } from '../../wire/stored-events.js'
import type { MeteringMetrics } from '../batch/batch-metrics.js'
import { ingestOrHalve } from '../batch/halving.js'
import { isTooLate, type NewEvent, storeEvents } from './fast/store-events.js'
import { findStoredForSure, findStoredNow } from './stored-identities.js'

/** Of an environment, about 300 bytes each. */
const maxHolders = 100_000
const maxEnvironments = 100
/** Customers that are archived between two attempts, that often in a row, are somebody else's mistake. */
const maxAttempts = 5

/** After a batch with events that were stored before, so many are expected to have some. */
const carefulBatches = 20

/**
 * Stores raw events: one statement per batch, which also says that the batch waits to be counted. May run twice for the same batch: identities are
 * claimed in that statement, and an event whose identity is taken was stored before, which is a success.
 */
export class EventIngestion {
  readonly #pool: pg.Pool
  readonly #metrics: MeteringMetrics
  readonly #log: Logger
  readonly #clock: Clock
  readonly #stored: (job: AggregationJob) => void
  /** Live ones, as they were: the storing statement looks whether they still are. */
  readonly #holders = new LRUCache<string, LRUCache<string, FoundHolder>>({ max: maxEnvironments })
  #carefulFor = 0

  /** `stored` is called after the commit with the events that are new. */
  constructor(parts: {
    pool: pg.Pool
    metrics: MeteringMetrics
    log: Logger
    clock: Clock
    stored: (job: AggregationJob) => void
  }) {
    this.#pool = parts.pool
    this.#metrics = parts.metrics
    this.#log = parts.log
    this.#clock = parts.clock
    this.#stored = parts.stored
  }

  /** One answer per call, all committed; see `ingestOrHalve`. */
  ingest(environmentId: string, calls: Call<EventItem>[], isRepeat: boolean): Promise<EventAnswer[]> {
    if (isRepeat) this.#carefulFor = carefulBatches
    return ingestOrHalve(
      calls,
      isRepeat,
      (together) => this.#ingestTogether(environmentId, together),
      ({ items }, error) => {
        this.#log.error({ err: error, environmentId, events: items.length }, 'events could not be stored')
        this.#metrics.items.inc({ kind: 'event', result: 'refused' }, items.length)
      },
    )
  }

  /** Answers the calls that are stored, and of the others that it is not known what became of them. Stores nothing. */
  async findStored(environmentId: string, calls: Call<EventItem>[]): Promise<EventAnswer[]> {
    const identities = calls.map(({ items }) => items.map((event) => identityOf(environmentId, event)))
    const stored = await findStoredNow(this.#pool, environmentId, [...new Set(identities.flat())])
    const unknown = { problem: toPlainProblem(outcomeUnknown([])) }
    return identities.map((ofCall) => (ofCall.every((identity) => stored.has(identity)) ? { refused: [] } : unknown))
  }

  async #ingestTogether(environmentId: string, calls: Call<EventItem>[]): Promise<EventAnswer[]> {
    const stopTimer = this.#metrics.commitSeconds.startTimer({ kind: 'event' })
    let now = this.#clock.now()
    for (let attempt = 1; ; attempt++) {
      const holders = await this.#findHolders(environmentId, calls)
      const plan = planBatch(calls, await this.#readCalls(environmentId, calls, holders), now)
      const refusedAt = plan.events.length === 0 ? null : await this.#store(environmentId, plan)
      if (refusedAt !== null) {
        if (attempt >= maxAttempts) throw new Error('customers of a batch of events do not stay what they are')
        this.#holders.delete(environmentId)
        now = refusedAt
        continue
      }
      await this.#judge(environmentId, plan)
      stopTimer()
      for (const [result, count] of Object.entries(plan.sums)) if (count > 0) this.#metrics.items.inc({ kind: 'event', result }, count)
      return plan.answers
    }
  }

  /** Says what became of the calls that came too late: an earlier run, or another call, may have stored their events. */
  async #judge(environmentId: string, { late, answers, sums }: EventPlan): Promise<void> {
    if (late.length === 0) return
    const identities = [...new Set(late.flatMap(({ events }) => events.map(({ identity }) => identity)))].sort()
    const latest = Math.max(...late.map(({ deadline }) => deadline))
    const stored = await findStoredForSure(this.#pool, environmentId, identities, latest)
    for (const { index, events, homeless } of late) {
      const found = events.filter(({ identity }) => stored.has(identity)).length
      sums.duplicate += found
      sums.expired += events.length - found
      const hasNone = found === 0 && !homeless.some(({ isRepeat }) => isRepeat)
      // Of a call that is stored in part it cannot be said that nothing was counted.
      if (found < events.length) answers[index] = { problem: toPlainProblem(hasNone ? notCountedInTime() : outcomeUnknown([])) }
    }
  }

  /** What is stored is a repeat, whatever has become of its customer since: the database is asked about those that would be refused. */
  async #readCalls(
    environmentId: string,
    calls: readonly Call<EventItem>[],
    holders: ReadonlyMap<string, FoundHolder>,
  ): Promise<ReadCall[]> {
    const read = calls.map((call) => readCall(environmentId, call, holders))
    const identities = [...new Set(read.flatMap(({ homeless }) => homeless.map(({ identity }) => identity)))]
    if (identities.length === 0) return read
    const stored = await findStoredNow(this.#pool, environmentId, identities)
    return read.map((call) => ({ ...call, homeless: call.homeless.map((one) => ({ ...one, isRepeat: stored.has(one.identity) })) }))
  }

  /** By `holderKey`; unknown customers are absent. */
  async #findHolders(environmentId: string, calls: Call<EventItem>[]): Promise<Map<string, FoundHolder>> {
    const known = this.#holders.get(environmentId) ?? new LRUCache({ max: maxHolders })
    this.#holders.set(environmentId, known)
    const holders = new Map<string, FoundHolder>()
    const missing = new Map<string, Holder>()
    for (const { items } of calls) {
      for (const holder of items) {
        const key = holderKey(holder)
        if (holders.has(key)) continue
        const found = known.get(key)
        if (found) holders.set(key, found)
        else missing.set(key, { customerId: holder.customerId, resourceId: holder.resourceId })
      }
    }
    if (missing.size === 0) return holders
    for (const [key, holder] of await findHolders(this.#pool, environmentId, [...missing.values()])) {
      holders.set(key, holder)
      if (!(checkHolder(missing.get(key)!, holder) instanceof Problem)) known.set(key, holder)
    }
    return holders
  }

  /** Null when they are stored. Nothing is, and this answers the database's time, when a customer is not live any more or a call has come to its deadline. */
  async #store(environmentId: string, { events, deadline, sums }: EventPlan): Promise<EpochMs | null> {
    const batchId = newId()
    const mayRepeat = this.#carefulFor > 0
    const stored = await storeEvents(this.#pool, environmentId, { batchId, deadline, mayRepeat, events }).catch((error: unknown) => {
      if (!isTooLate(error)) throw error
      return null
    })
    if (!stored) return Math.max(deadline, this.#clock.now())
    const { now, time, times, isNew } = stored
    this.#carefulFor = isNew ? carefulBatches : Math.max(0, this.#carefulFor - 1)
    if (time === null) return now
    const dated = times ? events.map((one, index) => ({ ...one, event: { ...one.event, timestamp: times[index]! } })) : events
    const fresh = isNew ? dated.filter((_, index) => isNew[index]) : dated
    sums.accepted += fresh.length
    sums.duplicate += events.length - fresh.length
    this.#metrics.batchSize.observe({ kind: 'event' }, fresh.length)
    if (fresh.length === 0) return null
    const given = fresh.map(({ event, holder: { customerId, resourceId } }) => ({
      customerId,
      resourceId,
      holder: event,
      eventName: event.eventName,
      occurredAt: event.timestamp,
      dimensions: event.dimensions,
    }))
    this.#stored({ v: 1, environmentId, batchId, stored: packStored(time, given), reportedAt: deadline - deadlineMs })
    return null
  }
}

/** A call, as far as it can be stored. */
interface ReadCall {
  events: NewEvent[]
  homeless: HomelessEvent[]
}

/** An event that nobody is there for: it is refused unless it was stored before, when somebody was. */
interface HomelessEvent {
  refused: RefusedItem
  identity: string
  isRepeat: boolean
}

interface LateCall extends ReadCall {
  /** Its position in the batch. */
  index: number
  deadline: EpochMs
}

interface EventPlan {
  /** By identity, each once. */
  events: NewEvent[]
  late: LateCall[]
  answers: EventAnswer[]
  /** The earliest of the calls that are in time. */
  deadline: EpochMs
  sums: Record<'accepted' | 'duplicate' | 'refused' | 'expired', number>
}

/** What is to be stored of the calls, and what those in time are answered when it is. Of two events with one identity the first counts. */
function planBatch(calls: readonly Call<EventItem>[], readCalls: readonly ReadCall[], now: EpochMs): EventPlan {
  const events = new Map<string, NewEvent>()
  const late: LateCall[] = []
  const sums = { accepted: 0, duplicate: 0, refused: 0, expired: 0 }
  let earliest = Number.MAX_SAFE_INTEGER
  const answers = calls.map(({ deadline }, index): EventAnswer => {
    const read = readCalls[index]!
    const refused = read.homeless.flatMap((one) => (one.isRepeat ? [] : [one.refused]))
    sums.refused += refused.length
    sums.duplicate += read.homeless.length - refused.length
    if (now >= deadline) {
      if (read.events.length > 0) late.push({ ...read, index, deadline })
      return { refused }
    }
    earliest = Math.min(earliest, deadline)
    for (const event of read.events) {
      if (events.has(event.identity)) sums.duplicate += 1
      else events.set(event.identity, event)
    }
    return { refused }
  })
  return { events: [...events.keys()].sort().map((identity) => events.get(identity)!), late, answers, deadline: earliest, sums }
}

function readCall(environmentId: string, { items }: Call<EventItem>, holders: ReadonlyMap<string, FoundHolder>): ReadCall {
  const events: NewEvent[] = []
  const homeless: HomelessEvent[] = []
  for (const [index, event] of items.entries()) {
    const holder = checkHolder(event, holders.get(holderKey(event)))
    const identity = identityOf(environmentId, event)
    if (holder instanceof Problem) homeless.push({ refused: refusedItem(index, holder), identity, isRepeat: false })
    else events.push({ event, identity, holder })
  }
  return { events, homeless }
}

const identityOf = (environmentId: string, event: EventItem): string => eventIdentity(environmentId, event).toString('latin1')

function checkHolder({ customerId, resourceId }: Holder, holder: FoundHolder | undefined): FoundHolder | Problem {
  if (!holder) return customerNotFound(customerId)
  if (holder.isArchived) return customerArchived(customerId)
  if (resourceId !== null && holder.resourceId === null) return customerResourceNotFound(customerId, resourceId)
  return holder
}
