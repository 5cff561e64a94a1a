import type { Registry } from '../../platform/metrics.js'

/** Seconds. A warm check takes about 50 µs. */
const bounds = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Times of one method. */
class MethodLatency {
  /** One more than the bounds: what took longer than all of them. */
  readonly counts = new Array<number>(bounds.length + 1).fill(0)
  sum = 0

  observe(seconds: number): void {
    let index = 0
    while (index < bounds.length && seconds > bounds[index]!) index++
    this.counts[index]!++
    this.sum += seconds
  }
}

/**
 * A Prometheus histogram by method. The ordinary one looks its labels up at each call, which takes as long as the cache look-up of a
 * warm check; this one is put into Prometheus' shape when it is scraped.
 */
export class LatencyHistogram {
  readonly type = 'histogram'
  readonly aggregator = 'sum'
  readonly #methods = new Map<string, MethodLatency>()

  constructor(
    readonly name: string,
    readonly help: string,
    registry: Registry,
  ) {
    registry.registerMetric(this as never)
  }

  method(name: string): MethodLatency {
    const latency = this.#methods.get(name) ?? new MethodLatency()
    this.#methods.set(name, latency)
    return latency
  }

  /** What the registry asks for at a scrape. */
  async get() {
    const { name, help, type, aggregator } = this
    return { name, help, type, aggregator, values: [...this.#methods].flatMap(([method, latency]) => this.#valuesOf(method, latency)) }
  }

  reset(): void {
    this.#methods.clear()
  }

  #valuesOf(method: string, { counts, sum }: MethodLatency) {
    let total = 0
    const buckets = counts.map((count, index) => {
      total += count
      return { metricName: `${this.name}_bucket`, labels: { method, le: bounds[index] ?? '+Inf' }, value: total }
    })
    return [
      ...buckets,
      { metricName: `${this.name}_sum`, labels: { method }, value: sum },
      { metricName: `${this.name}_count`, labels: { method }, value: total },
    ]
  }
}
