import { median } from '../figures/statistics.js'
import type { StackProcess } from './stack-process.js'

const everyMs = 500

/** Looks at what processes keep in memory while they work. */
export class MemoryWatch {
  readonly #samples = new Map<string, number[]>()
  readonly #timer: NodeJS.Timeout

  constructor(private readonly processes: readonly StackProcess[]) {
    this.#timer = setInterval(() => this.#look(), everyMs)
  }

  #look(): void {
    for (const process of this.processes) {
      if (!process.isRunning) continue
      const samples = this.#samples.get(process.name) ?? []
      samples.push(process.residentMegabytes())
      this.#samples.set(process.name, samples)
    }
  }

  /** The median of each process since the last lap, in MB, by name. */
  lap(): Map<string, number> {
    this.#look()
    const resident = new Map([...this.#samples].map(([name, samples]) => [name, median(samples)]))
    this.#samples.clear()
    return resident
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}
