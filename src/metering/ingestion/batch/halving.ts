import { Problem } from '../../../kernel/problem.js'
import { isTransient } from '../../../kernel/store-errors.js'
import { beforeCounting, mayBeCounted, outcomeUnknown, type PlainProblem, toPlainProblem } from '../../model/problems.js'
import type { Call } from '../../wire/call.js'

/**
 * One answer per call, all committed. A batch that the database refuses is halved until the call is found that it refuses, so one bad call fails alone;
 * `refused` hears of it. `mayRepeat`: another run may count them, or has. Throws what is expected to pass later.
 */
export async function ingestOrHalve<Item, Answer>(
  calls: Call<Item>[],
  mayRepeat: boolean,
  ingest: (calls: Call<Item>[]) => Promise<Answer[]>,
  refused: (call: Call<Item>, error: unknown) => void,
): Promise<(Answer | { problem: PlainProblem })[]> {
  // Nobody’s door sends none, and there would be no end of halving.
  if (calls.length === 0) return []
  try {
    return await ingest(calls)
  } catch (error) {
    // An attempt before may have been committed: only who asks again finds out.
    if (isTransient(error) || (error instanceof Problem && error.code === 'UNAVAILABLE')) throw error
    const [call] = calls
    if (calls.length === 1 && call) {
      refused(call, error)
      // What the database has refused is undone: of this run.
      const isUnknown = mayRepeat && mayBeCounted(Problem.from(error))
      return [{ problem: toPlainProblem(isUnknown ? outcomeUnknown([]) : beforeCounting(error)) }]
    }
    const half = calls.length >> 1
    const first = await ingestOrHalve(calls.slice(0, half), mayRepeat, ingest, refused)
    return [...first, ...(await ingestOrHalve(calls.slice(half), mayRepeat, ingest, refused))]
  }
}
