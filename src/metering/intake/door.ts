import type { Clock } from '../../kernel/clock.js'
import { Crowd } from '../../kernel/crowd.js'
import { Problem } from '../../kernel/problem.js'
import { heapBytes } from '../../kernel/weight.js'
import { currentSpan, inSharedSpan, type Span } from '../../platform/context/tracing.js'
import type { JobQueue } from '../../platform/queue.js'
import { notCounted, notCountedInTime, outcomeUnknown, tooMuchWaiting } from '../model/problems.js'
import { type EventItem, keyOfMeasurement, type ReportItem } from '../model/report.js'
import { deadlineMs, type IngestionJob, shardOf } from '../wire/jobs.js'
import type { Backlog } from './backlog.js'
import { type Answer, type CallOutcome, type ExchangeParts, exchange, outcomeOf, type SentCall, waitsWithin } from './exchange.js'
import type { Patience } from './patience.js'
import { type Load, WaitingRoom } from './waiting-room.js'

/** How long callers wait when nobody says so. */
const callersMs = 10_000
/**
 * Batches of one lane. Two in flight keep the worker busy while the next is gathered; more would only make them smaller. `unanswered`: those that take long
 * included; what another environment sends then waits for no more.
 */
const most = { inFlight: 2, unanswered: 6 }
/** The same while another environment sends too: with fewer under way a worker is free for what comes from there. */
const mostCrowded: typeof most = { inFlight: 1, unanswered: 2 }
/** Items of a second batch under way: one of fewer would only cost a job more, which costs as much as the reports of a dozen. */
const worthwhileItems = 20
/** Under load a batch of far less than usual waits so long for the callers that have just been answered. */
const lingerMs = 1
/**
 * A batch that takes so long, perhaps for a customer that is locked, leaves its slot to the next. Many items take their time by themselves: were those slow,
 * the batches of who sends many would have all the workers' slots.
 */
const slowMs = 100
const slowMsPerItem = 0.5
/** The same of a batch of few items: another one beside it costs nobody much. */
const slowSmallMs = 10
/** While another environment sends too, a lane rests after a batch of many items for so much of the time that it took: others have the processors then. */
const restShare = 0.5
/** How much of the usual size is left by a batch that is smaller. */
const forgetting = 0.7
/** So long after a batch its size is still usual. */
const usualMs = 20
/** Of a call that waits, beside its items. */
const callBytes = 900
/** Of the calls of a batch; a larger call is a batch of its own. Writing and reading so much takes a worker and a door some milliseconds. */
const maxBatchBytes = 2 ** 20
/** The event loop stands still for milliseconds while a larger batch is written: everybody else is served between two of them. */
const largeBatchBytes = maxBatchBytes / 4
/** Lanes that have nothing to do are given up when there are so many. */
const maxLanes = 1_000

/** Of which `settle` heeds the first outcome, and ends the waiting. */
interface WaitingCall extends SentCall {
  load: Load
  /** By the clock that only goes on. */
  since: number
  /** It was handed to the queue, or is about to be. */
  isSent: boolean
  isSettled: boolean
  /** That it is made in; undefined: there are no traces. */
  span: Span | undefined
}

/** Calls of one environment that go to one queue. */
interface Lane {
  environmentId: string
  queue: Pick<JobQueue<IngestionJob>, 'add'>
  waiting: WaitingCall[]
  /** Of the calls that wait. */
  waitingItems: number
  inFlight: number
  /** In flight, or so slow that it does not count for that any more. */
  unanswered: number
  isScheduled: boolean
  /** Items of a batch lately. */
  usualItems: number
  sentAt: number
  /** Nothing leaves before. */
  restsUntil: number
  /** Set while fewer calls than usual wait for more, or the lane rests. */
  linger: NodeJS.Timeout | undefined
}

export interface DoorParts extends ExchangeParts {
  /** One per shard. */
  queues: Pick<JobQueue<IngestionJob>, 'add'>[]
  /** The database's, or one corrected by it. */
  clock: Clock
  /** Absent: nobody looks at it. */
  backlog?: Pick<Backlog, 'isTooLong' | 'noteItems' | 'noteJob'>
  /** Of one batch; a larger call is a batch of its own. */
  maxItems: number
  /** How long callers wait at most; absent: ten seconds. */
  answerWithinMs?: number
}

/** From when a batch leaves until it is answered. */
const ofBatch = { name: 'usage batch', kind: 'internal' } as const

/**
 * Gathers concurrent calls into jobs and answers each when its job is committed. A batch leaves at the end of the event loop's
 * turn while none is in flight, or one and this one is worth it, else when one returns. So a lone call waits for nobody, and under load batches fill by
 * themselves; only there a millisecond is waited for those that make a batch as large as usual.
 */
