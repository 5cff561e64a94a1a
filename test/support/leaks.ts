import { Life } from '../../src/platform/process.js'

let before = new Set<Life>()

/** Fails a test that leaves open what it opened: workers, pools, connections and timers all belong to a Life. What a suite shares may stay. */
export const mochaHooks = {
  beforeEach() {
    before = new Set(Life.running)
  },
  afterEach() {
    const left = [...Life.running].filter((life) => !before.has(life))
    if (left.length > 0) throw new Error(`The test has not stopped: ${left.map(({ name }) => name).join(', ')}`)
  },
}
