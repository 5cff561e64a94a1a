// `npm test`: starts what the tests need, runs mocha in lanes beside each other, stops everything. The last line is "N passed, N failed".
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Problem } from '../../src/kernel/problem.js'
import type { Failure, TestCounts } from './reporter.js'
import { compiledFile, lanesOf, needServices, parseArguments, selectFiles, sourceFile } from './selection.js'
import { startTestServices, type TestServices } from './services.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))
/** After its last test mocha has this long to end; what still runs then was left open by a test. */
const openHandlesMs = 30_000
const outputEndMs = 2_000
/** More failed files than this are no accident. */
const mostAgain = 12

const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort(new Error(`stopped by ${signal}`)))

interface Lane {
  files: readonly string[]
  mochaArguments: readonly string[]
  /** What is printed only when it has ended; else as it comes. */
  isKept: boolean
}

/** Runs mocha on the files and answers the counts; a run that crashes counts as one failure more. One that does not end is told of, and is ended: what tests open they close, says `leaks.ts`. */
async function runMocha({ files, mochaArguments, isKept }: Lane, env: NodeJS.ProcessEnv): Promise<TestCounts> {
  const mocha = join(root, 'node_modules', 'mocha', 'bin', 'mocha.js')
  const hooks = compiledFile(root, 'support/leaks.ts')
  const args = [
    '--reporter',
    compiledFile(root, 'support/reporter.ts'),
    ...(existsSync(hooks) ? ['--require', hooks] : []),
    // Against what hangs: how long anything takes is the machine's, and real services on a busy one take longest.
    '--timeout',
    env.TEST_DATABASE_URL ? '60000' : '20000',
    ...(isKept && process.stdout.isTTY ? ['--color'] : []),
    ...mochaArguments,
    ...files.map((file) => compiledFile(root, file)),
  ]
  const child = fork(mocha, args, {
    cwd: root,
    env: { ...process.env, ...env },
    execArgv: ['--enable-source-maps'],
    stdio: isKept ? ['ignore', 'pipe', 'pipe', 'ipc'] : 'inherit',
  })
  const kept: Buffer[] = []
  for (const output of [child.stdout, child.stderr]) output?.on('data', (chunk: Buffer) => kept.push(chunk))
  stop.signal.addEventListener('abort', () => child.kill('SIGTERM'))
  let counts: TestCounts | null = null
  let isHanging = false
  child.once('message', (message) => {
    counts = message as TestCounts
    void setTimeout(openHandlesMs, undefined, { ref: false }).then(() => {
      isHanging = child.exitCode === null
      child.kill('SIGKILL')
    })
  })
  const outputEnded = once(child, 'close')
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve))
  // A process that a test has left may hold the output open.
  await Promise.race([outputEnded, setTimeout(outputEndMs)])
  process.stdout.write(Buffer.concat(kept))
  const { passed, failed, skipped, failures } = counts ?? noTests
  if (isHanging) console.error(`The tests ended, but the process did not within ${openHandlesMs / 1000} s: something is still open.`)
  const isUncounted = counts === null || (!isHanging && code !== 0 && failed === 0)
  return { passed, failed: failed + (isUncounted ? 1 : 0), skipped, failures }
}

const noTests: TestCounts = { passed: 0, failed: 0, skipped: 0, failures: [] }

const added = (one: TestCounts, other: TestCounts): TestCounts => ({
  passed: one.passed + other.passed,
  failed: one.failed + other.failed,
  skipped: one.skipped + other.skipped,
  failures: [...one.failures, ...other.failures],
})

/**
 * A failure beside two other lanes may be one of the machine's. Few failed files are run once more, alone, and count as that run says; what failed at first is
 * printed either way.
 */
async function runAgain(counts: TestCounts, mochaArguments: readonly string[], services: TestServices[]): Promise<TestCounts> {
  const files = [...new Set(counts.failures.map(({ file }) => sourceFile(root, file)))]
  const isOfFiles = counts.failed === counts.failures.length && files.every((file) => file.endsWith('.test.ts'))
  if (!isOfFiles || files.length > mostAgain) return counts
  console.log(`\nOnce more, alone: ${files.join(', ')}`)
  const own = needServices(files) ? await startTestServices(root, stop.signal) : null
  if (own) services.push(own)
  const again = await runMocha({ files, mochaArguments, isKept: false }, own?.env ?? {})
  if (again.failed > 0) return { ...counts, failures: [...counts.failures, ...again.failures] }
  const passedAlone = counts.failures.map((failure) => ({ ...failure, title: `${failure.title} (passed alone)` }))
  return { ...counts, passed: counts.passed + counts.failed, failed: 0, failures: passedAlone }
}

function printFailures(failures: readonly Failure[]): void {
  for (const { title, file, error } of failures)
    console.log(`\nfailed: ${title}\n  ${sourceFile(root, file)}\n  ${error.replaceAll('\n', '\n  ')}`)
}

async function main(): Promise<TestCounts> {
  const { filters, mochaArguments } = parseArguments(process.argv.slice(2))
  const sources = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
  const files = selectFiles(sources, filters)
  if (files.length === 0) throw new Error(`No test matches ${filters.join(' ')}`)
  const services: TestServices[] = []
  const runs: Promise<TestCounts>[] = []
  try {
    for (const lane of lanesOf(files)) {
      // Servers of its own: tests of one may not find the other's load, or stop what it needs. The first fetches what the machine lacks.
      const own = needServices(lane) ? await startTestServices(root, stop.signal) : null
      if (own) services.push(own)
      runs.push(runMocha({ files: lane, mochaArguments, isKept: runs.length > 0 }, own?.env ?? {}))
    }
    const counts = (await Promise.all(runs)).reduce(added)
    return counts.failed > 0 && runs.length > 1 ? await runAgain(counts, mochaArguments, services) : counts
  } finally {
    await Promise.all(services.map((own) => own.stop()))
  }
}

const counts = await main().catch((error: unknown): TestCounts => {
  console.error(error instanceof Problem ? error.message : error)
  return { ...noTests, failed: 1 }
})
printFailures(counts.failures)
console.log(`\n${counts.passed} passed, ${counts.failed} failed${counts.skipped > 0 ? `, ${counts.skipped} skipped` : ''}`)
process.exit(counts.failed > 0 ? 1 : 0)
