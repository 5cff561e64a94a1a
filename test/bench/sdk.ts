import type { Benchmark } from './harness/benchmark.js'
import { compareChecks } from './sdk-checks.js'

export const sdk: Benchmark = {
  name: 'sdk',
  about: 'warm checks of the server SDK in process; reference: bare maps',
  run: (context) => compareChecks(context),
}
