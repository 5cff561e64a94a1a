import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { invalidInput, Problem } from '../../kernel/problem.js'
import { Counter, Gauge, type Registry } from '../../platform/metrics.js'
import { JsonShape } from './json-shape.js'

/** Room for a call of 1,000 events of some kilobytes each. */
export const maxBodyBytes = 5 * 1024 * 1024
/** Of all bodies that are arriving, and of those of one key. */
export const maxArrivingBytes = 64 * 1024 * 1024
export const maxArrivingBytesPerKey = 16 * 1024 * 1024
/** For a whole body, from its headers on: half a megabyte a second at most is needed. */
export const bodyTimeoutMs = 10_000
/** A shorter one cannot hold so much that parsing it takes long. */
const smallBytes = 2_048

/** The client has gone before its body was there: there is nobody to tell. */
export class Aborted extends Error {
  override readonly name = 'Aborted'
  constructor(cause: Error) {
    super('the client hung up before its request had arrived', { cause })
  }
}

/** The bodies that are arriving in this process, in bytes: nobody has more of its memory than its share. */
export class Bodies {
  readonly #byKey = new Map<string, number>()
  readonly #timeoutMs: number
  readonly #refused: Counter
  #bytes = 0

  constructor({ metrics, timeoutMs = bodyTimeoutMs }: { metrics: Registry; timeoutMs?: number }) {
    this.#timeoutMs = timeoutMs
    const bytes = () => this.#bytes
    new Gauge({
      name: 'tollgate_arriving_body_bytes',
      help: 'Bodies of HTTP requests that have not arrived whole',
      registers: [metrics],
      collect() {
        this.set(bytes())
      },
    })
    this.#refused = new Counter({
      name: 'tollgate_bodies_refused_total',
      help: 'HTTP bodies that were not read to their end, by reason',
      labelNames: ['reason'],
      registers: [metrics],
    })
  }

  /** The body of whoever showed the key, as text. Fails as soon as it is known to be refused: the rest is not read. */
  read(request: IncomingMessage, keyId: string): Promise<string> {
    if (Number(request.headers['content-length'] ?? 0) > maxBodyBytes) return Promise.reject(this.#refuse('size', tooLarge()))
    return new Promise((resolve, reject) => {
      const announced = Number(request.headers['content-length'] ?? Number.POSITIVE_INFINITY)
      const chunks: Buffer[] = []
      let [bytes, taken] = [0, 0]
      let shape: JsonShape | undefined
      let slow: NodeJS.Timeout | undefined
      const settle = () => {
        if (slow) clearTimeout(slow)
        if (taken > 0) this.#take(keyId, -taken)
        taken = 0
      }
      const fail = (reason: string, problem: Problem) => {
        request.off('data', arrived)
        request.pause()
        settle()
        reject(this.#refuse(reason, problem))
      }
      const arrived = (chunk: Buffer) => {
        bytes += chunk.length
        chunks.push(chunk)
        // Nearly all are there whole with the first chunk.
        if (bytes < announced) slow ??= setTimeout(() => fail('slow', tooSlow(this.#timeoutMs)), this.#timeoutMs)
        if (bytes <= smallBytes) return
        this.#take(keyId, bytes - taken)
        taken = bytes
        if (bytes > maxBodyBytes) return fail('size', tooLarge())
        if (this.#bytes > maxArrivingBytes) return fail('memory', tooMuchArriving())
        if (this.#byKey.get(keyId)! > maxArrivingBytesPerKey) return fail('share', tooMuchOfOne())
        let tooMuch: Problem | null = null
        if (shape) tooMuch = shape.add(chunk)
        else {
          shape = new JsonShape()
          for (const earlier of chunks) tooMuch ??= shape.add(earlier)
        }
        if (tooMuch) fail('shape', tooMuch)
      }
      request.on('data', arrived)
      request.once('end', () => {
        settle()
        const body = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
        if (isUtf8(body)) resolve(body.toString('utf8'))
        else reject(this.#refuse('encoding', invalidInput('The body is not UTF-8.')))
      })
      request.once('error', (error) => {
        settle()
        reject(new Aborted(error))
      })
    })
  }

  #take(keyId: string, bytes: number): void {
    this.#bytes += bytes
    const ofKey = (this.#byKey.get(keyId) ?? 0) + bytes
    if (ofKey > 0) this.#byKey.set(keyId, ofKey)
    else this.#byKey.delete(keyId)
  }

  #refuse(reason: string, problem: Problem): Problem {
    this.#refused.inc({ reason })
    return problem
  }
}

function tooLarge(): Problem {
  return new Problem(
    'INVALID_ARGUMENT',
    'BAD_USER_INPUT',
    `The body is larger than ${maxBodyBytes} bytes: send several smaller requests.`,
    {
      details: { limit: maxBodyBytes },
    },
  )
}

const tooSlow = (timeoutMs: number) =>
  new Problem('DEADLINE_EXCEEDED', 'TIMEOUT', `The body did not arrive within ${timeoutMs / 1_000} s: nothing was done.`)

const tooMuchArriving = () =>
  new Problem('UNAVAILABLE', 'UNAVAILABLE', 'Too many large requests are arriving: try again in a moment.', {
    details: { retryAfterMs: 1_000 },
  })

const tooMuchOfOne = () =>
  new Problem(
    'RESOURCE_EXHAUSTED',
    'RATE_LIMIT_EXCEEDED',
    `Bodies of this key are arriving with more than ${maxArrivingBytesPerKey} bytes: send fewer at once.`,
    {
      details: { retryAfterMs: 1_000 },
    },
  )
