import { setImmediate as nextRound } from 'node:timers/promises'

/** Others are served after this long. */
const stepMs = 4

/** Those who wait go on one after the other, each in a round of its own. */
let line: Promise<void> = Promise.resolve()

/** Does all steps of what may take long. Between them others are served. */
export async function inSteps<T>(steps: Generator<void, T>): Promise<T> {
  let startedAt = performance.now()
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    if (performance.now() - startedAt < stepMs) continue
    line = line.then(() => nextRound())
    await line
    startedAt = performance.now()
  }
}
