import { Problem } from '../../src/kernel/problem.js'
import { silentLogger } from '../../src/platform/logger.js'
import { Life } from '../../src/platform/process.js'

/** For whoever looks on: standard output is for results. */
export const note = (line: string): void => void process.stderr.write(`${line}\n`)

export interface Program<Arguments> {
  name: string
  usage: string
  /** Null: the usage is asked for. @throws Error for what is wrong with them */
  readArguments: () => Arguments | null
  /** Answers the exit code. What it opens is closed with the life, which a signal ends too. */
  work: (args: Arguments, life: Life) => Promise<number>
}

/** Runs a command of the tests, such as a benchmark, from its arguments to its exit code. */
export async function runProgram<Arguments>({ name, usage, readArguments, work }: Program<Arguments>): Promise<void> {
  process.exitCode = 1
  let args: Arguments | null
  try {
    args = readArguments()
  } catch (error) {
    return note(`${(error as Error).message}\n\n${usage}`)
  }
  if (args === null) {
    process.exitCode = 0
    return void process.stdout.write(usage)
  }
  const life = new Life(name, silentLogger())
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void life.stop().finally(() => process.exit(130)))
  try {
    process.exitCode = await work(args, life)
  } catch (error) {
    // What was interrupted fails in some way or other; the signal's handler says how the process ends.
    if (!life.signal.aborted) note(error instanceof Problem ? error.message : String(error instanceof Error ? error.stack : error))
  } finally {
    for (const failure of await life.stop()) note(`${failure.message}: ${String(failure.cause)}`)
  }
}
