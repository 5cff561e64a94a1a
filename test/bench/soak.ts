import { Problem } from '../../src/kernel/problem.js'
import type { Benchmark } from './benchmark.js'
import { runSoak } from './soak-run.js'

/** Takes as long as it takes: `--seconds` is not looked at. */
export const soak: Benchmark = {
  name: 'soak',
  about:
    'a million events with repeats and late ones over 1,000 customers, workers killed in the middle; the usage must be what plain code says (not a comparison)',
  async run({ life, note }) {
    const result = await runSoak({ life, events: 1_000_000, customers: 1_000, note })
    const { events, seconds, counters, differences, longestCallMs, repeatedCalls } = result
    note(
      `${events} events in ${seconds.toFixed(0)} s (${Math.round(events / seconds)}/s), ${counters} counters compared, ${differences.length} differ`,
    )
    note(`longest call ${Math.round(longestCallMs)} ms, ${repeatedCalls} calls made again`)
    if (differences.length > 0) throw new Problem('ABORTED', 'WRONG_ANSWERS', differences.slice(0, 20).join('\n'))
    return []
  },
}
