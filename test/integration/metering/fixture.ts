import type pg from 'pg'
import type { ToldUsage } from '../../../src/changes/model/change.js'
import { unpackTold } from '../../../src/changes/wire/told-reports.js'
import * as decimal from '../../../src/kernel/decimal.js'
import { newId } from '../../../src/kernel/id.js'
import { Problem } from '../../../src/kernel/problem.js'
import { batchOwners, EventAggregation } from '../../../src/metering/aggregation/event-aggregation.js'
import { Bindings } from '../../../src/metering/counting/bindings.js'
import { countingSession } from '../../../src/metering/counting/counting-session.js'
import { UsageFilling } from '../../../src/metering/counting/usage-filling.js'
import type { HistoryQuestion } from '../../../src/metering/history/usage-history.js'
import { Ingestion } from '../../../src/metering/ingestion/ingestion.js'
import type { BacklogLimits } from '../../../src/metering/intake/backlog.js'
import type { UsageService } from '../../../src/metering/intake/service.js'
import type { UsageEvent, UsageReport } from '../../../src/metering/model/report.js'
import {
  type AggregationJob,
  aggregateEvents,
  fillUsage,
  type IngestionJob,
  ingestionShard,
  ingestUsage,
} from '../../../src/metering/wire/jobs.js'
import { DatabaseClock } from '../../../src/platform/database-clock.js'
import { silentLogger } from '../../../src/platform/logger.js'
import { createMetrics } from '../../../src/platform/metrics.js'
import { openPostgres, type Postgres } from '../../../src/platform/postgres.js'
import { Life } from '../../../src/platform/process.js'
import { consume } from '../../../src/platform/queue/consume.js'
import { type JobQueue, openQueue, type QueueConnection } from '../../../src/platform/queue.js'
import { openRedis, type Redis } from '../../../src/platform/redis.js'
import { type App, createApp } from '../../../src/wiring/app.js'
import { createUsage, type UsageOptions } from '../../../src/wiring/usage.js'
import { createTestDatabase } from '../../support/database.js'
import { testRedisPrefix, testRedisUrl } from '../../support/redis.js'
import { testWebhooks } from '../../support/webhooks.js'

/** The door and both workers on a database of their own, in one process. Workers are started by the test that wants them. */
export interface MeteringBench extends Postgres {
  databaseUrl: string
  life: Life
  app: App
  usage: UsageService
  /** Another door of the same usage. */
  newUsage(options?: Pick<UsageOptions, 'expectAnnouncement' | 'answerWithinMs'>): UsageService
  queues: QueueConnection
  redis: Redis
  ingestionQueue: JobQueue<IngestionJob>
  aggregationQueue: JobQueue<AggregationJob>
  /** As another process would have it: nothing cached. */
  newIngestion(): Ingestion
  newAggregation(): EventAggregation
  startIngestion(): void
  startAggregation(): void
  /** Of usage that readers have to compute. */
  startFilling(): void
  close(): Promise<Error[]>
}

