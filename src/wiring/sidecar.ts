import { freemem } from 'node:os'
import { getHeapStatistics } from 'node:v8'
import { ServerCredentials } from '@grpc/grpc-js'
import { StartError } from '../platform/health.js'
import { KeyWatch } from '../platform/key-watch.js'
import type { Life } from '../platform/process.js'
import { ApiClient } from '../reader/api/client.js'
import { ApiClock } from '../reader/api/clock.js'
import { StateReader } from '../reader/api/messages.js'
import { MemoryCache } from '../reader/cache/memory.js'
import { ApiSource } from '../reader/source/api-source.js'
import { offlineSource } from '../reader/source/offline.js'
import { PersistentUsage } from '../reader/source/persistent-usage.js'
import type { EntitlementSource } from '../reader/source/source.js'
import { FreshnessJudge } from '../reader/states/freshness.js'
import { RightsPool } from '../reader/states/rights.js'
import type { SidecarConfig } from '../sidecar/config/config.js'
import { serveGrpc } from '../sidecar/grpc/server.js'
import { sidecarHandlers } from '../sidecar/grpc/service.js'
import { tracedHandlers } from '../sidecar/grpc/traced.js'
import { SidecarMetrics } from '../sidecar/metrics/metrics.js'

/** How long what is cached is answered while the API is away, when nothing else is configured: 7 days. */
const defaultStalenessSecs = 7 * 24 * 3600

/** Half of what is available (to the container, where there is one), but no more than the heap can hold. */
const defaultCacheBytes = () =>
  Math.floor(Math.min((process.availableMemory?.() ?? freemem()) * 0.5, getHeapStatistics().heap_size_limit * 0.6))

export interface SidecarPorts {
  grpcPort: number
  httpPort: number
}

/** Loads the way of usage straight to the queue (QUEUE_REDIS_URL); null: this sidecar has none. */
export type LoadDirectQueue = (() => Promise<Pick<typeof import('./sidecar-direct-queue.js'), 'openDirectQueue'>>) | null

/**
 * Wires a sidecar: cache, then API, then fallback; or, offline, nothing but fallbacks. An API or an external cache that can't be reached does not keep
 * it from starting.
 */
export async function startSidecar(config: SidecarConfig, life: Life, loadDirectQueue: LoadDirectQueue): Promise<SidecarPorts> {
  const metrics = new SidecarMetrics(life.metrics)
  const clock = new ApiClock()
  const { source, key } = config.OFFLINE
    ? { source: offlineSource, key: null }
    : await connectedSource(config, life, metrics, clock, loadDirectQueue)
  const handlers = sidecarHandlers({
    source,
    fallbacks: config.ENTITLEMENTS_FALLBACK ?? new Map(),
    clock,
    timeoutMs: config.REQUEST_TIMEOUT_MS,
    metrics,
  })
  const host = config.BIND_ADDRESS
  const grpcPort = await serveGrpc(life, {
    handlers: tracedHandlers(handlers),
    host,
    port: config.PORT,
    credentials: await credentials(config, life),
    socketPath: config.UNIX_SOCKET_PATH ?? null,
    aliases: config.GRPC_SERVICE_ALIASES ?? [],
    readiness: key,
    // Leaves a fifth of the time for what is closed after the calls have ended.
    drainMs: config.SHUTDOWN_TIMEOUT_MS * 0.8,
  })
  const httpPort = await life.serveHealth(
    { host, port: config.SIDECAR_HTTP_PORT },
    { livePath: config.HEALTH_ENDPOINT_URL, readyPath: config.READY_ENDPOINT_URL },
  )
  life.log.info({ grpcPort, httpPort, isOffline: config.OFFLINE }, 'listening')
  return { grpcPort, httpPort }
}

/** What is needed in this mode only is loaded in this mode only: it takes memory and time to start. */
async function credentials({ TLS_CERT_FILE, TLS_KEY_FILE, TLS_CLIENT_CA_FILE }: SidecarConfig, life: Life): Promise<ServerCredentials> {
  if (TLS_CERT_FILE === undefined || TLS_KEY_FILE === undefined) return ServerCredentials.createInsecure()
  const { tlsCredentials } = await import('../sidecar/grpc/tls.js')
  return tlsCredentials(life, { cert: TLS_CERT_FILE, key: TLS_KEY_FILE, clientCa: TLS_CLIENT_CA_FILE ?? null })
}

async function connectedSource(
  config: SidecarConfig,
  life: Life,
  metrics: SidecarMetrics,
  clock: ApiClock,
  loadDirectQueue: LoadDirectQueue,
): Promise<{ source: EntitlementSource; key: KeyWatch }> {
  const { API_URL: url, SERVER_API_KEY: apiKey } = config
  if (apiKey === undefined) throw new Error('a connected sidecar needs SERVER_API_KEY')
  const { log } = life
  const pool = new RightsPool()
  const states = new StateReader(pool)
  const judge = new FreshnessJudge({
    refreshAfterMs: config.REFRESH_AFTER_SECS * 1000,
    maxStalenessMs: (config.MAX_STALENESS_SECS ?? defaultStalenessSecs) * 1000,
  })
  const cache = new MemoryCache(config.CACHE_MAX_SIZE_BYTES ?? defaultCacheBytes())
  metrics.watch(cache, life.metrics)
  const edgeUrl = config.EDGE_ENABLED ? (config.EDGE_API_URL ?? url) : null
  const api = life.open(
    'API client',
    new ApiClient({ url, edgeUrl, apiKey, timeoutMs: config.REQUEST_TIMEOUT_MS, metrics, clock, hearKey: (isTaken) => key.hear(isTaken) }),
    (client) => client.close(),
  )
  const environmentId = config.QUEUE_REDIS_URL?.environmentId ?? null
  const key: KeyWatch = new KeyWatch(life, { key: apiKey, ask: (signal) => api.checkKey(environmentId, signal) })
  const answerWithinMs = config.REQUEST_TIMEOUT_MS
  const door = config.QUEUE_REDIS_URL
    ? (await loadedQueue(loadDirectQueue)).openDirectQueue(life, config.QUEUE_REDIS_URL, { apiKey, clock, answerWithinMs })
    : api
  const usage = new PersistentUsage(door, answerWithinMs)
  const parts = { cache, api, usage, states, judge, clock, metrics, log }
  if (config.REDIS_ENVIRONMENT_PREFIX !== undefined) {
    const { openExternalSource } = await import('./sidecar-external-cache.js')
    return { source: await openExternalSource(life, { config, prefix: config.REDIS_ENVIRONMENT_PREFIX, pool, parts }), key }
  }
  const apiSource = new ApiSource(parts)
  if (config.WS_ENABLED) {
    const { RealTimeUpdates } = await import('../reader/api/real-time-updates.js')
    const updates = new RealTimeUpdates({
      url: config.WS_URL ?? webSocketUrl(url),
      apiKey,
      judge,
      states,
      onState: (state) => apiSource.applyState(state),
      onUsage: (change) => apiSource.applyUsage(change),
      onUnknown: (customerId, since) => apiSource.applyUnknown(customerId, since),
      hearKey: (isTaken) => key.hear(isTaken),
      clock,
      metrics,
      log,
    })
    life.open('real-time updates', updates, (u) => u.close())
  }
  return { source: apiSource, key }
}

function loadedQueue(load: LoadDirectQueue) {
  if (load === null) throw new StartError('QUEUE_REDIS_URL is for sidecars of the platform, and not for one that the SDK runs')
  return load()
}

const webSocketUrl = (apiUrl: string) => `${apiUrl.replace(/^http/, 'ws').replace(/\/$/, '')}/graphql`
