import type pg from 'pg'
import type { Clock } from '../../kernel/clock.js'
import { showKept } from '../../platform/metrics.js'
import type { Life } from '../../platform/process.js'
import { openQueue, type QueueConnection } from '../../platform/queue.js'
import { openRedis, openSubscriber } from '../../platform/redis.js'
import { countWaitingBatches } from '../aggregation/batch-repository.js'
import { Corrections } from '../corrections/corrections.js'
import { Recomputations } from '../corrections/recomputation.js'
import type { LoadHeldSeries } from '../counting/held-series.js'
import { type FindHeld, UsageHistory } from '../history/usage-history.js'
import { aggregateEvents, ingestionShard } from '../wire/jobs.js'
import { Backlog, type BacklogLimits } from './backlog.js'
import { type FindTestClock, UsageIntake, type UsageIntakeParts } from './intake.js'
import { Replies } from './replies.js'

interface IntakeOptions extends Pick<UsageIntakeParts, 'expectAnnouncement' | 'answerWithinMs'> {
  life: Life
  queues: QueueConnection
  pool: pg.Pool
  clock: Clock
  findTestClock: FindTestClock
  limits: BacklogLimits
  /** Queues that ingestion is spread over; the workers must take from as many. */
  shards: number
}

export interface UsageParts extends IntakeOptions {
  loadHeld: LoadHeldSeries
  findHeld: FindHeld
  /** Called after a correction. */
  changed: (environmentId: string) => void
}

/** Usage as the front door serves it: taken in, corrected, counted anew and shown. */
export class UsageService extends UsageIntake {
  readonly corrections: Corrections
  readonly recomputations: Recomputations
  readonly history: UsageHistory

  constructor({ pool, loadHeld, findHeld, changed, ...options }: UsageParts) {
    super(openIntake({ ...options, pool }))
    this.corrections = new Corrections({ pool, loadHeld, changed })
    showKept(options.life.metrics, 'usage without an answer', () => this.waitingBytes)
    this.recomputations = new Recomputations(pool)
    this.history = new UsageHistory({ pool, findHeld })
  }
}

/** The queues that all environments share, by the clock of the database. */
function openIntake({
  life,
  queues,
  pool,
  clock,
  limits,
  shards,
  expectAnnouncement,
  answerWithinMs,
  findTestClock,
}: IntakeOptions): UsageIntakeParts {
  const shardQueues = Array.from({ length: shards }, (_, index) => openQueue(life, queues, ingestionShard(index)))
  const aggregation = openQueue(life, queues, aggregateEvents)
  const events = {
    // A worker takes many at once.
    queue: { waiting: () => aggregation.unfinished() },
    batchesOf: (environmentId: string, most: number) => countWaitingBatches(pool, environmentId, most),
  }
  const redis = openRedis(life, queues.redisUrl, 'request')
  return {
    queues: shardQueues,
    replies: new Replies(openSubscriber(life, queues), queues.prefix),
    clock,
    backlog: new Backlog({ redis, queues: shardQueues, events, limits, log: life.log, metrics: life.metrics }),
    expectAnnouncement,
    answerWithinMs,
    findTestClock,
  }
}
