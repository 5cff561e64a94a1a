import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Problem } from '../../../src/kernel/problem.js'
import type { Program } from '../../../src/local/programs/debian-package.js'
import { quantile } from '../figures/statistics.js'
import { h2loadReport, numberIn, rateIn, successesIn } from './h2load.js'

/** A gRPC call that is made again and again. */
export interface GrpcTarget {
  url: string
  /** File with the request: gRPC's five bytes and the message. */
  requestFile: string
  /** Bytes of the right answer, frame included. An error has none, so that the sum shows that no call failed. */
  answerBytes: number
}

export const connections = 4
export const streams = 16

/** Makes so many calls as fast as they are answered; answers the calls per second. */
export async function loadFully(h2load: Program, target: GrpcTarget, calls: number): Promise<number> {
  return rateIn(await makeCalls(h2load, target, calls, ['-n', String(calls), target.url]))
}

/**
 * Makes one call per millisecond and connection, or nearly so (h2load's timer adds a little), whether or not the calls before are
 * answered. Answers the times from call to answer, in microseconds.
 */
export async function loadPaced(
  h2load: Program,
  target: GrpcTarget,
  callsPerConnection: number,
  folder: string,
): Promise<{ p50: number; p99: number }> {
  const script = join(folder, 'script.tsv')
  const log = join(folder, 'calls.tsv')
  await writeFile(script, Array.from({ length: callsPerConnection }, (_, ms) => `${ms}\t${target.url}\n`).join(''))
  // h2load would append to it.
  await rm(log, { force: true })
  await makeCalls(h2load, target, callsPerConnection * connections, [`--timing-script-file=${script}`, `--log-file=${log}`])
  return timesIn(log)
}

/** Makes so many calls as fast as they are answered, so many at a time, over one connection; answers the times from call to answer, in microseconds. */
export async function loadAtOnce(
  h2load: Program,
  target: GrpcTarget,
  { calls, inFlight }: { calls: number; inFlight: number },
  folder: string,
): Promise<{ p50: number; p99: number }> {
  const log = join(folder, 'calls.tsv')
  await rm(log, { force: true })
  await makeCalls(h2load, target, calls, ['-c', '1', '-m', String(inFlight), '-n', String(calls), `--log-file=${log}`, target.url])
  return timesIn(log)
}

async function timesIn(log: string): Promise<{ p50: number; p99: number }> {
  const times = (await readFile(log, 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => Number(line.split('\t')[2]))
  return { p50: quantile(times, 0.5), p99: quantile(times, 0.99) }
}

const longestRunMs = 60_000

/** Runs h2load and answers its report. Fails unless every call was answered, with HTTP 200 and a message of the right size. */
async function makeCalls(h2load: Program, { requestFile, answerBytes }: GrpcTarget, calls: number, args: string[]): Promise<string> {
  const load = ['-c', String(connections), '-m', String(streams), '-d', requestFile]
  const headers = ['-H', 'content-type: application/grpc', '-H', 'te: trailers']
  const report = await h2loadReport(h2load, [...load, ...headers, ...args], longestRunMs)
  const succeeded = numberIn(report, /, (\d+) succeeded/)
  const ok = successesIn(report)
  const bytes = numberIn(report, /\((\d+)\) data/)
  if (succeeded !== calls || ok !== calls || bytes !== calls * answerBytes) {
    const facts = `${succeeded} answered, ${ok} with HTTP 2xx, ${bytes} bytes of messages instead of ${calls * answerBytes}`
    throw new Problem('ABORTED', 'WRONG_ANSWERS', `Of ${calls} calls not all got the right answer: ${facts}`)
  }
  return report
}
