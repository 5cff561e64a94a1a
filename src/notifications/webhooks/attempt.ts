/** One request to an endpoint: where it may go, what is read of the answer, and how long all of it may take. */
import type { LookupAddress } from 'node:dns'
import { Agent as PlainAgent, request as plainRequest } from 'node:http'
import { Agent, type RequestOptions, request } from 'node:https'
import { type AllowedTargets, isAllowed, urlFault } from './addresses.js'
import { byNameServers, bySystem, type Resolve } from './resolve.js'
import type { Answered, AttemptOutcome } from './rules/schedule.js'

export const attemptTimeoutMs = 15_000
/** A body above it is not sent. */
export const maxBodyBytes = 256 * 1024
/** As much of an answer as is kept; the rest is not read. */
const keptAnswerBytes = 1_024
/** For the beginning of a body that does not come with its headers. */
const bodyWaitMs = 1_000
/** Shorter than servers usually keep one that is idle: what they have closed would be found out by a request. */
const idleSocketMs = 4_000
/** Requests that a lane makes to an endpoint at a time. */
export const requestsAtOnce = 8

class RefusedTarget extends Error {}
class HopelessBody extends Error {}
class StaleConnection extends Error {}

/**
 * Sends webhooks. The addresses of a host are looked up here, all of them have to be allowed, and exactly one of those that were checked is connected to: what a name
 * stands for a moment later does not matter. Connections are kept for a while; they were checked when they were made.
 */
export class Sender {
  readonly #targets: AllowedTargets
  readonly #resolve: Resolve
  readonly #secure: Agent
  readonly #plain: PlainAgent

  constructor({ targets, resolve = targets === 'public' ? byNameServers() : bySystem }: { targets: AllowedTargets; resolve?: Resolve }) {
    this.#targets = targets
    this.#resolve = resolve
    const kept = { keepAlive: true, maxFreeSockets: requestsAtOnce, timeout: idleSocketMs, scheduling: 'lifo' } as const
    this.#secure = new Agent(kept)
    this.#plain = new PlainAgent(kept)
  }

  close(): void {
    this.#secure.destroy()
    this.#plain.destroy()
  }

  /** Never fails: what goes wrong is the outcome. Redirects are not followed. */
  async send(url: string, headers: Readonly<Record<string, string>>, body: string, signal?: AbortSignal): Promise<AttemptOutcome> {
    const startedAt = performance.now()
    const timeout = AbortSignal.timeout(attemptTimeoutMs)
    const within = signal ? AbortSignal.any([signal, timeout]) : timeout
    const durationMs = () => Math.round(performance.now() - startedAt)
    try {
      if (Buffer.byteLength(body) > maxBodyBytes) throw new HopelessBody(`the body has more than ${maxBodyBytes} bytes`)
      const answer = await this.#request(new URL(url), headers, body, within).catch((error: unknown) => {
        // A kept connection that the receiver has closed meanwhile: a new one decides.
        if (!(error instanceof StaleConnection)) throw error
        return this.#request(new URL(url), headers, body, within)
      })
      return { ...answer, durationMs: durationMs(), error: null }
    } catch (error) {
      const text = timeout.aborted ? `no answer within ${attemptTimeoutMs / 1_000} s` : describe(error)
      const hopeless = error instanceof HopelessBody && ({ isHopeless: true } as const)
      return { statusCode: null, retryAfter: null, durationMs: durationMs(), response: null, error: text, ...hopeless }
    }
  }

  #request(
    url: URL,
    headers: Readonly<Record<string, string>>,
    body: string,
    signal: AbortSignal,
  ): Promise<Answered & Pick<AttemptOutcome, 'response'>> {
    if (urlFault(url.href, this.#targets) !== null) throw new RefusedTarget(refusedText)
    return new Promise((resolve, reject) => {
      const isPlain = url.protocol === 'http:'
      const options: RequestOptions = {
        method: 'POST',
        agent: isPlain ? this.#plain : this.#secure,
        headers: { ...headers, 'content-length': Buffer.byteLength(body) },
        signal,
        lookup: (host, { all }, done) => {
          this.#allowedAddresses(host, signal).then(
            (addresses) => (all ? done(null, [...addresses]) : done(null, addresses[0]!.address, addresses[0]!.family)),
            (error) => done(error, []),
          )
        },
      }
      const outgoing = (isPlain ? plainRequest : request)(url, options)
      outgoing.on('error', (error: NodeJS.ErrnoException) => {
        const isStale = outgoing.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
        reject(isStale ? new StaleConnection('connection closed', { cause: error }) : error)
      })
      let isAnswered = false
      // Such as after an answer that switches to another protocol, which has no other end.
      outgoing.on('close', () => {
        if (!isAnswered) reject(Object.assign(new Error('closed without an answer'), { code: 'ECONNRESET' }))
      })
      outgoing.on('response', (incoming) => {
        isAnswered = true
        const chunks: Buffer[] = []
        let bytes = 0
        const finish = () => {
          clearTimeout(timer)
          if (!incoming.complete) incoming.destroy()
          const retryAfter = incoming.headers['retry-after'] ?? null
          resolve({ statusCode: incoming.statusCode ?? null, retryAfter, response: textOf(Buffer.concat(chunks)) })
        }
        const timer = setTimeout(finish, bodyWaitMs)
        incoming.on('data', (chunk: Buffer) => {
          if (bytes < keptAnswerBytes) chunks.push(chunk.subarray(0, keptAnswerBytes - bytes))
          bytes += chunk.length
          if (bytes > keptAnswerBytes) finish()
        })
        incoming.on('end', finish)
        incoming.on('error', finish)
      })
      outgoing.end(body)
    })
  }

  /**
   * @throws RefusedTarget when one of them is not allowed: nobody mixes them by accident. And when there is none, so that nobody learns which names a network of
   * ours has.
   */
  async #allowedAddresses(host: string, signal: AbortSignal): Promise<readonly LookupAddress[]> {
    const addresses = await this.#resolve(host, signal).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOTFOUND' || error.code === 'ENODATA') return []
      throw error
    })
    if (addresses.length === 0 || addresses.some(({ address }) => !isAllowed(address, this.#targets))) throw new RefusedTarget(refusedText)
    return addresses
  }
}

const refusedText = 'the host has no address, or one that is not of the public internet'

function describe(error: unknown): string {
  if (error instanceof RefusedTarget || error instanceof HopelessBody) return error.message
  const { code, name } = error as { code?: unknown; name?: string }
  return typeof code === 'string' ? `no connection (${code})` : `no connection (${name ?? 'unknown'})`
}

/** PostgreSQL takes no character 0. What was cut off in the middle of a character ends before it. */
const textOf = (bytes: Buffer): string => new TextDecoder().decode(bytes, { stream: true }).replaceAll('\0', '')
