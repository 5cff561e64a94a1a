import type pg from 'pg'
import type { ExpectedAnnouncement } from '../../changes/state-bus.js'
import type { EpochMs } from '../../kernel/clock.js'
import { newId } from '../../kernel/id.js'
import { invalidInput, Problem } from '../../kernel/problem.js'
import { DatabaseClock } from '../../platform/database-clock.js'
import type { Life } from '../../platform/process.js'
import { openQueue, type QueueConnection } from '../../platform/queue.js'
import { openRedis } from '../../platform/redis.js'
import { readTime } from '../../platform/sql.js'
import { Corrections } from '../corrections/corrections.js'
import { Recomputations } from '../corrections/recomputation.js'
import type { LoadHeldSeries } from '../counting/held-series.js'
import { type FindHeld, UsageHistory } from '../history/usage-history.js'
import { fromPlainProblem, type RefusedItem, refusedItem, withItems } from '../model/problems.js'
import {
  checkEvent,
  checkReport,
  type EventItem,
  maxItemsPerCall,
  type ReportedUsage,
  type ReportItem,
  type UsageEvent,
  type UsageReport,
} from '../model/report.js'
import type { EventAnswer, ReportAnswer } from '../wire/call.js'
import { aggregateEvents, ingestionShard } from '../wire/jobs.js'
import { Backlog, type BacklogLimits } from './backlog.js'
import { Door, Replies } from './door.js'

/** Larger batches commit no more per second, and keep their customers locked longer. */
const maxReportsPerBatch = 500
const maxEventsPerBatch = 1_000

export interface UsageParts {
  life: Life
  queues: QueueConnection
  pool: pg.Pool
  loadHeld: LoadHeldSeries
  findHeld: FindHeld
  /** Called after a correction. */
  changed: (environmentId: string) => void
  limits: BacklogLimits
  /** Queues that ingestion is spread over; the workers must take from as many. */
  shards: number
  /**
   * A report is answered when every reader that holds a state knows of it, so that who reported reads its own usage wherever it asks. Absent: nobody
   * holds states.
   */
  expectAnnouncement?: () => ExpectedAnnouncement
}

/** The door of usage: what it acknowledges is committed. */
export class UsageService {
  readonly corrections: Corrections
  readonly recomputations: Recomputations
  readonly history: UsageHistory
  readonly #clock: DatabaseClock
  readonly #reports: Door
  readonly #events: Door

  constructor({ life, queues, pool, loadHeld, findHeld, changed, limits, shards, expectAnnouncement }: UsageParts) {
    this.corrections = new Corrections({ pool, loadHeld, changed })
    this.recomputations = new Recomputations(pool)
    this.history = new UsageHistory({ pool, findHeld })
    this.#clock = new DatabaseClock(() => readTime(pool))
    const replies = new Replies(openRedis(life, queues.redisUrl, 'subscriber'), queues.prefix, life.log)
    const shardQueues = Array.from({ length: shards }, (_, index) => openQueue(life, queues, ingestionShard(index)))
    const aggregation = openQueue(life, queues, aggregateEvents)
    const request = openRedis(life, queues.redisUrl, 'request')
    const backlog = new Backlog({ redis: request, queues: [...shardQueues, aggregation], limits, log: life.log, metrics: life.metrics })
    const parts = { queues: shardQueues, replies, clock: this.#clock, backlog }
    this.#reports = new Door({
      ...parts,
      kind: 'reports',
      maxItems: maxReportsPerBatch,
      expectAnnouncement,
    })
    this.#events = new Door({ ...parts, kind: 'events', maxItems: maxEventsPerBatch })
  }

  /**
   * Counts the reports, all or none, and answers the usage after it, in their order. The problem of a call with bad items names all of them in
   * `details.items`. Fails retryably when they were not counted; safe to repeat with idempotency keys in any case.
   */
  async report(environmentId: string, items: UsageReport[]): Promise<ReportedUsage[]> {
    if (items.length === 0) return []
    const { checked, refused, first } = await this.#check(items, (item, now) => checkReport(item, newId(), now))
    if (first) throw withItems(first, refused)
    const answer = (await this.#reports.send(environmentId, checked satisfies ReportItem[])) as ReportAnswer
    if ('problem' in answer) throw fromPlainProblem(answer.problem)
    return answer.usages
  }

  /**
   * Stores the events; counting them follows within moments. Good ones are stored although others are bad: those are named in `details.items` of
   * the one problem it then fails with. Safe to repeat: an event that is stored already is a success.
   */
  async reportEvents(environmentId: string, events: UsageEvent[]): Promise<void> {
    if (events.length === 0) return
    const { checked, refused, positions } = await this.#check(events, checkEvent)
    if (checked.length > 0) {
      const answer = (await this.#events.send(environmentId, checked satisfies EventItem[])) as EventAnswer
      if ('problem' in answer) throw fromPlainProblem(answer.problem)
      for (const item of answer.refused) refused.push({ ...item, index: positions[item.index]! })
    }
    if (refused.length === 0) return
    refused.sort((a, b) => a.index - b.index)
    throw withItems(
      invalidInput(`${refused.length} of ${events.length} events were refused; the others were stored. The first: ${refused[0]!.message}`),
      refused,
    )
  }

  /** `positions` are those of the checked items in the call. */
  async #check<T, Checked>(items: T[], check: (item: T, now: EpochMs) => Checked) {
    if (items.length > maxItemsPerCall) throw invalidInput(`a call has at most ${maxItemsPerCall} items`)
    const now = await this.#clock.now()
    const checked: Checked[] = []
    const positions: number[] = []
    const refused: RefusedItem[] = []
    let first: Problem | undefined
    for (const [index, item] of items.entries()) {
      try {
        checked.push(check(item, now))
        positions.push(index)
      } catch (error) {
        if (!(error instanceof Problem)) throw error
        first ??= error
        refused.push(refusedItem(index, error))
      }
    }
    return { checked, positions, refused, first }
  }
}
