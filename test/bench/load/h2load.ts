import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { Problem } from '../../../src/kernel/problem.js'
import type { Program } from '../../../src/local/programs/debian-package.js'

const run = promisify(execFile)

/** Runs h2load to its end and answers its report. A server that hangs is not waited for longer than `timeoutMs`. */
export async function h2loadReport({ file, env }: Program, args: readonly string[], timeoutMs: number): Promise<string> {
  const { stdout } = await run(file, args, { timeout: timeoutMs, env: { ...process.env, ...env } })
  return stdout
}

export function numberIn(report: string, pattern: RegExp): number {
  const match = pattern.exec(report)
  if (!match) throw new Problem('INTERNAL', 'H2LOAD_REPORT', `h2load's report has no ${pattern}:\n${report}`)
  return Number(match[1])
}

/** Requests per second. */
export const rateIn = (report: string): number => numberIn(report, /^finished in [^,]+, ([\d.]+) req\/s/m)
/** Requests that were answered with HTTP 2xx. */
export const successesIn = (report: string): number => numberIn(report, /^status codes: (\d+) 2xx/m)
