import { AuditRetention } from '../src/audit/retention.js'
import { sweepBatches } from '../src/metering/aggregation/batch-sweep.js'
import { batchOwners, EventAggregation } from '../src/metering/aggregation/event-aggregation.js'
import { RecomputationWorker } from '../src/metering/corrections/recomputation.js'
import { Bindings } from '../src/metering/counting/bindings.js'
import { countingSession } from '../src/metering/counting/counting-session.js'
import { UsageFilling } from '../src/metering/counting/usage-filling.js'
import { changeableDays } from '../src/metering/model/windows.js'
import { EventRetention } from '../src/metering/retention/event-retention.js'
import { aggregateEvents, fillUsage } from '../src/metering/wire/jobs.js'
import { loadTracing } from '../src/platform/cloud/traces.js'
import { clusterProblems, databaseVariables, integer, port, positive, processVariables, redisVariables } from '../src/platform/config.js'
import { runProcess } from '../src/platform/process.js'
import { consume } from '../src/platform/queue/consume.js'
import { openQueue } from '../src/platform/queue.js'
import { every } from '../src/platform/timer.js'
import { createApp } from '../src/wiring/app.js'
import { openStores } from '../src/wiring/stores.js'
import { findUsagePeriods } from '../src/wiring/usage-periods.js'

const eventAggregationConfig = {
  ...processVariables,
  ...databaseVariables,
  ...redisVariables,
  PORT: port({ default: 4102, desc: 'Port of health and metrics' }),
  CONCURRENCY: positive({
    default: 128,
    desc: 'Environments whose batches of events are counted at the same time; those of one are counted together',
  }),
  SWEEP_INTERVAL_MS: positive({ default: 3_000, desc: 'How often stored batches of events without a job are looked for' }),
  AUDIT_KEPT_DAYS: positive({ default: 400, desc: 'Entries of the audit log are kept for at least so many days, in whole months' }),
  EVENTS_KEPT_DAYS: integer({
    default: 0,
    desc: `Raw events are kept for at least so many days; for the longest usage period of the catalog and ${changeableDays} days in any case`,
  }),
}

/** The months that are needed next are made two months ahead. */
const retentionIntervalMs = 3_600_000

/**
 * Counts raw events through the meters into current usage. Several copies may run: a batch is claimed, counted and forgotten in one transaction, and
 * customers are locked in the order in which ingestion locks them.
 */
await runProcess({ name: 'event-aggregation', spec: eventAggregationConfig, check: clusterProblems, loadTracing }, async (config, life) => {
  const { postgres, clock, queues } = await openStores(life, config, {
    session: countingSession,
  })
  const { heldSeries, after } = createApp({ life, postgres, queues, clock })
  const counting = {
    pool: postgres.pool,
    bindings: new Bindings(heldSeries),
    changed: after.changed,
  }
  postgres.epoch.onChange(() => counting.bindings.forgetAll())
  const aggregation = new EventAggregation({ ...counting, clock, metrics: life.metrics })
  const recomputations = new RecomputationWorker({ ...counting, log: life.log })
  every(life, 'recomputations', config.SWEEP_INTERVAL_MS, () => recomputations.run(life.signal))
  consume(life, queues, aggregateEvents, {
    concurrency: config.CONCURRENCY,
    owners: batchOwners,
    handler: (job) => aggregation.aggregate(job),
  })
  life.onStop('batches that wait', () => aggregation.stop())
  const filling = new UsageFilling({ pool: postgres.pool, loadHeld: heldSeries })
  consume(life, queues, fillUsage, { concurrency: 2, handler: (job) => filling.fill(job) })
  const queue = openQueue(life, queues, aggregateEvents)
  every(life, 'sweep of waiting batches', config.SWEEP_INTERVAL_MS, () => sweepBatches(postgres.pool, queue))
  const usagePeriods = () => findUsagePeriods(postgres.prisma)
  const retention = new EventRetention({
    pool: postgres.pool,
    log: life.log,
    metrics: life.metrics,
    keptDays: config.EVENTS_KEPT_DAYS,
    usagePeriods,
  })
  // At once too: the platform may have been down for months. What fails is done by the next run.
  await retention.run(life.signal).catch((error: unknown) => life.log.warn({ err: error }, 'months of raw events not tended yet'))
  every(life, 'months of raw events', retentionIntervalMs, () => retention.run(life.signal))
  const auditRetention = new AuditRetention({ pool: postgres.pool, log: life.log, metrics: life.metrics, keptDays: config.AUDIT_KEPT_DAYS })
  await auditRetention.run(life.signal).catch((error: unknown) => life.log.warn({ err: error }, 'months of the audit log not tended yet'))
  every(life, 'months of the audit log', retentionIntervalMs, () => auditRetention.run(life.signal))
  await life.serveHealth({ port: config.PORT, host: config.BIND_ADDRESS })
})
