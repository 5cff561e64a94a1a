import { Counter, Gauge, Histogram, latencyBuckets, type Registry } from '../../platform/metrics.js'
import type { EntitlementCache } from '../cache/cache.js'
import { LatencyHistogram } from './latency.js'

type CacheOutcome = 'hit' | 'stale' | 'miss'

/** `error`: the API answered an error. */
export type FallbackCause = 'offline' | 'unavailable' | 'timeout' | 'error' | 'type_mismatch'

/**
 * The sidecar's figures. What a warm check touches are plain numbers, read when Prometheus scrapes: a labelled counter would
 * cost as much as the cache look-up that it counts.
 */
export class SidecarMetrics {
  readonly lookups: Record<CacheOutcome, number> = { hit: 0, stale: 0, miss: 0 }
  readonly fallbacks: Record<FallbackCause, number> = { offline: 0, unavailable: 0, timeout: 0, error: 0, type_mismatch: 0 }
  /** Age of the oldest entry answered since the last scrape that no connection vouched for. */
  oldestAnswerSeconds = 0
  isRealTime = false
  readonly reconnections = { gap: 0, caught_up: 0 }
  readonly rpcSeconds: LatencyHistogram
  readonly rpcErrors: Counter<'method' | 'code'>
  /** With an external cache: reads and writes that it did not answer. */
  externalCacheFailures = 0
  readonly apiSeconds: Histogram<'operation' | 'outcome'>

  constructor(registry: Registry) {
    const registers = [registry]
    const { lookups, fallbacks, reconnections } = this
    this.rpcSeconds = new LatencyHistogram('sidecar_rpc_seconds', 'Time from a request to its answer, by method', registry)
    this.rpcErrors = new Counter({
      name: 'sidecar_rpc_errors_total',
      help: 'Calls that ended with a status other than OK, by method and code',
      labelNames: ['method', 'code'],
      registers,
    })
    new Counter({
      name: 'sidecar_real_time_connections_total',
      help: 'Real-time connections made: caught_up (all that was missed was told), gap (what is cached is refreshed at its next use)',
      labelNames: ['start'],
      registers,
      collect() {
        this.reset()
        for (const [start, count] of Object.entries(reconnections)) this.inc({ start }, count)
      },
    })
    new Counter({
      name: 'sidecar_cache_lookups_total',
      help: 'Cache look-ups: hit, stale (answered while or although it could not be refreshed), miss',
      labelNames: ['outcome'],
      registers,
      collect() {
        this.reset()
        for (const [outcome, count] of Object.entries(lookups)) this.inc({ outcome }, count)
      },
    })
    new Counter({
      name: 'sidecar_fallbacks_total',
      help: 'Checks answered by a fallback, by cause',
      labelNames: ['cause'],
      registers,
      collect() {
        this.reset()
        for (const [cause, count] of Object.entries(fallbacks)) this.inc({ cause }, count)
      },
    })
    this.apiSeconds = new Histogram({
      name: 'sidecar_api_request_seconds',
      help: 'Time of requests to the API, by operation and outcome',
      labelNames: ['operation', 'outcome'],
      buckets: latencyBuckets,
      registers,
    })
    const takeOldest = () => {
      const seconds = this.oldestAnswerSeconds
      this.oldestAnswerSeconds = 0
      return seconds
    }
    gauge('sidecar_oldest_answer_seconds', 'Age of the oldest stale answer since the last scrape', takeOldest)
    new Counter({
      name: 'sidecar_external_cache_failures_total',
      help: 'Reads and writes that the external cache did not answer',
      registers,
      collect: counted(() => this.externalCacheFailures),
    })
    gauge('sidecar_real_time_connected', '1 while the real-time connection vouches for the cache', () => (this.isRealTime ? 1 : 0))

    function counted(read: () => number) {
      return function (this: Counter) {
        this.reset()
        this.inc(read())
      }
    }

    function gauge(name: string, help: string, read: () => number) {
      new Gauge({
        name,
        help,
        registers,
        collect() {
          this.set(read())
        },
      })
    }
  }

  /** Exports the size of the cache. */
  watch(cache: EntitlementCache, registry: Registry): void {
    const registers = [registry]
    new Gauge({
      name: 'sidecar_cache_entries',
      help: 'Customers and resources in the cache',
      registers,
      collect() {
        this.set(cache.entryCount)
      },
    })
    new Gauge({
      name: 'sidecar_cache_bytes',
      help: 'Estimated size of the cache',
      registers,
      collect() {
        this.set(cache.sizeBytes)
      },
    })
  }
}
