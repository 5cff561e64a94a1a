import type { EpochMs } from '../../kernel/clock.js'
import { newId } from '../../kernel/id.js'
import { invalidInput, Problem } from '../../kernel/problem.js'
import { heapBytes } from '../../kernel/weight.js'
import { beforeCounting, fromPlainProblem, outcomeUnknown, type RefusedItem, refusedItem, withItems } from '../model/problems.js'
import {
  checkEvent,
  checkReport,
  checkTogether,
  type EventItem,
  maxItemsPerCall,
  measurementOfKey,
  type ReportedUsage,
  type ReportItem,
  type UsageEvent,
  type UsageReport,
} from '../model/report.js'
import type { EventAnswer, ReportAnswer } from '../wire/call.js'
import { Door, type DoorParts } from './door.js'
import type { Patience } from './patience.js'

/** Larger batches commit no more per second, and keep their customers locked longer. */
const maxReportsPerBatch = 500
const maxEventsPerBatch = 1_000
/** Of the events that are stored together, unless one alone has more: the event loop stands still for milliseconds while they are written. */
const maxEventBytesAtOnce = 2 ** 19

/** Where a test clock rules, what is dated is looked at by it; null: the environment has none. */
export type FindTestClock = (environmentId: string) => Promise<{ now: EpochMs } | null>

/** Of the doors for reports and for events. Only reports are announced before they are answered. */
export interface UsageIntakeParts extends Omit<DoorParts, 'kind' | 'maxItems'> {
  /** Absent: nobody here knows of test clocks. */
  findTestClock?: FindTestClock
}

/** Takes usage: what can be refused by reading it is refused here, and what is acknowledged is committed. */
export class UsageIntake {
  readonly #clock: DoorParts['clock']
  readonly #findTestClock: UsageIntakeParts['findTestClock']
  readonly #reports: Door
  readonly #events: Door

  constructor({ expectAnnouncement, findTestClock, ...parts }: UsageIntakeParts) {
    this.#clock = parts.clock
    this.#findTestClock = findTestClock
    this.#reports = new Door({ ...parts, kind: 'reports', maxItems: maxReportsPerBatch, expectAnnouncement })
    this.#events = new Door({ ...parts, kind: 'events', maxItems: maxEventsPerBatch })
  }

  /** Memory that calls without an answer take. */
  get waitingBytes(): number {
    return this.#reports.waitingBytes + this.#events.waitingBytes
  }

  /**
   * Counts the reports, all or none, and answers the usage after it, in their order. The problem of a call with bad items names all of them in
   * `details.items`; one that does not refuse them says what became of them (`UsageOutcome`). `patience` ends the waiting only.
   */
  async report(environmentId: string, items: readonly UsageReport[], patience?: Patience): Promise<ReportedUsage[]> {
    if (items.length === 0) return []
    const now = await this.#time(environmentId, items)
    const checked = readAll(items, (item) => checkReport(item, measurementOfKey(item.idempotencyKey) ?? newId(), now))
    checkTogether(checked)
    const answer = (await this.#reports.send(environmentId, checked satisfies ReportItem[], patience)) as ReportAnswer
    if ('problem' in answer) throw fromPlainProblem(answer.problem)
    return answer.usages
  }

  /**
   * Stores the events; counting them follows within moments. Good ones are stored although others are bad: those are named in `details.items` of
   * the one problem it then fails with. Safe to repeat: an event that is stored already is a success. `patience` ends the waiting only.
   */
  async reportEvents(environmentId: string, events: readonly UsageEvent[], patience?: Patience): Promise<void> {
    if (events.length === 0) return
    const now = await this.#time(environmentId, events)
    const { good, refused, positions } = readEach(events, (event) => checkEvent(event, now))
    for (const item of await this.#store(environmentId, good, patience)) refused.push({ ...item, index: positions[item.index]! })
    if (refused.length === 0) return
    refused.sort((a, b) => a.index - b.index)
    throw withItems(
      invalidInput(`${refused.length} of ${events.length} events were refused; the others were stored. The first: ${refused[0]!.message}`),
      refused,
    )
  }

  /** Those that the worker refused; the others are stored. Large calls are stored in parts, so once a part is, what becomes of the whole is unknown when it fails. */
  async #store(environmentId: string, events: readonly EventItem[], patience?: Patience): Promise<RefusedItem[]> {
    const refused: RefusedItem[] = []
    let begin = 0
    for (const part of partsOf(events)) {
      try {
        const answer = (await this.#events.send(environmentId, part, patience)) as EventAnswer
        if ('problem' in answer) throw fromPlainProblem(answer.problem)
        for (const item of answer.refused) refused.push({ ...item, index: begin + item.index })
      } catch (error) {
        if (begin === 0) throw error
        const keys = events.slice(begin).map(({ idempotencyKey }) => idempotencyKey)
        throw outcomeUnknown(keys, 'UNKNOWN')
      }
      begin += part.length
    }
    return refused
  }

  /** What dates are looked at by. */
  async #time(environmentId: string, items: readonly { timestamp: unknown }[]): Promise<EpochMs> {
    const isDated = items.some(({ timestamp }) => timestamp !== null)
    try {
      const testClock = isDated ? await this.#findTestClock?.(environmentId) : null
      return testClock?.now ?? this.#clock.now()
    } catch (error) {
      throw beforeCounting(error)
    }
  }
}

function partsOf(events: readonly EventItem[]): EventItem[][] {
  const parts: EventItem[][] = []
  let room = 0
  for (const event of events) {
    const bytes = heapBytes(event)
    if (bytes > room || parts.length === 0) {
      parts.push([])
      room = maxEventBytesAtOnce
    }
    room -= bytes
    parts.at(-1)!.push(event)
  }
  return parts
}

/** Fails with the first problem; it names all bad items in `details.items`. */
export function readAll<T, Read>(items: readonly T[], read: (item: T) => Read): Read[] {
  const { good, refused, first } = readEach(items, read)
  if (first) throw withItems(first, refused)
  return good
}

/** `positions` are those of the good items in the call. */
function readEach<T, Read>(items: readonly T[], read: (item: T) => Read) {
  if (items.length > maxItemsPerCall) throw invalidInput(`a call has at most ${maxItemsPerCall} items`)
  const good: Read[] = []
  const positions: number[] = []
  const refused: RefusedItem[] = []
  let first: Problem | undefined
  for (const [index, item] of items.entries()) {
    try {
      good.push(read(item))
      positions.push(index)
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      first ??= error
      refused.push(refusedItem(index, error))
    }
  }
  return { good, positions, refused, first }
}
