import { Counter, Histogram, latencyBuckets, type Registry } from '../../../platform/metrics.js'

/** `kind` is report or event. */
export interface MeteringMetrics {
  /** `result`: accepted, duplicate (counted before), refused (with an answer that says why), expired (too late to be counted). */
  items: Counter<'kind' | 'result'>
  batchSize: Histogram<'kind'>
  commitSeconds: Histogram<'kind'>
}

export function createIngestionMetrics(registry: Registry): MeteringMetrics {
  const registers = [registry]
  return {
    items: new Counter({
      name: 'tollgate_usage_items_total',
      help: 'Reports and events by what became of them',
      labelNames: ['kind', 'result'],
      registers,
    }),
    batchSize: new Histogram({
      name: 'tollgate_usage_batch_size',
      help: 'Reports or events that were committed together',
      labelNames: ['kind'],
      buckets: [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000],
      registers,
    }),
    commitSeconds: new Histogram({
      name: 'tollgate_usage_commit_seconds',
      help: 'From the first statement of a batch to its commit',
      labelNames: ['kind'],
      buckets: latencyBuckets,
      registers,
    }),
  }
}
