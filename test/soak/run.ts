// `npm run soak -- --minutes N [--out FILE]`: see .github/CONTRIBUTING.md.
import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Life } from '../../src/platform/process.js'
import { describeMachine } from '../bench/figures/machine.js'
import { FaultRuns } from '../faults/fault-runs.js'
import { noFault } from '../faults/faults.js'
import { headings, isClean, toLine } from '../faults/row.js'
import { Stage } from '../faults/stage/stage.js'
import { note, runProgram } from '../support/program.js'
import { type Column, headingsOf, lineOf } from '../support/table.js'
import { plotSeries } from './plot.js'
import { Sampler } from './sampler.js'
import { slopePerHour } from './slope.js'

const usage = `Usage: npm run soak -- --minutes N [--out FILE]

  Every process of the Procfile on servers of its own under moderate load for so long, and what of it grows: memory, heap and handles of each
  process, queues, Redis, tables and indexes. Linux only.

  --minutes N   1 to 10080
  --out FILE    of the plot (SVG); a new file in the folder for temporary ones unless given
`

interface Growth {
  what: string
  first: number
  last: number
  perHour: number
}

const figure = (value: number) => (Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(2))
const columns: readonly Column<Growth>[] = [
  ['', -62, ({ what }) => what],
  ['first', 10, ({ first }) => figure(first)],
  ['last', 10, ({ last }) => figure(last)],
  ['per hour', 12, ({ perHour }) => figure(perHour)],
]

/** @throws TypeError for options that are none */
function readArguments() {
  const { values } = parseArgs({ options: { minutes: { type: 'string' }, out: { type: 'string' }, help: { type: 'boolean' } } as const })
  if (values.help) return null
  const minutes = Number(values.minutes)
  if (!(minutes >= 1 && minutes <= 10_080)) throw new TypeError(`--minutes must be 1 to 10080, not "${values.minutes ?? ''}"`)
  return { minutes, out: values.out ?? join(tmpdir(), `tollgate-soak-${process.pid}.svg`) }
}

async function work({ minutes, out }: NonNullable<ReturnType<typeof readArguments>>, life: Life): Promise<number> {
  const machine = describeMachine()
  note(machine)
  const stage = await Stage.open(life, { hasSmallVolume: false, note })
  // What is kept once a process has worked at all does not grow.
  const runs = new FaultRuns(stage, life)
  await runs.run(noFault)
  const sampler = new Sampler(stage)
  const row = await runs.run({ ...noFault, name: `${minutes} minutes`, holdMs: minutes * 60_000 })
  const panels = await sampler.stop()
  process.stdout.write(`${headingsOf(columns)}\n`)
  for (const { title, series } of panels)
    for (const { label, samples } of series) {
      const growth = { what: `${title}: ${label}`, first: samples[0]!.value, last: samples.at(-1)!.value, perHour: slopePerHour(samples) }
      process.stdout.write(`${lineOf(columns, growth)}\n`)
    }
  process.stdout.write(`\n${headings()}\n${toLine(row)}\n`)
  for (const { kind, what, count } of row.findings) note(`  ${kind} ${count}: ${what}`)
  writeFileSync(out, plotSeries(panels, machine))
  process.stdout.write(`\nThe plot is in ${out}\n`)
  return isClean(row) ? 0 : 1
}

await runProgram({ name: 'soak', usage, readArguments, work })
