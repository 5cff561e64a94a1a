import type { Program } from '../../../src/local/programs/debian-package.js'
import type { Life } from '../../../src/platform/process.js'
import type { Comparison } from '../figures/compare.js'
import type { ProgramName } from './programs.js'

export interface BenchmarkContext {
  /** Time for all of it, but for starting and stopping. */
  seconds: number
  /** How much, where that matters, in millions; absent: as much as the benchmark is usually run with. */
  millions?: number
  /** One of those that the benchmark needs. */
  program: (name: ProgramName) => Program
  /** Closes what the benchmark opens. */
  life: Life
  /** Tells how it is getting on. */
  note: (line: string) => void
}

export interface Benchmark {
  name: string
  /** One line: the subject and the reference. */
  about: string
  /** Programs that it runs besides the platform's own and those that the platform brings. They are found before anything starts. */
  needs?: readonly ProgramName[]
  /** The first comparison is the one that the benchmark is about. Fails with a Problem when answers are wrong or something is missing. */
  run(context: BenchmarkContext): Promise<Comparison[]>
}
