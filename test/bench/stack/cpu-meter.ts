import { cpuMicrosecondsOf } from './process-figures.js'
import type { Stack } from './stack.js'

/** CPU time by name: of all processes of ours, PostgreSQL with its backends, Redis, and this process, which makes the load. */
export class CpuMeter {
  #last: Map<string, number>

  constructor(private readonly stack: Stack) {
    this.#last = this.#read()
  }

  #read(): Map<string, number> {
    const { user, system } = process.cpuUsage()
    const used = new Map<string, number>()
    for (const { name, pid } of this.stack.processes) used.set(name, (used.get(name) ?? 0) + cpuMicrosecondsOf(pid))
    for (const [name, pid] of this.stack.servers) used.set(name, cpuMicrosecondsOf(pid))
    return used.set('load', user + system)
  }

  /** Microseconds since it was made, or since the last lap. */
  lap(): Map<string, number> {
    const [before, now] = [this.#last, this.#read()]
    this.#last = now
    return new Map([...now].map(([name, used]) => [name, used - (before.get(name) ?? 0)]))
  }
}

export const sumOf = (used: ReadonlyMap<string, number>): number => [...used.values()].reduce((sum, part) => sum + part, 0)

/** "web 11.5, postgres 60.0: 71.5 µs of CPU an event". */
export function describeCpu(used: ReadonlyMap<string, number>, count: number, unit: string): string {
  const parts = [...used].map(([name, part]) => `${name} ${(part / count).toFixed(1)}`)
  return `${parts.join(', ')}: ${(sumOf(used) / count).toFixed(1)} µs of CPU ${unit}`
}
