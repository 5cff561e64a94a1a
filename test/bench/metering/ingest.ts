import { compare } from '../figures/compare.js'
import type { Benchmark } from '../harness/benchmark.js'
import { CpuMeter, describeCpu, sumOf } from '../stack/cpu-meter.js'
import { eventsPerCall } from './event-calls.js'
import { customers, EventLoad } from './event-load.js'
import { startReference } from './ingest-reference.js'

const warmSeconds = 10
/** Sustained: what is counted last, when nothing comes any more, is to weigh little. */
const roundSeconds = 15

type Measure = 'counted' | 'committed' | 'pushed' | 'cpu'

/** Acknowledged events until they are counted, against one process that does the same work straight in PostgreSQL. */
export const ingest: Benchmark = {
  name: 'ingest',
  about: `reportEvent, ${eventsPerCall} events a call over ${customers} customers, until it is counted (SUM and UNIQUE); reference: one statement per call, no queue`,
  async run({ life, seconds, note }) {
    const load = await EventLoad.start(life)
    const reference = await startReference(life, load.stack)
    const during = (forSeconds: number) => {
      const end = performance.now() + forSeconds * 1_000
      return () => performance.now() < end
    }
    note('warming up: every customer once')
    await load.run(during(warmSeconds))
    await reference(warmSeconds / 2)
    const cpu = new CpuMeter(load.stack)
    const comparisons = await compare<Measure>({
      subject: async () => {
        cpu.lap()
        const { events, ...rates } = await load.run(during(roundSeconds))
        const used = cpu.lap()
        note(describeCpu(used, events, 'an event'))
        return { ...rates, cpu: sumOf(used) / events }
      },
      reference: async () => {
        cpu.lap()
        const { events, rate } = await reference(roundSeconds)
        const used = cpu.lap()
        note(`reference: ${describeCpu(used, events, 'an event')}`)
        return { counted: rate, committed: rate, pushed: rate, cpu: sumOf(used) / events }
      },
      measures: {
        counted: { name: 'ingest', unit: 'events/s' },
        committed: { name: 'ingest-committed', unit: 'events/s' },
        pushed: { name: 'ingest-pushed', unit: 'events/s' },
        cpu: { name: 'ingest-cpu', unit: 'µs of CPU/event' },
      },
      rounds: 50,
      seconds,
      onRound: (round, { committed, counted, pushed }, { counted: bare }) => {
        const [a, b, c, d] = [committed, counted, pushed, bare].map(Math.round)
        note(`round ${round}: ${a} committed, ${b} counted, ${c} pushed; reference ${d} events/s`)
      },
    })
    await load.check()
    note(`${load.events} events, of which the usage is right; ${load.refusals} calls were refused and made again`)
    return comparisons
  },
}
