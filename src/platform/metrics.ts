import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

export { Counter, Gauge, Histogram, Registry }

/** A registry of one process with Node's own figures (memory, CPU, event loop delay). */
export function createMetrics(process: string): Registry {
  const registry = new Registry()
  registry.setDefaultLabels({ process })
  collectDefaultMetrics({ register: registry })
  return registry
}

/** Seconds, from a cached answer to the longest deadline. */
export const latencyBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

const keptOf = new WeakMap<Registry, Map<string, (() => number)[]>>()

/** Shows how much memory something keeps that callers choose the size of. Several of a name are added up. */
export function showKept(registry: Registry, what: string, bytes: () => number): void {
  const kept = keptOf.get(registry) ?? new Map<string, (() => number)[]>()
  const ofName = kept.get(what)
  if (ofName) ofName.push(bytes)
  else kept.set(what, [bytes])
  if (keptOf.has(registry)) return
  keptOf.set(registry, kept)
  new Gauge({
    name: 'tollgate_kept_bytes',
    help: 'Memory that is kept of what callers choose the size of, by what it is',
    labelNames: ['what'],
    registers: [registry],
    collect() {
      for (const [name, all] of kept)
        this.set(
          { what: name },
          all.reduce((sum, one) => sum + one(), 0),
        )
    },
  })
}
