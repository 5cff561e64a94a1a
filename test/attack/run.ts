// `npm run attack [-- NAME …] [--json] [--seconds N]`: see .github/CONTRIBUTING.md.
import { parseArgs } from 'node:util'
import type { Life } from '../../src/platform/process.js'
import { describeMachine } from '../bench/figures/machine.js'
import { note, runProgram } from '../support/program.js'
import { attacks, together } from './attacks.js'
import { failuresOf, headings, toJson, toLine } from './row.js'
import { Stage } from './stage/stage.js'

const usage = `Usage: npm run attack [-- NAME …] [--json] [--seconds N]

${attacks.map(({ name, about }) => `  ${name.padEnd(23)}${about}`).join('\n')}
${Object.entries(together)
  .map(([name, names]) => `  ${name.padEnd(23)}${names.join(', ')}`)
  .join('\n')}

  All of them unless some are named. PostgreSQL and Redis are own ones. Linux only: each attacker has addresses of its own in 127.0.0.0/8.

  --json        prints one JSON object per attack and line on standard output, and nothing else there
  --seconds N   of each attack, 1 to 60; default 10
`

/** Of what a process logged. */
const longestLine = 1_000

/** @throws TypeError for names and options that are none */
function readArguments() {
  const options = {
    json: { type: 'boolean', default: false },
    seconds: { type: 'string', default: '10' },
    help: { type: 'boolean' },
  } as const
  const { values, positionals } = parseArgs({ options, allowPositionals: true })
  if (values.help) return null
  const all = new Map<string, readonly string[]>([...attacks.map(({ name }) => [name, [name]] as const), ...Object.entries(together)])
  const unknown = positionals.filter((name) => !all.has(name))
  if (unknown.length > 0) throw new TypeError(`No attack ${unknown.join(', ')}`)
  const seconds = Number(values.seconds)
  if (!(seconds >= 1 && seconds <= 60)) throw new TypeError(`--seconds must be 1 to 60, not "${values.seconds}"`)
  return { chosen: [...all].filter(([name]) => positionals.length === 0 || positionals.includes(name)), seconds, isJson: values.json }
}

async function work({ chosen, seconds, isJson }: NonNullable<ReturnType<typeof readArguments>>, life: Life): Promise<number> {
  note(describeMachine())
  let failed = 0
  const stage = await Stage.open(life)
  if (!isJson) process.stdout.write(`${headings()}\n`)
  for (const [name, names] of chosen) {
    const row = await stage.face(name, names, seconds)
    const failures = failuresOf(row)
    if (failures.length > 0) failed += 1
    process.stdout.write(`${isJson ? toJson(row) : toLine(row)}\n`)
    if (isJson && failures.length > 0) note(`${name}: ${failures.join(', ')}`)
    if (row.firstError) note(row.firstError.slice(0, longestLine))
  }
  note(`${chosen.length - failed} of ${chosen.length} attacks came to nothing`)
  return failed === 0 ? 0 : 1
}

await runProgram({ name: 'attack', usage, readArguments, work })
