import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../kernel/clock.js'
import type { Log } from '../../kernel/log.js'
import { Secret } from '../../kernel/secret.js'
import { hostAlone, urlOfParts, withAccess, withSentinelAccess } from '../../platform/redis/address.js'
import { ApiClient } from '../../reader/api/client.js'
import { ApiClock } from '../../reader/api/clock.js'
import { StateReader } from '../../reader/api/messages.js'
import type { EntitlementCache } from '../../reader/cache/cache.js'
import { MemoryCache } from '../../reader/cache/memory.js'
import { ApiSource, type ApiSourceParts } from '../../reader/source/api-source.js'
import { offlineSource } from '../../reader/source/offline.js'
import { PersistentUsage } from '../../reader/source/persistent-usage.js'
import type { EntitlementSource } from '../../reader/source/source.js'
import { FreshnessJudge } from '../../reader/states/freshness.js'
import { RightsPool } from '../../reader/states/rights.js'
import type { RedisOptions } from '../types.js'
import { type ClientMetrics, tell } from './figures.js'
import { type ClientOptions, checkOptions, defaultCacheBytes, defaults, type Hooks, silentLog } from './options.js'

/** Puts a client together. What one mode needs is loaded in that mode only. */
export interface Opened {
  source: EntitlementSource
  /** Null: offline. */
  api: ApiClient | null
  cache: EntitlementCache | null
  clock: Clock
  close(): Promise<void>
}

export async function open(options: ClientOptions, metrics: ClientMetrics): Promise<Opened> {
  checkOptions(options)
  const clock = new ApiClock()
  if (options.offline) return { source: offlineSource, api: null, cache: null, clock, close: async () => {} }
  const { apiUrl: url = defaults.apiUrl, timeoutMs = defaults.timeoutMs, hooks = {} } = options
  const apiKey = new Secret(options.apiKey!)
  const log = options.logger ?? silentLog
  const closers = new Closers(log)
  const hearKey = keyListener(hooks, log)
  const edgeUrl = options.edgeEnabled === false ? null : (options.edgeApiUrl ?? url)
  const api = closers.open('API client', new ApiClient({ url, edgeUrl, apiKey, timeoutMs, metrics, clock, hearKey }), (client) =>
    client.close(),
  )
  const pool = new RightsPool()
  const states = new StateReader(pool)
  const { refreshAfterMs = defaults.refreshAfterMs, maxStalenessMs = defaults.maxStalenessMs } = options
  const judge = new FreshnessJudge({ refreshAfterMs: Math.min(refreshAfterMs, maxStalenessMs), maxStalenessMs })
  const cache = new MemoryCache(options.cacheMaxSizeBytes ?? defaultCacheBytes())
  const usage = new PersistentUsage(api, timeoutMs)
  const parts = { cache, api, usage, states, judge, clock, metrics, log }
  const opened = { api, cache, clock, close: () => closers.close() }
  if (options.redis)
    return {
      ...opened,
      source: await openExternal(options.redis, closers, pool, {
        ...parts,
        maxStalenessMs: options.maxStalenessMs ?? Number.POSITIVE_INFINITY,
      }),
    }
  const source = new ApiSource(parts)
  if (options.wsEnabled !== false) {
    const { RealTimeUpdates } = await import('../../reader/api/real-time-updates.js')
    const updates = new RealTimeUpdates({
      url: options.wsUrl ?? webSocketUrl(url),
      apiKey,
      judge,
      states,
      onState: (state) => source.applyState(state),
      onUsage: (change) => source.applyUsage(change),
      onUnknown: (customerId, since) => source.applyUnknown(customerId, since),
      hearKey,
      clock,
      metrics,
      log,
    })
    closers.open('real-time updates', updates, (u) => u.close())
  }
  return { ...opened, source }
}

/** A cache that is there answers the first check already; one that is not must not keep the application from starting. */
const firstConnectionMs = 500

async function openExternal(
  { environmentPrefix: prefix, host = 'localhost', port = 6379, db = 0, username, password, tls = false, ttl, ...access }: RedisOptions,
  closers: Closers,
  pool: RightsPool,
  parts: ApiSourceParts & { maxStalenessMs: number },
): Promise<EntitlementSource> {
  const [{ openRedis }, { ExternalCacheReader }, { ExternalCacheWriter }, { ExternalSource }] = await Promise.all([
    import('../../platform/redis.js'),
    import('../../reader/cache/redis.js'),
    import('../../updates/external-cache/writer.js'),
    import('../../reader/source/external-source.js'),
  ])
  const address = withSentinelAccess(urlOfParts({ host: hostAlone(host), port, db, isEncrypted: tls }), {
    username: access.sentinelUsername,
    password: access.sentinelPassword,
  })
  const redis = openRedis(closers, withAccess(address, username, password), 'request', 'limited')
  await Promise.race([new Promise<void>((resolve) => redis.once('ready', resolve)), sleep(firstConnectionMs)])
  const writer = new ExternalCacheWriter({ redis, prefix, ttlSeconds: ttl ?? defaults.redisTtlSeconds })
  const reader = new ExternalCacheReader({ redis, prefix, pool })
  const apiSource = new ApiSource({ ...parts, onRead: (owner, json) => source.keep(owner, json) })
  const source = new ExternalSource({ ...parts, redis, reader, writer, apiSource })
  return source
}

const webSocketUrl = (apiUrl: string) => `${apiUrl.replace(/^http/, 'ws').replace(/\/$/, '')}/graphql`

/** A refused key is told once until it is taken again. */
function keyListener({ keyRefused }: Hooks, log: Log): (isTaken: boolean) => void {
  let isRefused = false
  return (isTaken) => {
    if (isTaken !== isRefused) return
    isRefused = !isTaken
    if (isTaken) return log.info({}, 'the API takes the key again')
    log.error({}, 'the API refuses the key: checks are answered from what is cached, then by fallbacks')
    tell(() => keyRefused?.())
  }
}

/** What was opened, to be closed in reverse order. */
class Closers {
  readonly #closers: (() => unknown)[] = []

  constructor(readonly log: Log) {}

  open<T>(_label: string, value: T, close: (value: T) => unknown): T {
    this.#closers.push(() => close(value))
    return value
  }

  async close(): Promise<void> {
    for (let close = this.#closers.pop(); close; close = this.#closers.pop()) await close()
  }
}
