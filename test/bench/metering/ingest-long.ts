import { median, significant, spread } from '../figures/statistics.js'
import type { Benchmark } from '../harness/benchmark.js'
import { CpuMeter, describeCpu } from '../stack/cpu-meter.js'
import { MemoryWatch } from '../stack/memory-watch.js'
import { eventsPerCall } from './event-calls.js'
import { customers, EventLoad } from './event-load.js'

const parts = 10

/** Whether the ten-millionth event costs what the first did, and whether the workers' memory stays what it was. Takes as long as it takes. */
export const ingestLong: Benchmark = {
  name: 'ingest-long',
  about: `as ingest, --millions N events in ${parts} parts (10 million unless given): rate and memory of the last part beside the first`,
  async run({ life, note, millions = 10 }) {
    const load = await EventLoad.start(life)
    const callsPerPart = Math.ceil((millions * 1_000_000) / parts / eventsPerCall)
    note('warming up: every customer once')
    await load.run((calls) => calls < Math.ceil((customers * 2) / eventsPerCall))
    const cpu = new CpuMeter(load.stack)
    const memory = life.open('memory watch', new MemoryWatch(load.stack.processes), (watch) => watch.stop())
    const [rates, residents]: [number[], Map<string, number>[]] = [[], []]
    for (let part = 1; part <= parts; part++) {
      const { events, counted, committed, pushed } = await load.run((calls) => calls < callsPerPart)
      rates.push(counted)
      residents.push(memory.lap())
      const [a, b, c] = [committed, counted, pushed].map(Math.round)
      note(`part ${part}: ${events} events, ${a} committed, ${b} counted, ${c} pushed a second`)
      note(`  ${describeCpu(cpu.lap(), events, 'an event')}`)
      note(`  ${[...residents.at(-1)!].map(([name, megabytes]) => `${name} ${megabytes.toFixed(0)}`).join(', ')} MB`)
    }
    await load.check()
    note(`${load.events} events, of which the usage is right; ${load.refusals} calls were refused and made again`)
    const compared = (name: string, unit: string, values: number[]) => {
      const [first, last] = [values[0]!, values.at(-1)!]
      return {
        name,
        subject: significant(last),
        reference: significant(first),
        ratio: significant(last / first),
        unit,
        spread: significant(spread(values.map((value) => value / median(values)))),
      }
    }
    return [
      compared('ingest-long', 'events/s', rates),
      ...[...residents[0]!.keys()].map((name) =>
        compared(
          `memory-${name}`,
          'MB',
          residents.map((resident) => resident.get(name)!),
        ),
      ),
    ]
  },
}
