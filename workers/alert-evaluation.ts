import { advanceRounds } from '../src/changes/evaluations.js'
import { announceOver } from '../src/notifications/alerts/announcing.js'
import { Evaluator } from '../src/notifications/evaluation/evaluator.js'
import { loadTracing } from '../src/platform/cloud/traces.js'
import { clusterProblems, databaseVariables, port, positive, processVariables, redisVariables } from '../src/platform/config.js'
import { runProcess } from '../src/platform/process.js'
import { openRedis } from '../src/platform/redis.js'
import { every } from '../src/platform/timer.js'
import { createApp } from '../src/wiring/app.js'
import { openStores } from '../src/wiring/stores.js'

const alertEvaluationConfig = {
  ...processVariables,
  ...databaseVariables,
  ...redisVariables,
  PORT: port({ default: 4108, desc: 'Port of health and metrics' }),
  CONCURRENCY: positive({ default: 100, desc: 'Customers that are evaluated at a time' }),
  SWEEP_INTERVAL_MS: positive({ default: 200, desc: 'How often customers with something to be evaluated are looked for' }),
  CROSSINGS_KEPT_DAYS: positive({ default: 90, desc: 'How long crossings of alerts that have ended are kept, from when they began' }),
}

/** Of one environment: about as many are evaluated in a second. */
const roundSize = 200
const roundIntervalMs = 500
const endedPeriodsIntervalMs = 1_000
const deletedIntervalMs = 5_000
const retentionIntervalMs = 10 * 60_000

/**
 * Looks at customers of whom something has changed: whether thresholds of alerts were reached or left, and what they may use now. Several copies may run: a customer is
 * leased to one of them at a time, and what comes of it is recorded once.
 */
await runProcess({ name: 'alert-evaluation', spec: alertEvaluationConfig, check: clusterProblems, loadTracing }, async (config, life) => {
  const { postgres, clock, queues } = await openStores(life, config)
  const { pool, prisma } = postgres
  const { entitlements } = createApp({ life, postgres, queues, clock })
  const redis = openRedis(life, queues.redisUrl, 'request')
  const announce = announceOver({ redis, prefix: queues.prefix, log: life.log })
  const evaluator = new Evaluator({ pool, prisma, entitlements, clock, announce, log: life.log, metrics: life.metrics })

  every(life, 'evaluations', config.SWEEP_INTERVAL_MS, async () => {
    // A few are left until the next look: what a lot costs is mostly the same for one customer and for many.
    while (!life.signal.aborted && (await evaluator.run(config.CONCURRENCY)) >= config.CONCURRENCY / 4);
  })
  every(life, 'ended usage periods', endedPeriodsIntervalMs, () => evaluator.askEnded())
  every(life, 'rounds of evaluations', roundIntervalMs, async () => {
    while (!life.signal.aborted && (await advanceRounds(pool, roundSize)));
  })
  every(life, 'old crossings', retentionIntervalMs, () => evaluator.forgetOld(config.CROSSINGS_KEPT_DAYS, life.signal))
  every(life, 'deleted alerts', deletedIntervalMs, () => evaluator.forgetDeleted(life.signal))
  await life.serveHealth({ port: config.PORT, host: config.BIND_ADDRESS })
})