export async function openMeteringBench({
  shards = 2,
  redisUrl = testRedisUrl(),
  limits = { maxWaitingJobs: 1_000, maxRedisBytes: null },
  session = {},
}: {
  shards?: number
  /** PostgreSQL settings of its connections, beside those of processes that count. */
  session?: Record<string, string>
  redisUrl?: string
  limits?: BacklogLimits
} = {}): Promise<MeteringBench> {
  const database = await createTestDatabase()
  const life = new Life('test', silentLogger())
  const postgres = openPostgres(life, database.url, { poolSize: 10, session: { ...countingSession, ...session } })
  const queues = { redisUrl, prefix: testRedisPrefix() }
  const app = createApp({ life, postgres, queues, clock: await DatabaseClock.open(life, postgres.pool), webhooks: testWebhooks })
  const redis = openRedis(life, queues.redisUrl, 'request')
  const aggregationQueue = openQueue(life, queues, aggregateEvents)
  const newIngestion = () =>
    new Ingestion({
      pool: postgres.pool,
      clock: app.clock,
      redis,
      prefix: queues.prefix,
      loadHeld: app.heldSeries,
      metrics: createMetrics('ingestion'),
      log: life.log,
      changed: app.after.changed,
      stored: (job) => {
        aggregationQueue.add(job).catch(() => undefined)
      },
    })
  const newAggregation = () =>
    new EventAggregation({
      pool: postgres.pool,
      clock: app.clock,
      bindings: new Bindings(app.heldSeries),
      metrics: createMetrics('aggregation'),
      changed: app.after.changed,
    })
  const doors: Life[] = []
  const newUsage: MeteringBench['newUsage'] = (options = {}) => {
    // As in another process: with metrics of its own.
    const door = new Life('door', silentLogger())
    doors.push(door)
    return createUsage({ life: door, queues, postgres, app, shards, limits, ...options })
  }
  return {
    ...postgres,
    databaseUrl: database.url,
    life,
    app,
    queues,
    redis,
    usage: createUsage({ life, queues, postgres, app, shards, limits }),
    newUsage,
    ingestionQueue: openQueue(life, queues, ingestUsage),
    aggregationQueue,
    newIngestion,
    newAggregation,
    startIngestion: () => {
      const ingestion = newIngestion()
      for (let shard = 0; shard < shards; shard++)
        consume(life, queues, ingestionShard(shard), {
          concurrency: 3,
          lockMs: 2_000,
          handler: (job, { job: { attemptsStarted } }) => ingestion.ingest(job, attemptsStarted > 1),
        })
    },
    startAggregation: () => {
      const aggregation = newAggregation()
      consume(life, queues, aggregateEvents, { concurrency: 2, owners: batchOwners, handler: (job) => aggregation.aggregate(job) })
    },
    startFilling: () => {
      const filling = new UsageFilling({ pool: postgres.pool, loadHeld: app.heldSeries })
      consume(life, queues, fillUsage, { concurrency: 2, handler: (job) => filling.fill(job) })
    },
    close: async () => {
      const failures = (await Promise.all([...doors, life].map((each) => each.stop()))).flat()
      await database.drop()
      return failures
    },
  }
}

const catalog = {
  features: [
    { refId: 'calls', displayName: 'Calls', type: 'NUMBER', meter: 'Incremental', units: 'call', unitsPlural: 'calls' },
    { refId: 'seats', displayName: 'Seats', type: 'NUMBER', meter: 'Fluctuating', units: 'seat', unitsPlural: 'seats' },
    { refId: 'unheld', displayName: 'In no plan', type: 'NUMBER', meter: 'Incremental', units: 'call', unitsPlural: 'calls' },
    { refId: 'sso', displayName: 'Single sign-on', type: 'BOOLEAN' },
    {
      refId: 'requests',
      displayName: 'Requests',
      type: 'NUMBER',
      meter: 'Incremental',
      units: 'request',
      unitsPlural: 'requests',
      events: { aggregation: 'COUNT', filters: [[{ field: 'eventName', operation: 'EQUALS', value: 'request' }]] },
    },
    {
      refId: 'tokens',
      displayName: 'Tokens',
      type: 'NUMBER',
      meter: 'Incremental',
      units: 'token',
      unitsPlural: 'tokens',
      events: {
        aggregation: 'SUM',
        field: 'tokens',
        filters: [
          [
            { field: 'eventName', operation: 'EQUALS', value: 'request' },
            { field: 'status', operation: 'NOT_EQUALS', value: 'failed' },
          ],
        ],
      },
    },
    ...(['MAX', 'MIN', 'AVG', 'UNIQUE'] as const).map((aggregation) => ({
      refId: aggregation.toLowerCase(),
      displayName: aggregation,
      type: 'NUMBER',
      meter: 'Incremental',
      units: 'unit',
      unitsPlural: 'units',
      events: {
        aggregation,
        field: aggregation === 'UNIQUE' ? 'user' : 'tokens',
        filters: [[{ field: 'eventName', operation: 'EQUALS', value: 'request' }]],
      },
    })),
  ],
  products: [{ refId: 'cloud', displayName: 'Cloud', settings: { multipleSubscriptions: true } }],
  plans: ['free', 'paid'].map((refId, index) => ({
    refId,
    product: 'cloud',
    displayName: refId,
    pricingType: index === 0 ? 'FREE' : 'CUSTOM',
    entitlements: [
      { feature: 'calls', limit: 10 * (index + 1), resetPeriod: 'MONTH' },
      { feature: 'seats', limit: 5 },
      { feature: 'sso' },
      { feature: 'requests', limit: 1_000 * (index + 1), resetPeriod: 'MONTH' },
      { feature: 'tokens', limit: 1_000 * (index + 1), resetPeriod: 'MONTH' },
      ...['max', 'min', 'avg', 'unique'].map((feature) => ({ feature, limit: 1_000, resetPeriod: 'HOUR' })),
    ],
  })),
}

