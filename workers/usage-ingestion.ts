import { makeValidator } from 'envalid'
import { countingSession } from '../src/metering/counting/counting-session.js'
import { DirectIngestion } from '../src/metering/ingestion/direct-ingestion.js'
import { Ingestion } from '../src/metering/ingestion/ingestion.js'
import { shardVariables } from '../src/metering/intake/config.js'
import { KeyPruning } from '../src/metering/retention/key-pruning.js'
import { aggregateEvents, ingestDirectUsage, ingestionShard } from '../src/metering/wire/jobs.js'
import { loadTracing } from '../src/platform/cloud/traces.js'
import { clusterProblems, databaseVariables, port, positive, processVariables, redisVariables } from '../src/platform/config.js'
import { runProcess } from '../src/platform/process.js'
import { consume } from '../src/platform/queue/consume.js'
import { openQueue } from '../src/platform/queue.js'
import { openRedis } from '../src/platform/redis.js'
import { every } from '../src/platform/timer.js'
import { createApp } from '../src/wiring/app.js'
import { keepQueueScriptsLoaded } from '../src/wiring/queue-scripts.js'
import { openStores } from '../src/wiring/stores.js'

const environmentIds = makeValidator<string[]>((input) => {
  const ids = input.split(',').map((id) => id.trim())
  const wrong = ids.filter((id) => !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id))
  if (wrong.length > 0) throw new Error(`must be ids of environments, with commas between, not "${wrong.join(', ')}"`)
  return ids
})

const shardList = makeValidator<number[]>((input) => {
  if (input === 'none') return []
  const shards = input.split(',').map(Number)
  if (shards.some((shard) => !Number.isInteger(shard) || shard < 0))
    throw new Error(`must be none, or numbers from 0 on with commas between, not "${input}"`)
  return shards
})

const usageIngestionConfig = {
  ...processVariables,
  ...databaseVariables,
  ...redisVariables,
  PORT: port({ default: 4101, desc: 'Port of health and metrics' }),
  CONCURRENCY: positive({ default: 3, desc: 'Batches of usage that are committed at the same time, of each shard' }),
  ...shardVariables,
  SHARDS_TAKEN: shardList({
    default: undefined,
    desc: 'Shards that this process takes from, with commas between, such as `0,1`; `none`, for one that is there for DIRECT_ENVIRONMENTS only; all unless given',
  }),
  DIRECT_ENVIRONMENTS: environmentIds({
    default: undefined,
    desc: 'Environments whose sidecars add usage to a queue of their own (their QUEUE_REDIS_URL), with commas between: the ids that `npm run admin -- environment list` shows',
  }),
  PRUNE_INTERVAL_MS: positive({
    default: 10_000,
    desc: 'Pause between two small steps of deleting identities of usage that are too old to be repeated',
  }),
}

/**
 * Counts reports and stores events, then replies to the door that sent them. Several copies may run: identities are unique in the database, customers
 * are locked in one order, and a batch that is worked on twice is counted once.
 */
await runProcess({ name: 'usage-ingestion', spec: usageIngestionConfig, check: clusterProblems, loadTracing }, async (config, life) => {
  const { postgres, clock, queues } = await openStores(life, config, {
    session: countingSession,
  })
  const { heldSeries, environments, after } = createApp({ life, postgres, queues, clock })
  const aggregation = openQueue(life, queues, aggregateEvents)
  const ingestion = new Ingestion({
    pool: postgres.pool,
    clock,
    redis: openRedis(life, queues.redisUrl, 'request'),
    prefix: queues.prefix,
    loadHeld: heldSeries,
    metrics: life.metrics,
    log: life.log,
    changed: after.changed,
    stored: (job) => {
      aggregation
        .add(job)
        .catch((error: unknown) => life.log.warn({ err: error, batchId: job.batchId }, 'wake-up lost, the sweep will find the batch'))
    },
  })
  postgres.epoch.onChange(() => ingestion.forgetAll())
  // A killed worker's batch goes to another one after two to three seconds; its door has asked again by then.
  for (const shard of config.SHARDS_TAKEN ?? Array.from({ length: config.INGESTION_SHARDS }, (_, index) => index)) {
    consume(life, queues, ingestionShard(shard), {
      concurrency: config.CONCURRENCY,
      lockMs: 2_000,
      handler: (data, { job }) => ingestion.ingest(data, job.attemptsStarted > 1),
    })
  }
  const direct = new DirectIngestion(environments, ingestion)
  keepQueueScriptsLoaded(life, queues)
  for (const environmentId of config.DIRECT_ENVIRONMENTS ?? []) {
    consume(life, queues, ingestDirectUsage(environmentId), {
      concurrency: config.CONCURRENCY,
      lockMs: 2_000,
      handler: (data, { job }) => direct.ingest(environmentId, data, job.attemptsStarted > 1),
    })
  }
  const pruning = new KeyPruning(postgres.pool)
  every(life, 'key pruning', config.PRUNE_INTERVAL_MS, () => pruning.step())
  await life.serveHealth({ port: config.PORT, host: config.BIND_ADDRESS })
})
