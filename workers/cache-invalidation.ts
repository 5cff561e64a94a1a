import { SqsSender } from '../src/platform/cloud/sqs-sender.js'
import { loadTracing } from '../src/platform/cloud/traces.js'
import {
  type Config,
  clusterProblems,
  databaseVariables,
  port,
  positive,
  processVariables,
  redisVariables,
} from '../src/platform/config.js'
import { watchEpoch } from '../src/platform/postgres.js'
import { runProcess } from '../src/platform/process.js'
import { consume } from '../src/platform/queue/consume.js'
import { openRedis } from '../src/platform/redis.js'
import { every } from '../src/platform/timer.js'
import { ChangeDelivery } from '../src/updates/deliver/delivery.js'
import { EndedPeriods } from '../src/updates/deliver/ended-periods.js'
import { FeedEpochs } from '../src/updates/deliver/feed-epochs.js'
import { deliverChanges, openEnvironmentQueues } from '../src/updates/deliver/jobs.js'
import { changeSinks } from '../src/updates/deliver/sinks.js'
import { sqsAccess, sqsAccessProblems, sqsVariables } from '../src/updates/deliver/sqs-config.js'
import { SqsFeeds } from '../src/updates/deliver/sqs-feeds.js'
import { WarmingDelivery } from '../src/updates/deliver/warming-delivery.js'
import { StateCache } from '../src/updates/held/state-cache.js'
import { createApp } from '../src/wiring/app.js'
import { keepQueueScriptsLoaded } from '../src/wiring/queue-scripts.js'
import { openStores } from '../src/wiring/stores.js'

const cacheInvalidationConfig = {
  ...processVariables,
  ...databaseVariables,
  ...redisVariables,
  ...sqsVariables,
  PORT: port({ default: 4104, desc: 'Port of health and metrics' }),
  CONCURRENCY: positive({ default: 4, desc: 'Environments whose changes are delivered at the same time' }),
  SWEEP_INTERVAL_MS: positive({ default: 2_000, desc: 'How often undelivered changes without a job are looked for' }),
}

const problems = (config: Config<typeof cacheInvalidationConfig>) => [...sqsAccessProblems(config), ...clusterProblems(config)]

/** Environments that wait here for their turn: while a nudge of one waits in the queue, it has none. */
const heldNudges = 1_000
/** What has ended is to be told within a minute (`ended-periods.ts` has the rest of it). */
const endedPeriodsIntervalMs = 5_000
/** How soon persistent caches hear that messages may have been lost. */
const epochIntervalMs = 2_000
/** How fresh a persistent cache can be known to be. */
const heartbeatIntervalMs = 5_000
/** Between two turns of filling a persistent cache. */
const warmingIntervalMs = 2_000

/**
 * Turns committed changes into fresh entitlement states, and tells the web processes and environment queues; tells those who listen of usage periods that
 * have ended. Several copies may run: a message is leased before it is delivered, and delivering it twice is harmless because versions decide.
 */
await runProcess({ name: 'cache-invalidation', spec: cacheInvalidationConfig, check: problems, loadTracing }, async (config, life) => {
  const { postgres, clock, queues } = await openStores(life, config, {
    // Statements on the outbox are planned once, and that while it is empty would be to read all of it, also when it is long.
    session: { enable_seqscan: 'off' },
  })
  const redis = openRedis(life, queues.redisUrl, 'request')
  watchEpoch(life, postgres)
  const { entitlements, environments, databaseEpoch } = createApp({ life, postgres, queues, clock })
  const sqs = new SqsFeeds({ sender: new SqsSender(life, sqsAccess(config)), log: life.log })
  const epochs = new FeedEpochs({ life, queues, pool: postgres.pool, databaseEpoch, sqs })
  const persistentCacheOf = (id: string) => environments.persistentCacheOf(id)
  const sinks = changeSinks({ life, redis, queues, databaseEpoch, persistentCacheOf, sqs, epochs })
  const delivery = new ChangeDelivery({
    pool: postgres.pool,
    clock,
    epoch: databaseEpoch,
    entitlements,
    cache: new StateCache(redis, queues.prefix, databaseEpoch),
    sinks,
    metrics: life.metrics,
    log: life.log,
    concurrency: config.CONCURRENCY,
  })
  const endedPeriods = new EndedPeriods({ pool: postgres.pool, redis, prefix: queues.prefix, entitlements, sinks, log: life.log })
  const queueOf = openEnvironmentQueues(life, queues)
  const warming = new WarmingDelivery({ pool: postgres.pool, entitlements, sinks, queueOf, log: life.log })

  consume(life, queues, deliverChanges, {
    concurrency: heldNudges,
    handler: ({ environmentId }, { signal }) => delivery.deliver(environmentId, signal),
  })
  keepQueueScriptsLoaded(life, queues)
  every(life, 'outbox sweep', config.SWEEP_INTERVAL_MS, () => delivery.sweep(life.signal))
  life.onStop('deliveries of the sweep', () => delivery.sweptAll())
  every(life, 'epochs of persistent caches', epochIntervalMs, () => epochs.look())
  every(life, 'heartbeats of persistent caches', heartbeatIntervalMs, () => epochs.beat())
  life.onStop('what queues of SQS are told', () => epochs.toldAll())
  every(life, 'warming of persistent caches', warmingIntervalMs, () => warming.work(life.signal))
  life.onStop('turns of warming', () => warming.workedAll())
  every(life, 'ended usage periods', endedPeriodsIntervalMs, () => endedPeriods.tell(life.signal))
  await life.serveHealth({ port: config.PORT, host: config.BIND_ADDRESS })
})