/** An environment with the plans free and paid, which hold all features but `unheld`. */
export async function createEnvironment({ app }: MeteringBench): Promise<string> {
  const { environment } = await app.environments.create({ refId: newId() })
  await app.catalog.apply(environment.id, catalog, { dryRun: false, archiveMissing: false })
  return environment.id
}

export const report = (customerId: string, value: number, more: Partial<UsageReport> = {}): UsageReport => ({
  customerId,
  resourceId: null,
  featureId: 'calls',
  value: decimal.fromNumber(value),
  behavior: 'DELTA',
  timestamp: null,
  idempotencyKey: null,
  dimensions: null,
  ...more,
})

export const event = (customerId: string, idempotencyKey: string, more: Partial<UsageEvent> = {}): UsageEvent => ({
  customerId,
  resourceId: null,
  eventName: 'request',
  idempotencyKey,
  timestamp: null,
  dimensions: {},
  ...more,
})

/** Of the last six hours, as one line; times are the caller's business where it matters. */
export const historyOf = (customerId: string, featureId: string, more: Partial<HistoryQuestion> = {}): HistoryQuestion => ({
  customerId,
  resourceId: null,
  featureId,
  start: Date.now() - 6 * 3_600_000,
  end: Date.now() + 60_000,
  groupBy: [],
  reset: null,
  isOfActiveOnly: false,
  paging: null,
  ...more,
})

/** The problem that the work fails with. */
export async function problemOf(work: Promise<unknown>): Promise<Problem> {
  const result = await work.then(
    () => null,
    (error: unknown) => error,
  )
  if (!(result instanceof Problem)) throw new Error(`expected a Problem, not ${result}`)
  return result
}

/** Waits until `read` answers what is expected, at most ten seconds; answers what it read last. */
export async function eventually<T>(read: () => Promise<T>, isExpected: (value: T) => boolean): Promise<T> {
  const end = performance.now() + 10_000
  for (;;) {
    const value = await read()
    if (isExpected(value) || performance.now() > end) return value
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** The usage that a check of the feature would be decided with. */
export async function usageOf(
  bench: Pick<MeteringBench, 'app'>,
  environmentId: string,
  customerId: string,
  featureId: string,
  resourceId: string | null = null,
) {
  const state = await bench.app.entitlements.state(environmentId, customerId, resourceId)
  return state.entitlements.find(({ feature }) => feature.refId === featureId)?.usage?.currentUsage ?? null
}

/** What waits to be told of the customer's usage. */
export async function toldUsage({ prisma }: Pick<MeteringBench, 'prisma'>, environmentId: string, customerId: string) {
  const messages = await prisma.outboxMessage.findMany({ where: { environmentId, kind: 'usage' } })
  const told = messages.flatMap(({ payload, told }) =>
    told === null ? (payload as unknown as { usages: ToldUsage[] }).usages : unpackTold(told),
  )
  return told.filter((usage) => usage.customerId === customerId)
}

export async function count(pool: pg.Pool, table: string, environmentId: string): Promise<number> {
  const { rows } = await pool.query<{ count: string }>(`SELECT count(*) FROM ${table} WHERE environment_id = $1::uuid`, [environmentId])
  return Number(rows[0]!.count)
}
