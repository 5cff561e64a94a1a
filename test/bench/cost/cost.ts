import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describeMachine } from '../figures/machine.js'
import { significant } from '../figures/statistics.js'
import type { Benchmark } from '../harness/benchmark.js'
import { startStack } from '../stack/stack.js'
import { EventCopies } from './copies.js'
import { costCatalog, days, HeavyCustomer, type Measure, originals } from './customer.js'
import { type CostLine, plotCosts } from './plot.js'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
/** Up to so many stored events, the product's own recomputation has to come to the same usage. */
const recomputedUpTo = 100_000

const labels: Record<Measure, string> = {
  decision: 'decision about a state in memory',
  check: 'check over GraphQL, executed each time',
  state: 'state rebuilt from PostgreSQL',
  report: 'report over GraphQL, acknowledged',
  event: 'event, from the call until a check answers with it',
  history: `usage history of ${days} days over GraphQL, by day`,
}

/** What checks, states, reports, events and history cost one customer with so many stored events in its usage period. Takes as long as it takes. */
export const cost: Benchmark = {
  name: 'cost',
  about:
    'what a check, a state, a report, an event and history cost at 1,000 to 10,000,000 stored events (--millions: to so many); reference: at 1,000',
  async run({ life, note, millions = 10 }) {
    // Before our own load.
    const machine = describeMachine()
    const stack = await startStack(life, costCatalog)
    const customer = await HeavyCustomer.start(life, stack)
    const copies = life.open('copies', await EventCopies.open(stack, 'tokens'), (c) => c.close())
    note('warming up')
    await customer.measure(copies.copies)
    const sizes: number[] = []
    const costs: Record<Measure, number>[] = []
    for (let size = originals; size <= millions * 1_000_000; size *= 10) {
      const began = performance.now()
      await copies.growTo(size / originals)
      note(`${figure(size)} events stored, after ${((performance.now() - began) / 1_000).toFixed(0)} s`)
      sizes.push(size)
      costs.push(await customer.measure(copies.copies))
      if (size <= recomputedUpTo) await customer.recompute(copies.copies)
      note(
        `  ${Object.entries(costs.at(-1)!)
          .map(([name, ms]) => `${name} ${ms.toPrecision(3)} ms`)
          .join(', ')}`,
      )
    }
    const lines = (Object.keys(labels) as Measure[]).map(
      (name): CostLine => ({ label: labels[name], ms: costs.map((ofSize) => ofSize[name]) }),
    )
    note(`\n${markdownTable(sizes, lines)}`)
    note(`drawn in ${writePlot(plotCosts({ sizes, lines, machine }), millions >= 10)}`)
    return (Object.keys(labels) as Measure[]).map((name) => {
      const [first, last] = [costs[0]![name], costs.at(-1)![name]]
      return {
        name: `cost-${name}`,
        subject: significant(last),
        reference: significant(first),
        ratio: significant(last / first),
        unit: 'ms',
        spread: 0,
      }
    })
  },
}

const figure = (value: number) => value.toLocaleString('en')

function markdownTable(sizes: readonly number[], lines: readonly CostLine[]): string {
  const rows = [
    ['ms (median) at so many stored events', ...sizes.map(figure)],
    ['---', ...sizes.map(() => '---:')],
    ...lines.map(({ label, ms }) => [label, ...ms.map((value) => value.toLocaleString('en', { maximumSignificantDigits: 2 }))]),
  ]
  return rows.map((row) => `| ${row.join(' | ')} |`).join('\n')
}

/** The documentation shows the whole range only. Answers the path. */
function writePlot(plot: string, isWhole: boolean): string {
  const path = join(root, isWhole ? 'src/web/docs/cost.svg' : '.data/cost.svg')
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, plot)
  return path
}
