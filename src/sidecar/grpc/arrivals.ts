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

/** `bytes`: of its requests that have not arrived whole. */
interface Connection {
  bytes: number
}

/**
 * A request that is arriving, in a line in the order in which they began. A line of links and no map, as each call comes this way: what a map holds outlives
 * the next collection of garbage, which takes a sixth of a call's time.
 */
class Arriving {
  #before: Arriving = this
  #after: Arriving = this

  /** `stream` null: the head of a line. */
  constructor(
    readonly stream: ServerHttp2Stream | null,
    readonly since: number,
  ) {}

  /** The first of the line; the head: there is none. */
  get next(): Arriving {
    return this.#after
  }

  /** At the end of the line. */
  join(head: Arriving): void {
    this.#before = head.#before
    this.#after = head
    head.#before.#after = this
    head.#before = this
  }

  leave(): void {
    this.#before.#after = this.#after
    this.#after.#before = this.#before
    this.#before = this
    this.#after = this
  }
}

/**
 * The requests that are arriving, in bytes and in time, and the connections that they come over: `grpc-js` holds what has come of each for as long as its connection
 * lives. Who sends too much, or too slowly, has that call ended; the others, and the connection, go on.
 */
export class Arrivals {
  readonly #line = new Arriving(null, Number.POSITIVE_INFINITY)
  readonly #connections = new WeakMap<object, Connection>()
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
    server.on('stream', (stream, headers, flags) => {
      // Nothing more comes.
      if (flags & constants.NGHTTP2_FLAG_END_STREAM) return
      const arriving = new Arriving(stream, performance.now())
      if (!isReflection(headers[':path'])) arriving.join(this.#line)
      this.#follow(stream, arriving)
    })
  }

  stop(): void {
    clearInterval(this.#looking)
  }

  #follow(stream: ServerHttp2Stream, arriving: Arriving): void {
    const connection = this.#connectionOf(stream)
    let held = 0
    const hold = (bytes: number) => {
      held += bytes
      connection.bytes += bytes
      this.#bytes += bytes
    }
    const arrived = () => {
      arriving.leave()
      hold(-held)
    }
    stream.on('data', ({ length }: Buffer) => {
      hold(length)
      const isTooMuch = this.#bytes > mostArrivingBytes || connection.bytes > mostArrivingBytesOfConnection
      if (isTooMuch && held > smallBytes) this.#end(stream, 'bytes')
    })
    // Each comes once anyway.
    stream.on('end', arrived)
    stream.on('close', arrived)
  }

  #connectionOf({ session }: ServerHttp2Stream): Connection {
    const known = session && this.#connections.get(session)
    if (known) return known
    const connection = { bytes: 0 }
    // The session of a stream that has been closed is gone, and so is its share.
    if (session) this.#connections.set(session, connection)
    return connection
  }

  #endLate(): void {
    const now = performance.now()
    for (let first = this.#line.next; now - first.since > this.#timeoutMs; first = this.#line.next) {
      first.leave()
      this.#end(first.stream!, 'time')
    }
  }

  /** The codes are those that gRPC has for them: RESOURCE_EXHAUSTED, CANCELLED. */
  #end(stream: ServerHttp2Stream, reason: 'bytes' | 'time'): void {
    this.#refused.inc({ reason })
    stream.close(reason === 'bytes' ? constants.NGHTTP2_ENHANCE_YOUR_CALM : constants.NGHTTP2_CANCEL)
  }
}