export class Door {
  readonly #parts: DoorParts
  readonly #lanes = new Map<string, Lane>()
  /** By environment, where its calls go while they are not many. */
  readonly #quietShards = new Map<string, number>()
  readonly #room = new WaitingRoom()
  readonly #waits: ReturnType<typeof waitsWithin>
  /** Since a call was refused for those before it, until most of them are answered. */
  #isFull = false
  /** In this round of the event loop. */
  #hasSentLarge = false
  /** Environments that have sent. */
  readonly #senders = new Crowd()

  constructor(parts: DoorParts) {
    this.#parts = parts
    this.#waits = waitsWithin(parts.answerWithinMs ?? callersMs)
  }

  /**
   * The answer of the worker. Fails with a problem that says what became of it (`UsageOutcome`): not counted when it was not handed over, because too much is
   * waiting, the queue is away, or the patience was over before; unknown when it was and there is no answer.
   */
  async send(environmentId: string, items: (ReportItem | EventItem)[], patience?: Patience): Promise<Answer> {
    const { clock, backlog, kind } = this.#parts
    const now = clock.now()
    if (patience?.isOver) throw notCountedInTime()
    const load = { items: items.length, bytes: callBytes + heapBytes(items) }
    if (!this.#room.hasRoom(environmentId, load)) {
      this.#note(true)
      throw tooMuchWaiting()
    }
    if (backlog?.isTooLong(environmentId, kind)) throw tooMuchWaiting()
    this.#room.enter(environmentId, load)
    return new Promise((resolve, reject) => {
      const settle = (outcome: CallOutcome) => {
        if (waiting.isSettled) return
        waiting.isSettled = true
        forget?.()
        if (outcome === null) reject(outcomeUnknown(keysOf(items)))
        else if ('answer' in outcome) resolve(outcome.answer)
        else reject(outcome.problem)
      }
      const call = { deadline: now + deadlineMs, items }
      const [since, span] = [performance.now(), currentSpan()]
      const waiting: WaitingCall = { call, load, since, heard: null, settle, isSent: false, isSettled: false, span }
      const forget = patience?.whenOver(() => {
        if (!waiting.isSent) settle({ problem: notCountedInTime() })
        // The process may have stood still: what has arrived meanwhile is read first.
        else setImmediate(() => settle(waiting.heard && outcomeOf(waiting.heard)))
      })
      const lane = this.#laneOf(environmentId, items[0]!.customerId)
      lane.waiting.push(waiting)
      lane.waitingItems += items.length
      this.#schedule(lane)
    })
  }

  /** Memory that calls without an answer take. */
  get waitingBytes(): number {
    return this.#room.bytes
  }

  #note(isFull: boolean): void {
    if (isFull === this.#isFull) return
    this.#isFull = isFull
    this.#parts.backlog?.noteItems(this.#parts.kind, isFull)
  }

  /**
   * Under load a call goes the way of its first customer, so that the calls of a busy one wait for each other and not the others' for them. As long as
   * all of an environment's would fit into half a batch they go together: more and smaller batches would only cost more.
   */
  #laneOf(environmentId: string, customerId: string): Lane {
    const { queues, maxItems } = this.#parts
    const isBusy = this.#room.itemsOf(environmentId) > maxItems / 2
    const shard = isBusy ? shardOf(environmentId, customerId, queues.length) : this.#quietShardOf(environmentId)
    const name = `${environmentId}/${shard}`
    const known = this.#lanes.get(name)
    if (known) return known
    const lane: Lane = {
      environmentId,
      queue: queues[shard]!,
      waiting: [],
      waitingItems: 0,
      inFlight: 0,
      unanswered: 0,
      isScheduled: false,
      usualItems: 0,
      sentAt: 0,
      restsUntil: 0,
      linger: undefined,
    }
    if (this.#lanes.size >= maxLanes) this.#giveUpIdleLanes()
    this.#lanes.set(name, lane)
    return lane
  }

  #quietShardOf(environmentId: string): number {
    const known = this.#quietShards.get(environmentId)
    if (known !== undefined) return known
    const shard = shardOf(environmentId, '', this.#parts.queues.length)
    this.#quietShards.set(environmentId, shard)
    return shard
  }

  #giveUpIdleLanes(): void {
    this.#quietShards.clear()
    for (const [name, { waiting, unanswered, isScheduled }] of this.#lanes)
      if (waiting.length === 0 && unanswered === 0 && !isScheduled) this.#lanes.delete(name)
  }

