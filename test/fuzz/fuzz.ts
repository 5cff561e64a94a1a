import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect } from 'chai'
import fc from 'fast-check'

/** Of each property, instead of its own few: as many as there is time for. */
const runs = process.env.FUZZ_RUNS === undefined ? null : Number(process.env.FUZZ_RUNS)
/** As a failure prints it: the same values again. The few of `npm test` are always the same, so that a change fails for what it changes. */
const seed = process.env.FUZZ_SEED === undefined ? (runs === null ? 1 : undefined) : Number(process.env.FUZZ_SEED)

const longestRunMs = 2_000

/** How long a test of so many runs may take. */
export const timeoutOf = (few: number): number => 30_000 + (runs ?? few) * longestRunMs

/** What caches may take that have a bound of their own; what is kept of each input is more after some thousand. */
const mostKeptBytes = 24 * 2 ** 20

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** What is in use after all that is not was collected; what has just ended may take a turn to be let go. */
async function heapBytes(): Promise<number> {
  for (let turn = 0; turn < 3; turn++) {
    collect()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return process.memoryUsage().heapUsed
}

/**
 * Holds for whatever is given, and leaves nothing in memory; a failure names its seed and the smallest value that still fails.
 */
export async function holds<Value>(few: number, values: fc.Arbitrary<Value>, check: (value: Value) => Promise<void>): Promise<void> {
  const numRuns = runs ?? few
  const before = await heapBytes()
  await fc.assert(fc.asyncProperty(values, check), { numRuns, ...(seed === undefined ? {} : { seed }) })
  expect((await heapBytes()) - before, `bytes of the heap that ${numRuns} inputs have left in use`).to.be.below(mostKeptBytes)
}
