// `npm run bench -- NAME [--json | --markdown] [--seconds N] [--millions N]`: see src/web/docs/benchmarks.md.
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Life } from '../../src/platform/process.js'
import { note, runProgram } from '../support/program.js'
import { alerts } from './alerts.js'
import { estimateBenchmark } from './billing/estimate.js'
import { cache } from './cache.js'
import { cost } from './cost/cost.js'
import type { Comparison } from './figures/compare.js'
import { describeMachine } from './figures/machine.js'
import type { Benchmark } from './harness/benchmark.js'
import { findPrograms } from './harness/programs.js'
import { ingest } from './metering/ingest.js'
import { ingestLong } from './metering/ingest-long.js'
import { report } from './metering/report.js'
import { scaling } from './scaling.js'
import { sdk } from './sdk.js'
import { sidecar } from './sidecar.js'
import { sidecarChanges } from './sidecar-changes.js'
import { sidecarMany } from './sidecar-many.js'
import { soak, soakRestart } from './soak/soak.js'
import { tenants } from './tenants.js'
import { graphql, graphqlMemory } from './web/graphql.js'

/** That of the platform. */
const cacheFolder = fileURLToPath(new URL('../../../.cache', import.meta.url))

const benchmarks: readonly Benchmark[] = [
  cache,
  cost,
  ingest,
  ingestLong,
  estimateBenchmark,
  graphql,
  graphqlMemory,
  report,
  sdk,
  sidecar,
  sidecarMany,
  sidecarChanges,
  soak,
  soakRestart,
  tenants,
  scaling,
  alerts,
]

const namesOf = (some: readonly Benchmark[]) => some.map(({ name }) => name).join(' and ')

const usage = `Usage: npm run bench -- NAME [--json | --markdown] [--seconds N] [--millions N]

${benchmarks.map(({ name, about }) => `  ${name.padEnd(17)}${about}`).join('\n')}

  ${namesOf(benchmarks.filter(({ needs }) => needs?.includes('h2load')))} need h2load, which is fetched from the distribution where the machine lacks it.
  PostgreSQL and Redis are own ones, as with npm start, unless BENCH_DATABASE_URL and BENCH_REDIS_URL say which.

  --json        prints one JSON object per measure and line on standard output, and nothing else there
  --markdown    prints the table as the documentation has it
  --seconds N   time to measure, 5 to 3600; default 45
  --millions N  of events, where they are counted: 0.01 to 100
`

/** @throws TypeError for options that are none, Problem for values that are wrong */
function readArguments() {
  const options = {
    json: { type: 'boolean', default: false },
    markdown: { type: 'boolean', default: false },
    millions: { type: 'string' },
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
  const millions = values.millions === undefined ? undefined : Number(values.millions)
  if (millions !== undefined && !(millions >= 0.01 && millions <= 100))
    throw new TypeError(`--millions must be 0.01 to 100, not "${values.millions}"`)
  const print = values.json ? printJson : values.markdown ? printMarkdown : printTable
  return { benchmark, seconds, millions, print }
}

const figure = (value: number) => value.toLocaleString('en', { maximumSignificantDigits: 4 })

/** The first line is that of the headings. */
function cells(comparisons: readonly Comparison[]): string[][] {
  const rows = comparisons.map(({ name, unit, subject, reference, ratio, spread }) => [
    name,
    unit,
    figure(subject),
    figure(reference),
    ratio.toFixed(3),
    `±${(spread * 100).toFixed(1)} %`,
  ])
  return [['', 'unit', 'subject', 'reference', 'ratio', 'spread'], ...rows]
}

/** Texts to the left, numbers to the right. */
function aligned(lines: readonly string[][]): string[][] {
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)))
  return lines.map((line) => line.map((cell, column) => (column < 2 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!))))
}

function printTable(comparisons: readonly Comparison[]): void {
  const lines = aligned(cells(comparisons)).map((line) => `${line.join('  ')}\n`)
  process.stdout.write(`\n${lines.join('')}`)
}

function printMarkdown(comparisons: readonly Comparison[]): void {
  const [headings, ...rows] = aligned(cells(comparisons).map(([name, ...others]) => [name ? `\`${name}\`` : 'name', ...others]))
  const rule = headings!.map((heading, column) => (column < 2 ? '-'.repeat(heading.length) : `${'-'.repeat(heading.length - 1)}:`))
  process.stdout.write([headings!, rule, ...rows].map((line) => `| ${line.join(' | ')} |\n`).join(''))
}

function printJson(comparisons: readonly Comparison[]): void {
  for (const { name, subject, reference, ratio, unit, spread } of comparisons)
    process.stdout.write(`${JSON.stringify({ name, subject, reference, ratio, unit, spread })}\n`)
}

type Arguments = NonNullable<ReturnType<typeof readArguments>>

async function work({ benchmark, seconds, millions, print }: Arguments, life: Life): Promise<number> {
  note(`${benchmark.name}: ${benchmark.about}`)
  note(describeMachine())
  const program = await findPrograms(benchmark.needs ?? [], { cacheFolder, life, note })
  const comparisons = await benchmark.run({ seconds, millions, program, life, note })
  if (comparisons.length > 0) print(comparisons)
  return 0
}

await runProgram({ name: 'bench', usage, readArguments, work })
