import type { IncomingMessage } from 'node:http'
import { shareOf } from '../../kernel/crowd.js'
import { invalidInput, Problem } from '../../kernel/problem.js'
import { Tally } from '../../kernel/tally.js'
import { Counter, Gauge, type Registry } from '../../platform/metrics.js'
import type { Identity } from '../access/auth.js'
import { turns } from '../access/fair-turns.js'
import { JsonShape } from './json-shape.js'
import { longBytes, Utf8Text, utf8TextOf } from './utf8-text.js'

/** Room for a call of 1,000 events of some kilobytes each. */
export const maxBodyBytes = 5 * 1024 * 1024
/**
 * Memory of all bodies that are arriving or being answered, of which an environment has its share (`shareOf`); of those of one key, and of one customer with a
 * client key: of the largest body, with two bytes for a character.
 */
export const maxHeldBytes = 64 * 1024 * 1024
export const maxHeldBytesPerKey = 16 * 1024 * 1024
export const maxHeldBytesPerCustomer = 11 * 1024 * 1024
/** What a piece takes beside its bytes. Whoever sends decides how many there are. */
const bytesPerPiece = 256
/** For a whole body, from its headers on: half a megabyte a second at most is needed. */
export const bodyTimeoutMs = 10_000
/** Read of a long one in a turn. */
const bytesPerTurn = 512 * 1024
/** A shorter one cannot hold so much that parsing it takes long. */
const smallBytes = 2_048

/** The client has gone before its body was there: there is nobody to tell. */
export class Aborted extends Error {
  override readonly name = 'Aborted'
  constructor(cause?: Error) {
    super('the client hung up before its request had arrived', { cause })
  }
}

/** A body that has arrived. `release` is to be called once it is answered: until then it takes from the share of who sent it. */
export interface Body {
  text: string
  release(): void
}

/** The bodies that are arriving or being answered in this process, in bytes: nobody has more of its memory than its share. */
export class Bodies {
  /** Of keys or customers. */
  readonly #ofSender = new Tally()
  readonly #ofEnvironment = new Tally()
  readonly #timeoutMs: number
  readonly #refused: Counter

  constructor({ metrics, timeoutMs = bodyTimeoutMs }: { metrics: Registry; timeoutMs?: number }) {
    this.#timeoutMs = timeoutMs
    const bytes = () => this.#ofEnvironment.inAll
    new Gauge({
      name: 'tollgate_held_body_bytes',
      help: 'Bodies of HTTP requests that are arriving or being answered',
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

  /** A small body that is there whole, as nearly all are by the time it is known who sends them; else null. It needs no listeners, and is too small to be counted. */
  atHand(request: IncomingMessage): Body | null {
    const { readableLength: bytes } = request
    if (request.destroyed || bytes === 0 || bytes > smallBytes || bytes !== Number(request.headers['content-length'])) return null
    const text = utf8TextOf(request.read() as Buffer)
    // Nobody hears of its end, but Node has to see it.
    request.resume()
    if (text === null) throw this.#refuse('encoding', notUtf8())
    return { text, release: nothingToRelease }
  }

  /** The body of whoever asks. Fails as soon as it is known to be refused: the rest is not read. */
  read(
    request: IncomingMessage,
    { keyId, environmentId, customerId }: Pick<Identity, 'keyId' | 'environmentId' | 'customerId'>,
  ): Promise<Body> {
    const sender = customerId === null ? keyId : environmentId + customerId
    const share = customerId === null ? maxHeldBytesPerKey : maxHeldBytesPerCustomer
    const take = (more: number) => {
      this.#ofSender.add(sender, more)
      this.#ofEnvironment.add(environmentId, more)
    }
    // Gone while its key was looked up: nothing of it will be heard any more.
    if (request.destroyed) return Promise.reject(new Aborted())
    if (Number(request.headers['content-length'] ?? 0) > maxBodyBytes) return Promise.reject(this.#refuse('size', tooLarge()))
    return new Promise((resolve, reject) => {
      const announced = Number(request.headers['content-length'] ?? Number.POSITIVE_INFINITY)
      const text = new Utf8Text()
      let [bytes, pieces, taken] = [0, 0, 0]
      let shape: JsonShape | undefined
      let early: Buffer[] = []
      let slow: NodeJS.Timeout | undefined
      let [leftMs, slowSince] = [this.#timeoutMs, 0]
      /** Without waiting for a turn. */
      let readableBytes = longBytes
      const release = () => {
        if (taken > 0) take(-taken)
        taken = 0
      }
      const fail = (reason: string, problem: Problem) => {
        request.off('data', arrived)
        request.pause()
        clearTimeout(slow)
        release()
        early = []
        text.drop()
        reject(this.#refuse(reason, problem))
      }
      const arrived = (chunk: Buffer) => {
        bytes += chunk.length
        pieces += 1
        // Nearly all are there whole with the first chunk.
        if (bytes < announced && !slow) goOn()
        if (bytes > maxBodyBytes) return fail('size', tooLarge())
        text.add(chunk)
        if (bytes <= smallBytes) return void early.push(chunk)
        const held = text.bytes + pieces * bytesPerPiece
        take(held - taken)
        taken = held
        if (this.#ofSender.of(sender) > share) return fail('share', tooMuchOfOne(share))
        const own = this.#ofEnvironment.of(environmentId)
        if (own > shareOf({ most: maxHeldBytes, taken: this.#ofEnvironment.inAll, own })) return fail('memory', tooMuchArriving())
        shape ??= new JsonShape()
        for (const part of [...early, chunk]) {
          const tooMuch = shape.add(part)
          if (tooMuch) return fail('shape', tooMuch)
        }
        early = []
        if (bytes > readableBytes && bytes < announced) {
          readableBytes = bytes + bytesPerTurn
          if (!turns.takeNow(environmentId)) void readOn()
        }
      }
      const goOn = () => {
        slowSince = performance.now()
        slow = setTimeout(() => fail('slow', tooSlow(this.#timeoutMs)), leftMs)
      }
      // The rest of a long body stays in the connection until its turn: that is no time of who sends it.
      const readOn = async () => {
        request.pause()
        clearTimeout(slow)
        leftMs -= performance.now() - slowSince
        await turns.take(environmentId)
        if (request.destroyed) return
        goOn()
        request.resume()
      }
      request.on('data', arrived)
      request.once('end', async () => {
        clearTimeout(slow)
        // Putting megabytes together takes milliseconds: bodies that arrive at once do so one after the other.
        if (bytes > longBytes) await turns.take(environmentId)
        const whole = text.end()
        if (whole !== null) resolve({ text: whole, release })
        else fail('encoding', notUtf8())
      })
      request.once('error', (error) => {
        clearTimeout(slow)
        release()
        text.drop()
        reject(new Aborted(error))
      })
    })
  }

  #refuse(reason: string, problem: Problem): Problem {
    this.#refused.inc({ reason })
    return problem
  }
}

const nothingToRelease = () => undefined

const notUtf8 = () => invalidInput('The body is not UTF-8.')

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
  new Problem('UNAVAILABLE', 'UNAVAILABLE', 'Too many large requests are under way: try again in a moment.', {
    details: { retryAfterMs: 1_000 },
  })

const tooMuchOfOne = (share: number) =>
  new Problem(
    'RESOURCE_EXHAUSTED',
    'RATE_LIMIT_EXCEEDED',
    `Your requests that are under way have more than ${share} bytes: send fewer at once.`,
    {
      details: { retryAfterMs: 1_000 },
    },
  )
