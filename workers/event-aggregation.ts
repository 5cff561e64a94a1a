import { createApp } from '../src/app.js'
import { ensurePartitions, sweepBatches } from '../src/metering/batch-sweep.js'
import { Bindings } from '../src/metering/bindings.js'
import { EventAggregation } from '../src/metering/event-aggregation.js'
import { countingSession } from '../src/metering/ingestion.js'
import { aggregateEvents } from '../src/metering/jobs.js'
import { createNudges } from '../src/metering/nudges.js'
import { RecomputationWorker } from '../src/metering/recomputation.js'
import { databaseVariables, port, positive, processVariables, redisVariables } from '../src/platform/config.js'
import { connectPostgres } from '../src/platform/postgres.js'
import { runProcess } from '../src/platform/process.js'
import { consume, openQueue } from '../src/platform/queue.js'
import { every } from '../src/platform/timer.js'

export const eventAggregationConfig = {
  ...processVariables,
  ...databaseVariables,
  ...redisVariables,
  PORT: port({ default: 4102, desc: 'Port of health and metrics' }),
  CONCURRENCY: positive({ default: 16, desc: 'Batches of events in work at once; those of one environment are counted together' }),
  SWEEP_INTERVAL_MS: positive({ default: 3_000, desc: 'How often stored batches of events without a job are looked for' }),
}

const partitionsIntervalMs = 6 * 3_600_000

/**
 * Counts raw events through the meters into current usage. Several copies may run: a batch is claimed, counted and forgotten in one transaction, and
 * customers are locked in the order in which ingestion locks them.
 */
await runProcess({ name: 'event-aggregation', spec: eventAggregationConfig }, async (config, life) => {
  const postgres = await connectPostgres(life, config.DATABASE_URL.reveal(), {
    poolSize: config.DATABASE_POOL_SIZE,
    session: countingSession,
  })
  const queues = { redisUrl: config.REDIS_URL.reveal(), prefix: config.QUEUE_PREFIX }
  const { entitlements, after } = createApp({ life, postgres, queues })
  const counting = {
    pool: postgres.pool,
    bindings: new Bindings((environmentId, places) =>
      postgres.prisma.$transaction((db) => entitlements.holdings(db, environmentId, places), { isolationLevel: 'RepeatableRead' }),
    ),
    changed: createNudges(after.changed),
  }
  const aggregation = new EventAggregation({ ...counting, metrics: life.metrics })
  const recomputations = new RecomputationWorker(counting)
  every(life, 'recomputations', config.SWEEP_INTERVAL_MS, () => recomputations.run(life.signal))
  consume(life, queues, aggregateEvents, { concurrency: config.CONCURRENCY, handler: (job) => aggregation.aggregate(job) })
  const queue = openQueue(life, queues, aggregateEvents)
  every(life, 'sweep of waiting batches', config.SWEEP_INTERVAL_MS, () => sweepBatches(postgres.pool, queue))
  await ensurePartitions(postgres.pool)
  every(life, 'partitions of raw events', partitionsIntervalMs, () => ensurePartitions(postgres.pool))
  await life.serveHealth({ port: config.PORT, host: config.BIND_ADDRESS })
})
