/** Looks at what grows, every few seconds. */
import { loosePrefix } from '../../src/platform/redis/slots.js'
import { queuePrefix, type Stage } from '../faults/stage/stage.js'
import type { Panel, Series } from './plot.js'

const everyMs = 5_000
const answerMs = 4_000
const bytesPerMb = 1_048_576
/** The largest are shown; the others are in the sum. */
const shownTables = 7

/** Of a process, by their names in its metrics. */
const processFigures: readonly [title: string, metric: string, divisor: number][] = [
  ['memory of each process (MB)', 'process_resident_memory_bytes', bytesPerMb],
  ['heap of each process (MB)', 'nodejs_heap_size_used_bytes', bytesPerMb],
  ['handles of each process', 'nodejs_active_handles_total', 1],
]

const sizesOf = `
  SELECT relname AS name, sum(pg_table_size(oid))::float8 AS "table", sum(pg_indexes_size(oid))::float8 AS indexes
  FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace GROUP BY 1`

export class Sampler {
  readonly #begin = Date.now()
  readonly #panels = new Map<string, Map<string, { atMs: number; value: number }[]>>()
  readonly #timer: NodeJS.Timeout
  #looking: Promise<unknown> = Promise.resolve()

  constructor(private readonly stage: Stage) {
    this.#timer = setInterval(() => {
      this.#looking = this.#look().catch(() => undefined)
    }, everyMs)
  }

  async stop(): Promise<Panel[]> {
    clearInterval(this.#timer)
    await this.#looking
    return [...this.#panels].map(([title, series]) => ({ title, series: largest(series) }))
  }

  #note(panel: string, label: string, value: number): void {
    const series = this.#panels.get(panel) ?? new Map()
    this.#panels.set(panel, series)
    const samples = series.get(label) ?? []
    series.set(label, samples)
    samples.push({ atMs: Date.now() - this.#begin, value })
  }

  async #look(): Promise<void> {
    await Promise.all([...this.stage.processes.map((process) => this.#lookAt(process)), this.#lookAtQueues(), this.#lookAtTables()])
  }

  async #lookAt({ name, healthUrl }: Stage['processes'][number]): Promise<void> {
    const response = await fetch(`${healthUrl}/metrics`, { signal: AbortSignal.timeout(answerMs) })
    const text = await response.text()
    for (const [title, metric, divisor] of processFigures) {
      const value = new RegExp(`^${metric}(?:\\{[^}]*\\})? (\\S+)`, 'm').exec(text)?.[1]
      if (value !== undefined) this.#note(title, name, Number(value) / divisor)
    }
  }

  async #lookAtQueues(): Promise<void> {
    await this.stage.redis.do(async (redis) => {
      const keys = await redis.keys(`*${loosePrefix(queuePrefix)}*`)
      const lists = keys.filter((key) => /:(wait|active)$/.test(key))
      const counts = await Promise.all(lists.map((key) => redis.llen(key)))
      for (const [index, key] of lists.entries())
        this.#note('jobs that wait or are in work', key.slice(queuePrefix.length + 1), counts[index]!)
      const used = /^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1]
      this.#note('Redis (MB, thousand keys)', 'memory', Number(used) / bytesPerMb)
      this.#note('Redis (MB, thousand keys)', 'keys', (await redis.dbsize()) / 1_000)
    })
  }

  async #lookAtTables(): Promise<void> {
    const sizes = await this.stage.postgres.query<{ name: string; table: number; indexes: number }>(sizesOf)
    for (const { name, table, indexes } of sizes) {
      this.#note('tables (MB)', name, table / bytesPerMb)
      this.#note('indexes (MB)', name, indexes / bytesPerMb)
    }
  }
}

/** Processes all; of what there is much of, what is largest in the end. */
function largest(series: ReadonlyMap<string, Series['samples']>): Series[] {
  const all = [...series].map(([label, samples]) => ({ label, samples }))
  const isOfProcesses = all.some(({ label }) => /^web-\d$/.test(label))
  const sorted = all.sort((a, b) => b.samples.at(-1)!.value - a.samples.at(-1)!.value)
  return isOfProcesses ? sorted : sorted.slice(0, shownTables)
}
