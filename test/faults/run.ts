// `npm run faults [-- NAME …] [--quick] [--json] [--resume FILE] [--markdown FILE]`: see .github/CONTRIBUTING.md.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { Life } from '../../src/platform/process.js'
import { describeMachine } from '../bench/figures/machine.js'
import { note, runProgram } from '../support/program.js'
import { FaultRuns } from './fault-runs.js'
import { faults, noFault } from './faults.js'
import { fromJson, headings, isClean, type Row, toJson, toLine, toMarkdown, withTable } from './row.js'
import { Stage } from './stage/stage.js'

const usage = `Usage: npm run faults [-- NAME …] [--quick] [--json] [--resume FILE] [--markdown FILE]

${faults.map(({ name, about }) => `  ${name.padEnd(48)}${about}`).join('\n')}

  All of them unless some are named; the beginning of a name stands for all that begin so. PostgreSQL and Redis are own ones. Linux only.

  --quick          eight, of each kind
  --json           prints one JSON object per fault and line on standard output, and nothing else there
  --resume FILE    what FILE has a line of, written with --json, is taken from there and not run again
  --markdown FILE  writes the table as the documentation has it, into the place that the page has for it
`

/** What takes longer is told the reason of. */
const longRecoverySeconds = 10

/** @throws TypeError for names and options that are none */
function readArguments() {
  const options = {
    json: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    markdown: { type: 'string' },
    resume: { type: 'string' },
    help: { type: 'boolean' },
  } as const
  const { values, positionals } = parseArgs({ options, allowPositionals: true })
  if (values.help) return null
  const unknown = positionals.filter((name) => !faults.some((fault) => fault.name.startsWith(name)))
  if (unknown.length > 0) throw new TypeError(`No fault ${unknown.join(', ')}`)
  const isNamed = (name: string) => positionals.length === 0 || positionals.some((some) => name.startsWith(some))
  const chosen = faults.filter(({ name, isQuick }) => isNamed(name) && (!values.quick || isQuick))
  const done = fromJson(values.resume === undefined ? '' : readFileSync(values.resume, 'utf8'))
  return { chosen, isJson: values.json, markdown: values.markdown, done }
}

async function work({ chosen, isJson, markdown, done }: NonNullable<ReturnType<typeof readArguments>>, life: Life): Promise<number> {
  const machine = describeMachine()
  note(machine)
  const rows: Row[] = []
  try {
    const hasSmallVolume = chosen.some(({ needsSmallVolume }) => needsSmallVolume)
    const stage = await Stage.open(life, { hasSmallVolume, note })
    const runs = new FaultRuns(stage, life)
    if (!isJson) process.stdout.write(`${headings()}\n`)
    for (const fault of [noFault, ...chosen]) {
      // The first is run in any case: it warms the platform up.
      const known = fault === noFault ? undefined : done.get(fault.name)
      if (!known && fault.needsSmallVolume && stage.volume === null) {
        note(`${fault.name} is left out: it needs the right to mount a volume`)
        continue
      }
      const row = known ?? (await runs.run(fault))
      rows.push(row)
      // The file that it is from may be the one that is written to.
      if (!known || !isJson) process.stdout.write(`${isJson ? toJson(row) : toLine(row)}\n`)
      if (known) continue
      if (row.recoverSeconds > longRecoverySeconds) note(`  recovered last: ${row.recoveredLast}`)
      for (const { kind, what, count } of row.findings) note(`  ${kind} ${count}: ${what}`)
      const { errorLines, firstError } = stage.logs.lap()
      if (!isClean(row) && firstError) note(`  ${errorLines} error lines, the first: ${firstError.slice(0, 1_000)}`)
    }
    const clean = rows.filter(isClean).length
    note(`${clean} of ${rows.length} runs are clean`)
    return clean === rows.length ? 0 : 1
  } finally {
    if (markdown !== undefined && rows.length > 0) {
      const page = existsSync(markdown) ? readFileSync(markdown, 'utf8') : ''
      writeFileSync(markdown, withTable(page, `${toMarkdown(rows)}\n\nOn ${machine}.`))
    }
  }
}

await runProgram({ name: 'faults', usage, readArguments, work })
