import { Counter, Gauge, Histogram, latencyBuckets, type Registry } from '../../platform/metrics.js'
import type { EntitlementCache } from '../../reader/cache/cache.js'
import { ReaderFigures, type ReaderMetrics } from '../../reader/states/figures.js'
import { LatencyHistogram } from './latency.js'

/** The sidecar's figures, read when Prometheus scrapes. `oldestAnswerSeconds` begins anew with each scrape. */
export class SidecarMetrics extends ReaderFigures implements ReaderMetrics {
  readonly rpcSeconds: LatencyHistogram
  readonly rpcErrors: Counter<'method' | 'code'>
  readonly apiSeconds: Histogram<'operation' | 'outcome'>

  constructor(registry: Registry) {
    super()
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
