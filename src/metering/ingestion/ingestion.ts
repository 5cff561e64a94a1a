import type { Redis } from 'ioredis'
import type pg from 'pg'
import type { HeldChange } from '../../changes/model/change.js'
import { announcementOf } from '../../changes/wire/announcements.js'
import { holdersKey, leasePrefix } from '../../changes/wire/holders.js'
import type { Clock } from '../../kernel/clock.js'
import type { Problem } from '../../kernel/problem.js'
import { inChildSpan } from '../../platform/context/tracing.js'
import type { Logger } from '../../platform/logger.js'
import type { Registry } from '../../platform/metrics.js'
import { Bindings } from '../counting/bindings.js'
import type { LoadHeldSeries } from '../counting/held-series.js'
import { toPlainProblem } from '../model/problems.js'
import type { ReportedUsage } from '../model/report.js'
import type { AggregationJob, IngestionJob } from '../wire/jobs.js'
import { unpackEvents } from '../wire/packed-events.js'
import { packAnswer, unpackCall } from '../wire/packed-reports.js'
import { announceAndReplyLua, type IngestionReply, packReply, replyChannel } from '../wire/replies.js'
import { createIngestionMetrics } from './batch/batch-metrics.js'
import { EventIngestion } from './events/event-ingestion.js'
import { ReportIngestion } from './reports/report-ingestion.js'

export interface IngestionParts {
  pool: pg.Pool
  /** The database's, which decides what is in time. */
  clock: Clock
  /** For replies. */
  redis: Redis
  /** Prefix of the reply channels: the queues'. */
  prefix: string
  loadHeld: LoadHeldSeries
  metrics: Registry
  log: Logger
  /** Called after the commit of new usage. */
  changed: (environmentId: string) => void
  /** Called after the commit of new events. */
  stored: (job: AggregationJob) => void
}

interface ScriptedRedis extends Redis {
  announceAndReply(...values: string[]): Promise<null>
}

/** Works off ingestion jobs: commits, then replies to the door, then wakes who is next. Safe to run twice for a job. */
export class Ingestion {
  readonly #parts: IngestionParts
  readonly clock: Clock
  readonly #redis: ScriptedRedis
  readonly #reports: ReportIngestion
  readonly #events: EventIngestion
  readonly #bindings: Bindings

  constructor(parts: IngestionParts) {
    this.#parts = parts
    parts.redis.defineCommand('announceAndReply', { numberOfKeys: 2, lua: announceAndReplyLua })
    this.#redis = parts.redis as ScriptedRedis
    const { pool, clock, log, stored } = parts
    const metrics = createIngestionMetrics(parts.metrics)
    this.clock = clock
    this.#bindings = new Bindings(parts.loadHeld)
    this.#reports = new ReportIngestion({ pool, log, metrics, clock, bindings: this.#bindings })
    this.#events = new EventIngestion({ pool, log, metrics, clock, stored })
  }

  /** `isRerun`: the job was started before. */
  async ingest(job: IngestionJob, isRerun: boolean): Promise<void> {
    const { environmentId, isRepeat, onlyStored, batch } = job
    const mayRepeat = isRepeat || isRerun
    if (batch.kind === 'events') {
      const calls = batch.calls.map(({ deadline, packed }) => ({ deadline, items: unpackEvents(packed) }))
      const answers = onlyStored ? this.#events.findStored(environmentId, calls) : this.#events.ingest(environmentId, calls, mayRepeat)
      this.#reply(job, await answers)
      return
    }
    const calls = batch.calls.map(unpackCall)
    const answers = await (onlyStored
      ? this.#reports.findStored(environmentId, calls)
      : this.#reports.ingest(environmentId, calls, mayRepeat))
    const usages = answers.flatMap((answer) => ('usages' in answer ? answer.usages : []))
    this.#reply(job, answers.map(packAnswer), usages)
    if (usages.length > 0) this.#parts.changed(environmentId)
  }

  /** The database has another history: what is known of it may never have been committed. */
  forgetAll(): void {
    this.#bindings.forgetAll()
  }

  /** Tells the door that nothing of the job was counted, and why. */
  refuse(job: IngestionJob, problem: Problem): void {
    this.#reply(
      job,
      job.batch.calls.map(() => ({ problem: toPlainProblem(problem) })),
    )
  }

  /** Not waited for: a reply that is lost is asked for again by the door, so it must neither fail nor hold up what is committed. */
  #reply(
    { environmentId, door, batchId, announcement }: IngestionJob,
    answers: IngestionReply['answers'],
    usages: ReportedUsage[] = [],
  ): void {
    const { prefix, log } = this.#parts
    const reply = [replyChannel(prefix, door), packReply({ batchId, answers })] as const
    const send = (): Promise<unknown> =>
      announcement && usages.length > 0
        ? this.#redis.announceAndReply(
            leasePrefix(prefix),
            holdersKey(prefix, environmentId),
            ...announcementOf(prefix, environmentId, toHeldChanges(usages), announcement),
            ...reply,
          )
        : this.#redis.publish(...reply)
    inChildSpan(ofReply, send).catch((error: unknown) => log.warn({ err: error, batchId }, 'reply lost'))
  }
}

const ofReply = { name: 'reply', kind: 'producer' } as const

/**
 * Readers that hold the state can take the usage over, where nothing else has changed; with it, their state is as of this report. Of many reports of the same
 * usage the latest says it all: each web process hears of every change.
 */
export function toHeldChanges(usages: readonly ReportedUsage[]): HeldChange[] {
  const latest = new Map<string, ReportedUsage>()
  for (const usage of usages) {
    const { customerId, resourceId, featureId, isAccessChanged } = usage
    const of = JSON.stringify(isAccessChanged ? [customerId] : [customerId, resourceId, featureId])
    const known = latest.get(of)
    if (!known || usage.timestamp >= known.timestamp) latest.set(of, usage)
  }
  return Array.from(latest.values(), toHeldChange)
}

function toHeldChange({ customerId, resourceId, featureId, timestamp, ...usage }: ReportedUsage): HeldChange {
  const { currentUsage, periodStart, periodEnd, isAccessChanged } = usage
  if (isAccessChanged) return { customerId, version: timestamp }
  return {
    customerId,
    version: timestamp,
    usage: { resourceId, featureId, usage: { currentUsage, periodStart, periodEnd, updatedAt: timestamp } },
  }
}
