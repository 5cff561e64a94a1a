import { Problem } from '../../../src/kernel/problem.js'
import { quantile } from '../figures/statistics.js'
import type { Benchmark } from '../harness/benchmark.js'
import { runSoak, type SoakResult, type Trouble } from './run.js'

/** What a killed worker may cost its callers. */
const promisedMs = 1_000

/** Takes as long as it takes: `--seconds` is not looked at. */
const soakWith = ({ name, about, trouble }: { name: string; about: string; trouble: Trouble }): Benchmark => ({
  name,
  about: `a million events with repeats and late ones over 1,000 customers, ${about}; the usage must be what plain code says (not a comparison)`,
  async run({ life, note, millions = 1 }) {
    const result = await runSoak({ life, events: millions * 1_000_000, customers: 1_000, trouble, note })
    const { events, seconds, counters, differences, calls } = result
    const rate = Math.round(events / seconds)
    note(`${events} events in ${seconds.toFixed(0)} s (${rate}/s), ${counters} counters compared, ${differences.length} differ`)
    const refused = calls.filter(({ refusals }) => refusals > 0).length
    note(`${calls.length} calls, of which ${refused} were refused and made again`)
    const costMs = describeTroubles(result, note)
    if (differences.length > 0) throw new Problem('ABORTED', 'WRONG_ANSWERS', differences.slice(0, 20).join('\n'))
    if (trouble === 'workers' && costMs > promisedMs)
      throw new Problem(
        'ABORTED',
        'WRONG_ANSWERS',
        `A killed worker cost its callers ${Math.round(costMs)} ms, and ${promisedMs} are promised`,
      )
    return []
  },
})

export const soak = soakWith({ name: 'soak', about: 'workers killed in the middle', trouble: 'workers' })
export const soakRestart = soakWith({ name: 'soak-restart', about: 'PostgreSQL restarted twice in the middle', trouble: 'postgres' })

/** A call that begins so soon after may still be given to what is just going away. */
const soonMs = 100

/** Tells how long the calls took that a trouble met, and the others. Answers what the worst of them cost beyond the others' p99. */
function describeTroubles({ calls, troubles }: SoakResult, note: (line: string) => void): number {
  const took = troubles.map(({ at }) => calls.filter(({ startedAt, acknowledgedAt }) => startedAt < at + soonMs && acknowledgedAt > at))
  const met = new Set(took.flat())
  const ms = ({ startedAt, acknowledgedAt }: (typeof calls)[number]) => acknowledgedAt - startedAt
  const others = calls.filter((call) => !met.has(call)).map(ms)
  const usual = quantile(others, 0.99)
  const [middle, longest] = [quantile(others, 0.5), Math.max(...others)]
  note(`acknowledged after ${Math.round(middle)} ms (p50), ${Math.round(usual)} ms (p99), ${Math.round(longest)} ms (longest)`)
  for (const [index, { what }] of troubles.entries())
    note(`${what}: the calls that were under way took ${took[index]!.map(ms).map(Math.round).join(', ')} ms`)
  return Math.max(...[...met].map(ms)) - usual
}
