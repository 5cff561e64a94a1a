import { Problem } from '../../../src/kernel/problem.js'
import type { Program } from '../../../src/local/programs/debian-package.js'
import { h2loadReport, rateIn, successesIn } from './h2load.js'

/** An HTTP/1.1 request that is made again and again. */
export interface HttpTarget {
  url: string
  headers?: Record<string, string>
  /** File with the body of a POST; absent: a GET. */
  bodyFile?: string
}

const connections = 16
const longestRunMs = 120_000

/** Makes so many requests as fast as they are answered; answers the requests per second. Fails unless every one was answered with HTTP 2xx. */
export async function loadHttp(h2load: Program, { url, headers = {}, bodyFile }: HttpTarget, requests: number): Promise<number> {
  const sent = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`])
  const body = bodyFile ? ['-d', bodyFile] : []
  const args = ['--h1', '-c', String(connections), '-n', String(requests), ...sent, ...body, url]
  const report = await h2loadReport(h2load, args, longestRunMs)
  const ok = successesIn(report)
  if (ok !== requests) throw new Problem('ABORTED', 'WRONG_ANSWERS', `Of ${requests} requests ${ok} were answered with HTTP 2xx`)
  return rateIn(report)
}
