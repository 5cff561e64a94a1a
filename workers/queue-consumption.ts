import { Problem } from '../src/kernel/problem.js'
import { trackErrors } from '../src/platform/cloud/error-tracking.js'
import { consumeSqs } from '../src/platform/cloud/sqs.js'
import { loadTracing } from '../src/platform/cloud/traces.js'
import { KeyWatch } from '../src/platform/key-watch.js'
import { Counter } from '../src/platform/metrics.js'
import { runProcess } from '../src/platform/process.js'
import { consume } from '../src/platform/queue/consume.js'
import { openRedis } from '../src/platform/redis.js'
import { every } from '../src/platform/timer.js'
import { applyChange, type FetchState } from '../src/updates/external-cache/apply.js'
import { cacheRedisUrl, queueConsumptionDefinition, queueRedisUrl, sqsQueue } from '../src/updates/external-cache/config.js'
import { Feed } from '../src/updates/external-cache/feed.js'
import { changesIn, letGoOrHold, OwnMessages, otherEnvironment, queueKeyCheck, tryLater } from '../src/updates/external-cache/jobs.js'
import { reload } from '../src/updates/external-cache/reload.js'
import { keyRefused, StateApi } from '../src/updates/external-cache/state-api.js'
import { CacheUpkeep } from '../src/updates/external-cache/upkeep.js'
import { ExternalCacheWriter } from '../src/updates/external-cache/writer.js'
import type { QueueMessage } from '../src/updates/wire/queue-message.js'

/** How soon an empty cache is filled, and messages are found to be missing. */
const upkeepIntervalMs = 5_000

/**
 * Keeps an environment's external cache current (the persistent-cache-service). Several copies may run: an older version never overwrites a newer
 * one, so a message may be applied twice and in any order. When the platform may have lost messages it tells so, and everything is read anew.
 */
await runProcess({ ...queueConsumptionDefinition, loadTracing }, async (config, life) => {
  if (config.ERRTRACK_DSN !== undefined && !config.DISABLE_ERRTRACK) await trackErrors(life, { dsn: config.ERRTRACK_DSN })
  const redis = openRedis(life, cacheRedisUrl(config), 'request', 'limited')
  const cache = new ExternalCacheWriter({ redis, prefix: config.ENVIRONMENT_PREFIX, ttlSeconds: config.KEYS_TTL_IN_SECS })
  const api = life.open('api', new StateApi({ url: config.EDGE_API_URL, apiKey: config.SERVER_API_KEY }), (a) => a.close())
  const key = new KeyWatch(life, { key: config.SERVER_API_KEY, ask: queueKeyCheck(api, config.QUEUE_URL) })
  const applied = new Counter({
    name: 'tollgate_external_cache_messages_total',
    help: 'Messages by kind and outcome: written, or nothing to write (older than what is there)',
    labelNames: ['kind', 'outcome'],
    registers: [life.metrics],
  })

  const fetchState: FetchState = async (...asked) => {
    try {
      return await api.fetch(...asked)
    } catch (error) {
      if (error instanceof Problem && error.reason === keyRefused) key.hear(false)
      throw error
    }
  }
  const own = new OwnMessages(api, config.QUEUE_URL)
  const feed = new Feed({ redis, prefix: config.ENVIRONMENT_PREFIX })
  /** `ofAway` says what is thrown of a message that something was away for. */
  const apply = async (message: QueueMessage, signal: AbortSignal, ofAway: (problem: Problem) => Problem | Promise<never>) => {
    const parts = { cache, fetchState, signal }
    try {
      await own.check(message, signal)
      if (message.kind === 'heartbeat') return await feed.beat(message)
      const isNews = await (message.kind === 'reload' ? reload(message, parts) : applyChange(message, parts))
      applied.inc({ kind: message.kind, outcome: isNews ? 'written' : 'nothing' })
      await feed.settle(message)
    } catch (error) {
      const isAway = error instanceof Problem && error.isRetryable
      const isOwn = !(error instanceof Problem) || error.reason !== otherEnvironment
      if (isAway) await feed.wait(message)
      const outcome: unknown = isAway
        ? await Promise.resolve(error)
            .then(ofAway)
            .catch((thrown: unknown) => thrown)
        : error
      if (isOwn && outcome instanceof Problem && !outcome.isRetryable) await feed.settle(message)
      throw outcome
    }
  }
  const changes = changesIn(config.QUEUE_URL.queue)
  if (config.QUEUE_URL.kind === 'sqs')
    await consumeSqs(life, sqsQueue(config.QUEUE_URL, config), changes, {
      batchSize: config.BATCH_SIZE,
      handler: (message, { signal }) => apply(message, signal, letGoOrHold),
    })
  else {
    const connection = { redisUrl: queueRedisUrl(config.QUEUE_URL, config), prefix: config.QUEUE_URL.prefix, user: 'limited' } as const
    consume(life, connection, changes, {
      // One more, as reading everything anew takes minutes in a large cache.
      concurrency: config.BATCH_SIZE + 1,
      handler: (message, { signal, job }) =>
        apply(message, signal, (problem) => {
          const about = 'customerId' in message ? { customerId: message.customerId } : { epoch: message.epoch }
          life.log.warn({ err: problem, jobId: job.id, ...about }, 'change could not be applied, trying again later')
          return tryLater(job, problem)
        }),
    })
  }

  const upkeep = new CacheUpkeep({ feed, cache, api, fetchState, log: life.log })
  every(life, 'upkeep of the cache', upkeepIntervalMs, async () => {
    if (redis.status === 'ready') await upkeep.look(life.signal)
  })
  life.readyWhen(async () => {
    const isCacheThere = redis.status === 'ready' && (await isAnswered(redis.ping()))
    return { status: isCacheThere ? 'UP' : 'DOWN', isCacheThere }
  })
  await life.serveHealth(
    { port: config.PORT, host: config.BIND_ADDRESS },
    {
      // Deployed probes know these three fields and no other. `redis` and `queue` are what the consumer says of the one with the messages.
      toldAs: ({ status, redis: queueRedis = 'UP', isCacheThere }) => {
        const isConnected = queueRedis === 'UP' && isCacheThere === true
        return { status, consumers: status === 'UP' ? 1 : 0, redis: isConnected ? 'CONNECTED' : 'DISCONNECTED' }
      },
    },
  )
})

function isAnswered(answer: Promise<unknown>): Promise<boolean> {
  return answer.then(
    () => true,
    () => false,
  )
}
