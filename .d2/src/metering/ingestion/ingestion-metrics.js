import { Counter, Histogram, latencyBuckets } from '../../platform/metrics.js';
export function createIngestionMetrics(registry) {
    const registers = [registry];
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
    };
}
//# sourceMappingURL=ingestion-metrics.js.map