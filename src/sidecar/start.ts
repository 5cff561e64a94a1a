import { freemem } from 'node:os'
import { getHeapStatistics } from 'node:v8'
import { systemClock } from '../kernel/clock.js'
import type { Life } from '../platform/process.js'
import { ApiClient } from './api-client.js'
import { StateReader } from './api-messages.js'
import { MemoryCache } from './cache/memory.js'
import type { SidecarConfig } from './config.js'
import { FreshnessJudge } from './freshness.js'
import { SidecarMetrics } from './metrics.js'
import { offlineSource } from './offline.js'
import { EntitlementResolver, type EntitlementSource } from './resolve.js'
import { serveGrpc } from './server.js'
import { sidecarHandlers } from './service.js'
import { RealTimeUpdates } from './updates.js'

/** How long what is cached is answered while the API is away, when nothing else is configured: 7 days. */
const defaultStalenessSecs = 7 * 24 * 3600

/** Half of what is available (to the container, where there is one), but no more than the heap can hold. */
const defaultCacheBytes = () =>
  Math.floor(Math.min((process.availableMemory?.() ?? freemem()) * 0.5, getHeapStatistics().heap_size_limit * 0.6))

export interface SidecarPorts {
  grpcPort: number
  httpPort: number
}

/**
 * Wires a sidecar: cache, then API, then fallback; or, offline, nothing but fallbacks. An API that can't be reached does not keep
 * it from starting.
 */
export async function startSidecar(config: SidecarConfig, life: Life): Promise<SidecarPorts> {
  const metrics = new SidecarMetrics(life.metrics)
  const source = config.OFFLINE ? offlineSource : connectedSource(config, life, metrics)
  const handlers = sidecarHandlers({
    source,
    fallbacks: config.ENTITLEMENTS_FALLBACK ?? new Map(),
    clock: systemClock,
    timeoutMs: config.REQUEST_TIMEOUT_MS,
    metrics,
  })
  const host = config.BIND_ADDRESS
  // Leaves a fifth of the time for what is closed after the calls have ended.
  const grpcPort = await serveGrpc(life, handlers, { host, port: config.PORT }, config.SHUTDOWN_TIMEOUT_MS * 0.8)
  const httpPort = await life.serveHealth(
    { host, port: config.SIDECAR_HTTP_PORT },
    { livePath: config.HEALTH_ENDPOINT_URL, readyPath: config.READY_ENDPOINT_URL },
  )
  life.log.info({ grpcPort, httpPort, isOffline: config.OFFLINE }, 'listening')
  return { grpcPort, httpPort }
}

function connectedSource(config: SidecarConfig, life: Life, metrics: SidecarMetrics): EntitlementSource {
  const { API_URL: url, SERVER_API_KEY: apiKey } = config
  if (apiKey === undefined) throw new Error('a connected sidecar needs SERVER_API_KEY')
  const { log } = life
  const states = new StateReader()
  const judge = new FreshnessJudge({
    refreshAfterMs: config.REFRESH_AFTER_SECS * 1000,
    maxStalenessMs: (config.MAX_STALENESS_SECS ?? defaultStalenessSecs) * 1000,
  })
  const cache = new MemoryCache(config.CACHE_MAX_SIZE_BYTES ?? defaultCacheBytes())
  metrics.watch(cache, life.metrics)
  const api = life.open('API client', new ApiClient({ url, apiKey, timeoutMs: config.REQUEST_TIMEOUT_MS, states, metrics }), (client) =>
    client.close(),
  )
  const resolver = new EntitlementResolver(cache, api, judge, systemClock, metrics, log)
  if (config.WS_ENABLED) {
    const updates = new RealTimeUpdates({
      url: config.WS_URL ?? webSocketUrl(url),
      apiKey,
      judge,
      states,
      onState: (state) => resolver.applyState(state),
      onUsage: (change) => resolver.applyUsage(change),
      clock: systemClock,
      metrics,
      log,
    })
    life.open('real-time updates', updates, (u) => u.close())
  }
  return resolver
}

const webSocketUrl = (apiUrl: string) => `${apiUrl.replace(/^http/, 'ws').replace(/\/$/, '')}/graphql`
