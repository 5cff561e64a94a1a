import type { Redis } from 'ioredis'
import type pg from 'pg'
import type { Problem } from '../kernel/problem.js'
import type { Logger } from '../platform/logger.js'
import type { Registry } from '../platform/metrics.js'
import { Bindings, type LoadHoldings } from './bindings.js'
import { readTime } from './counter-repository.js'
import { DatabaseClock } from './database-clock.js'
import { EventIngestion } from './event-ingestion.js'
import { createIngestionMetrics } from './ingestion-metrics.js'
import { type AggregationJob, type IngestionJob, type IngestionReply, replyChannel } from './jobs.js'
import { unpackEvents } from './packed-events.js'
import { toPlainProblem } from './problems.js'
import { ReportIngestion } from './report-ingestion.js'

/** Settings of connections that count: statements are planned once and for any size. A plan made while a table was empty took 450 ms a batch. */
export const countingSession = { plan_cache_mode: 'force_generic_plan', enable_seqscan: 'off' }

export interface IngestionParts {
  pool: pg.Pool
  /** For replies. */
  redis: Redis
  /** Prefix of the reply channels: the queues'. */
  prefix: string
  loadHoldings: LoadHoldings
  metrics: Registry
  log: Logger
  /** Called after the commit of new usage. */
  changed: (environmentId: string) => void
  /** Called after the commit of new events. */
  stored: (job: AggregationJob) => void
}

/** Works off ingestion jobs: commits, then replies to the door, then wakes who is next. Safe to run twice for a job. */
export class Ingestion {
  readonly #parts: IngestionParts
  readonly #reports: ReportIngestion
  readonly #events: EventIngestion

  constructor(parts: IngestionParts) {
    this.#parts = parts
    const { pool, log, stored } = parts
    const metrics = createIngestionMetrics(parts.metrics)
    const clock = new DatabaseClock(() => readTime(pool))
    this.#reports = new ReportIngestion({ pool, log, metrics, clock, bindings: new Bindings(parts.loadHoldings) })
    this.#events = new EventIngestion({ pool, log, metrics, clock, stored })
  }

  /** `isRerun`: the job was started before. */
  async ingest({ environmentId, door, batchId, isRepeat, batch }: IngestionJob, isRerun: boolean): Promise<void> {
    const mayRepeat = isRepeat || isRerun
    if (batch.kind === 'events') {
      const calls = batch.calls.map(({ deadline, packed }) => ({ deadline, items: unpackEvents(packed) }))
      this.#reply(door, { batchId, answers: await this.#events.ingest(environmentId, calls, mayRepeat) })
      return
    }
    const answers = await this.#reports.ingest(environmentId, batch.calls, mayRepeat)
    this.#reply(door, { batchId, answers })
    if (answers.some((answer) => 'usages' in answer)) this.#parts.changed(environmentId)
  }

  /** Tells the door that nothing of the job was counted, and why. */
  refuse({ door, batchId, batch }: IngestionJob, problem: Problem): void {
    this.#reply(door, { batchId, answers: batch.calls.map(() => ({ problem: toPlainProblem(problem) })) })
  }

  /** Not waited for: a reply that is lost is asked for again by the door, so it must neither fail nor hold up what is committed. */
  #reply(door: string, reply: IngestionReply): void {
    const { redis, prefix, log } = this.#parts
    redis
      .publish(replyChannel(prefix, door), JSON.stringify(reply))
      .catch((error: unknown) => log.warn({ err: error, batchId: reply.batchId }, 'reply lost'))
  }
}
