import { Counter, Gauge, Histogram, latencyBuckets, type Registry } from './metrics.js'

export interface JobMetrics {
  jobs: Counter
  duration: Histogram
  watch(queue: string, waiting: () => Promise<number>): void
}

const metricsOf = new WeakMap<Registry, JobMetrics>()

/** One set of metrics for all queues of a process. */
export function jobMetrics(registry: Registry): JobMetrics {
  const existing = metricsOf.get(registry)
  if (existing) return existing
  const watched = new Map<string, () => Promise<number>>()
  new Gauge({
    name: 'tollgate_jobs_waiting',
    help: 'Jobs that wait for a worker, by queue',
    labelNames: ['queue'],
    registers: [registry],
    async collect() {
      // A Redis that is away leaves the last value: the scrape must not fail for it.
      await Promise.all(
        [...watched].map(([queue, waiting]) =>
          waiting().then(
            (count) => this.set({ queue }, count),
            () => undefined,
          ),
        ),
      )
    },
  })
  const metrics: JobMetrics = {
    jobs: new Counter({
      name: 'tollgate_jobs_total',
      help: 'Jobs by queue and result: finished, failed (for good), retried, stalled, unreadable (set aside)',
      labelNames: ['queue', 'result'],
      registers: [registry],
    }),
    duration: new Histogram({
      name: 'tollgate_job_duration_seconds',
      help: 'Time a handler took, by queue',
      labelNames: ['queue'],
      buckets: latencyBuckets,
      registers: [registry],
    }),
    watch: (queue, waiting) => watched.set(queue, waiting),
  }
  metricsOf.set(registry, metrics)
  return metrics
}
