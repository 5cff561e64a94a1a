// `npm run bench -- NAME [--json] [--seconds N]`: see src/web/docs/benchmarks.md.
import { parseArgs } from 'node:util'
import { Problem } from '../../src/kernel/problem.js'
import { silentLogger } from '../../src/platform/logger.js'
import { Life } from '../../src/platform/process.js'
import type { Benchmark } from './benchmark.js'
import type { Comparison } from './compare.js'
import { estimateBenchmark } from './estimate.js'
import { graphql, graphqlMemory } from './graphql.js'
import { ingest } from './ingest.js'
import { describeMachine } from './machine.js'
import { report } from './report.js'
import { sidecar } from './sidecar.js'
import { sidecarChanges } from './sidecar-changes.js'
import { sidecarMany } from './sidecar-many.js'
import { soak } from './soak.js'

const benchmarks: readonly Benchmark[] = [
  ingest,
  estimateBenchmark,
  graphql,
  graphqlMemory,
  report,
  sidecar,
  sidecarMany,
  sidecarChanges,
  soak,
]

const usage = `Usage: npm run bench -- NAME [--json] [--seconds N]

${benchmarks.map(({ name, about }) => `  ${name.padEnd(12)}${about}`).join('\n')}

  --json        prints one JSON object per measure and line on standard output, and nothing else there
  --seconds N   time to measure, 5 to 3600; default 45
`

const note = (line: string) => process.stderr.write(`${line}\n`)

/** @throws TypeError for options that are none, Problem for values that are wrong */
function readArguments() {
  const options = {
    json: { type: 'boolean', default: false },
    seconds: { type: 'string', default: '45' },
    help: { type: 'boolean' },
  } as const
  const { values, positionals } = parseArgs({ options, allowPositionals: true })
  const seconds = Number(values.seconds)
  const benchmark = benchmarks.find(({ name }) => name === positionals[0])
  if (values.help) return null
  if (!benchmark || positionals.length !== 1)
    throw new TypeError(positionals.length === 0 ? 'Which benchmark?' : `No benchmark ${positionals.join(' ')}`)
  if (!(seconds >= 5 && seconds <= 3600)) throw new TypeError(`--seconds must be 5 to 3600, not "${values.seconds}"`)
  return { benchmark, seconds, isJson: values.json }
}

function table(comparisons: readonly Comparison[]): string {
  const figure = (value: number) => value.toLocaleString('en', { maximumSignificantDigits: 4 })
  const rows = comparisons.map(({ name, unit, subject, reference, ratio, spread }) => [
    name,
    unit,
    figure(subject),
    figure(reference),
    ratio.toFixed(3),
    `±${(spread * 100).toFixed(1)} %`,
  ])
  const lines = [['', 'unit', 'subject', 'reference', 'ratio', 'spread'], ...rows]
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)))
  const align = (cell: string, column: number) => (column < 2 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!))
  return lines.map((line) => `${line.map(align).join('  ')}\n`).join('')
}

async function run({ benchmark, seconds, isJson }: { benchmark: Benchmark; seconds: number; isJson: boolean }): Promise<number> {
  const life = new Life('bench', silentLogger())
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void life.stop().finally(() => process.exit(130)))
  note(`${benchmark.name}: ${benchmark.about}`)
  note(describeMachine())
  try {
    const comparisons = await benchmark.run({ seconds, life, note })
    if (isJson)
      for (const { name, subject, reference, ratio, unit, spread } of comparisons) {
        process.stdout.write(`${JSON.stringify({ name, subject, reference, ratio, unit, spread })}\n`)
      }
    else process.stdout.write(`\n${table(comparisons)}`)
    return 0
  } catch (error) {
    // What was interrupted fails in some way or other; the signal's handler says how the process ends.
    if (!life.signal.aborted) note(error instanceof Problem ? error.message : String(error instanceof Error ? error.stack : error))
    return life.signal.aborted ? 130 : 1
  } finally {
    for (const failure of await life.stop()) note(`${failure.message}: ${String(failure.cause)}`)
  }
}

try {
  const args = readArguments()
  if (args === null) process.stdout.write(usage)
  else process.exitCode = await run(args)
} catch (error) {
  note(`${(error as Error).message}\n\n${usage}`)
  process.exitCode = 1
}
