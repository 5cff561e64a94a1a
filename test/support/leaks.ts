import { setTimeout as sleep } from 'node:timers/promises'
import { Life } from '../../src/platform/process.js'

/** What has not ended by then never will. */
const stopMs = 15_000
/** A process that is there so long after its last test does not end by itself. */
const openMs = 20_000

let before = new Set<Life>()
const leaks: string[] = []

/**
 * Fails the run when a test leaves open what it opened: workers, pools, connections and timers all belong to a Life. What a suite shares may stay
 * until its end. Told at the end, because a root hook that fails would end the run there and then.
 */
export const mochaHooks = {
  beforeEach() {
    before = new Set(Life.running)
  },
  async afterEach(this: Mocha.Context) {
    const left = [...Life.running].filter((life) => !before.has(life))
    if (left.length === 0) return
    leaks.push(`${this.currentTest?.fullTitle()}: ${[...new Set(left.map(({ name }) => name))].join(', ')}`)
    const timer = new AbortController()
    const late = sleep(stopMs, 'late', { signal: timer.signal }).catch(() => 'late')
    const stopped = Promise.all(left.map((life) => life.stop()))
    if ((await Promise.race([stopped, late])) === 'late')
      leaks.push(`${this.currentTest?.fullTitle()}: still closing ${left.flatMap(({ closing }) => closing).join(', ')}`)
    timer.abort()
  },
  afterAll() {
    // Whoever sees that a run does not end is to see why.
    setTimeout(() => console.error(`Still open: ${process.getActiveResourcesInfo().join(', ')}`), openMs).unref()
    for (const { name, signal, closing } of Life.running) if (signal.aborted) leaks.push(`${name}: still closing ${closing.join(', ')}`)
    if (leaks.length > 0) throw new Error(`Tests that have not stopped what they started:\n  ${leaks.join('\n  ')}`)
  },
}
