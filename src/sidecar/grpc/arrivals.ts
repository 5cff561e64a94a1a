import { constants, type Http2Server, type ServerHttp2Stream } from 'node:http2'
import { Counter, type Registry } from '../../platform/metrics.js'

/** A batch of 1,000 events with their dimensions has some hundred KiB; the API takes 5 MiB of JSON. */
export const largestRequestBytes = 4 * 1024 * 1024
/** Of all requests that have not arrived whole, and of those of one connection. */
export const mostArrivingBytes = 64 * 1024 * 1024
export const mostArrivingBytesOfConnection = 16 * 1024 * 1024
/** Nobody is refused for so much: checks are smaller by far. */
const smallBytes = 16 * 1024
/** For a whole request, from its headers on. */
export const arrivalTimeoutMs = 10_000
/** TLS or not, by listener. Each application process has one or a few. */
export const mostConnections = 1_000

const lookMs = 1_000

/** Its callers talk in it for as long as they like. */
const isReflection = (path: string | undefined) => path?.startsWith('/grpc.reflection.') ?? false

/**
 * The requests that are arriving, in bytes and in time, and the connections that they come over: `grpc-js` holds what has come of each for as long as its connection
 * lives. Who sends too much, or too slowly, has that call ended; the others, and the connection, go on.
 */
export class Arrivals {
  readonly #since = new Map<ServerHttp2Stream, number>()
  readonly #ofConnection = new WeakMap<object, number>()
  readonly #timeoutMs: number
  readonly #refused: Counter<'reason'>
  readonly #looking: NodeJS.Timeout
  #bytes = 0

  constructor({ metrics, timeoutMs = arrivalTimeoutMs }: { metrics: Registry; timeoutMs?: number }) {
    this.#timeoutMs = timeoutMs
    this.#refused = new Counter({
      name: 'sidecar_arrivals_refused_total',
      help: 'Connections beyond their number (connections), and requests that were ended before they had arrived (bytes, time)',
      labelNames: ['reason'],
      registers: [metrics],
    })
    this.#looking = setInterval(() => this.#endLate(), Math.min(lookMs, timeoutMs)).unref()
  }

  /** Before it listens. */
  watch(server: Http2Server): void {
    server.maxConnections = mostConnections
    server.on('drop', () => this.#refused.inc({ reason: 'connections' }))
    server.on('stream', (stream, headers) => {
      if (!isReflection(headers[':path'])) this.#since.set(stream, performance.now())
      this.#follow(stream)
    })
  }

  stop(): void {
    clearInterval(this.#looking)
  }

  #follow(stream: ServerHttp2Stream): void {
    const { session } = stream
    let held = 0
    const arrived = () => {
      this.#since.delete(stream)
      if (held > 0) this.#hold(session, -held)
      held = 0
    }
    stream.on('data', ({ length }: Buffer) => {
      held += length
      const [all, own] = this.#hold(session, length)
      if (held > smallBytes && (all > mostArrivingBytes || own > mostArrivingBytesOfConnection)) this.#end(stream, 'bytes')
    })
    stream.once('end', arrived)
    stream.once('close', arrived)
  }

  /** What is held then, in all and of the connection. */
  #hold(session: object | undefined, bytes: number): [all: number, own: number] {
    this.#bytes += bytes
    // The session of a stream that has been closed is gone, and so is its share.
    if (!session) return [this.#bytes, 0]
    const own = (this.#ofConnection.get(session) ?? 0) + bytes
    this.#ofConnection.set(session, own)
    return [this.#bytes, own]
  }

  #endLate(): void {
    const now = performance.now()
    // In the order in which they began.
    for (const [stream, since] of this.#since) {
      if (now - since <= this.#timeoutMs) return
      this.#since.delete(stream)
      this.#end(stream, 'time')
    }
  }

  /** The codes are those that gRPC has for them: RESOURCE_EXHAUSTED, CANCELLED. */
  #end(stream: ServerHttp2Stream, reason: 'bytes' | 'time'): void {
    this.#refused.inc({ reason })
    stream.close(reason === 'bytes' ? constants.NGHTTP2_ENHANCE_YOUR_CALM : constants.NGHTTP2_CANCEL)
  }
}
