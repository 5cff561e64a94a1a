import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
export { Counter, Gauge, Histogram, Registry };
/** A registry of one process with Node's own figures (memory, CPU, event loop delay). */
export function createMetrics(process) {
    const registry = new Registry();
    registry.setDefaultLabels({ process });
    collectDefaultMetrics({ register: registry });
    return registry;
}
/** Seconds, from a cached answer to the longest deadline. */
export const latencyBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
//# sourceMappingURL=metrics.js.map