  /** Without a batch in flight half of what is usual is enough, and a lone caller is usual to itself. */
  #maySend(lane: Lane): boolean {
    const { waitingItems, inFlight, unanswered, usualItems, sentAt, restsUntil } = lane
    if (performance.now() < restsUntil) return false
    const enough = inFlight === 0 && performance.now() - sentAt > usualMs ? 1 : Math.max(1, usualItems / 2)
    const may = this.#mostOf(lane)
    return (
      waitingItems >= (inFlight === 0 ? enough : Math.max(enough, worthwhileItems)) &&
      inFlight < may.inFlight &&
      unanswered < may.unanswered
    )
  }

  /** Who sends little is not the one that others have to be protected from. */
  #mostOf({ environmentId, waitingItems }: Lane): typeof most {
    if (!this.#senders.isAround(environmentId, performance.now())) return most
    return waitingItems < worthwhileItems ? { ...mostCrowded, unanswered: most.unanswered } : mostCrowded
  }

  #schedule(lane: Lane): void {
    if (lane.isScheduled || lane.waiting.length === 0) return
    if (!this.#maySend(lane)) {
      const restMs = lane.restsUntil - performance.now()
      if (restMs > 0) lane.linger ??= setTimeout(() => this.#wake(lane), restMs)
      else if (lane.inFlight === 0 && lane.unanswered < this.#mostOf(lane).unanswered)
        lane.linger ??= setTimeout(() => this.#flush(lane), lingerMs)
      return
    }
    lane.isScheduled = true
    setImmediate(() => {
      lane.isScheduled = false
      while (this.#maySend(lane) && !this.#hasSentLarge) this.#flush(lane)
      if (this.#maySend(lane)) this.#schedule(lane)
    })
  }

  /** It has rested. */
  #wake(lane: Lane): void {
    lane.linger = undefined
    this.#schedule(lane)
  }

  #flush(lane: Lane): void {
    clearTimeout(lane.linger)
    lane.linger = undefined
    const calls: WaitingCall[] = []
    let size = 0
    let bytes = 0
    while (lane.waiting.length > 0) {
      const next = lane.waiting[0]!
      const { load } = next
      const isLate = performance.now() - next.since > deadlineMs
      if (isLate) next.settle({ problem: notCountedInTime() })
      if (!next.isSettled) {
        if (calls.length > 0 && (size + load.items > this.#parts.maxItems || bytes + load.bytes > maxBatchBytes)) break
        calls.push(next)
        size += load.items
        bytes += load.bytes
      } else this.#leave(lane, next)
      lane.waiting.shift()
      lane.waitingItems -= load.items
    }
    if (calls.length === 0) return
    lane.inFlight += 1
    lane.unanswered += 1
    this.#parts.backlog?.noteJob(bytes)
    if (bytes > largeBatchBytes) {
      this.#hasSentLarge = true
      setImmediate(() => {
        this.#hasSentLarge = false
      })
    }
    lane.usualItems = Math.max(size, lane.usualItems * forgetting)
    const sentAt = performance.now()
    lane.sentAt = sentAt
    this.#senders.see(lane.environmentId, sentAt)
    let hasSlot = true
    const freeSlot = () => {
      if (!hasSlot) return
      hasSlot = false
      clearTimeout(slow)
      lane.inFlight -= 1
      const now = performance.now()
      if (size >= worthwhileItems && this.#senders.isAround(lane.environmentId, now)) lane.restsUntil = now + (now - sentAt) * restShare
      this.#schedule(lane)
    }
    const slow = setTimeout(freeSlot, size < worthwhileItems ? slowSmallMs : slowMs + size * slowMsPerItem)
    const end = () => {
      for (const call of calls) this.#leave(lane, call)
      lane.unanswered -= 1
      if (hasSlot) freeSlot()
      else this.#schedule(lane)
    }
    const fail = (error: unknown) => {
      for (const { settle } of calls) settle({ problem: notCounted(Problem.from(error)) })
    }
    for (const call of calls) call.isSent = true
    const { environmentId, queue } = lane
    const send = () => exchange(this.#parts, this.#waits, { environmentId, queue, calls, committed: freeSlot })
    void inSharedSpan(ofBatch, calls, send).catch(fail).finally(end)
  }

  #leave({ environmentId }: Lane, { load }: WaitingCall): void {
    this.#room.leave(environmentId, load)
    if (this.#room.isCalm) this.#note(false)
  }
}

/** What the items can be sent again under. */
const keysOf = (items: readonly (ReportItem | EventItem)[]): string[] =>
  items.map((item) => item.idempotencyKey ?? keyOfMeasurement((item as ReportItem).id))
