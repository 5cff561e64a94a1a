import fc from 'fast-check'

/** Of each property, instead of its own few: as many as there is time for. */
const runs = process.env.FUZZ_RUNS === undefined ? null : Number(process.env.FUZZ_RUNS)
/** As a failure prints it: the same values again. The few of `npm test` are always the same, so that a change fails for what it changes. */
const seed = process.env.FUZZ_SEED === undefined ? (runs === null ? 1 : undefined) : Number(process.env.FUZZ_SEED)

const longestRunMs = 2_000

/** How long a test of so many runs may take. */
export const timeoutOf = (few: number): number => 30_000 + (runs ?? few) * longestRunMs

/** Holds for whatever is given; a failure names its seed and the smallest value that still fails. */
export async function holds<Value>(few: number, values: fc.Arbitrary<Value>, check: (value: Value) => Promise<void>): Promise<void> {
  const numRuns = runs ?? few
  await fc.assert(fc.asyncProperty(values, check), { numRuns, ...(seed === undefined ? {} : { seed }) })
}
