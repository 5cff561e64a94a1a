import { connect, type Socket } from 'node:net'
import { Problem } from '../../../src/kernel/problem.js'

/** A server that does not answer must not keep the benchmark waiting. */
const longestAnswerMs = 60_000

const readBuffer = Buffer.alloc(64 * 1024)

/** A POST with its head, ready to be sent again and again. */
export function postRequest(path: string, headers: Record<string, string>, body: string): Buffer {
  const bytes = Buffer.from(body)
  const lines = Object.entries({ host: 'localhost', 'content-type': 'application/json', ...headers, 'content-length': bytes.length })
  const head = Buffer.from(`POST ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`)
  return Buffer.concat([head, bytes])
}

/**
 * A connection that makes one request after another, over HTTP/1.1, to servers that tell the length of their answers: as little as a client can be, because
 * it shares the cores with what it measures. A request costs 13 to 18 µs of CPU, most of it in the kernel; with undici it is 60.
 */
export class HttpConnection {
  readonly #url: URL
  #socket: Socket | null = null
  /** Of an answer that has not all arrived. */
  #rest: Buffer | null = null
  #waiting: { resolve: (body: string) => void; reject: (error: Error) => void } | null = null

  constructor(url: string) {
    this.#url = new URL(url)
  }

  /** Answers the body, whatever the status. One request at a time; connects again when the server has closed what was idle. */
  send(request: Buffer): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
      this.#socket ??= this.#connect()
      this.#socket.write(request)
    })
  }

  close(): void {
    this.#socket?.destroy()
  }

  #connect(): Socket {
    const { hostname, port } = this.#url
    // Into one buffer for all connections: each answer is read at once, and what is left of it is copied.
    const onread = {
      buffer: readBuffer,
      callback: (bytes: number) => {
        this.#take(readBuffer.subarray(0, bytes))
        return true
      },
    }
    const socket = connect({ host: hostname, port: Number(port), noDelay: true, onread })
    socket.setTimeout(longestAnswerMs, () => this.#fail(`No answer in ${longestAnswerMs / 1_000} s`))
    socket.on('error', (error) => this.#fail(error.message))
    socket.on('close', () => {
      if (this.#socket === socket) this.#fail('The connection was closed')
    })
    return socket
  }

  #take(chunk: Buffer): void {
    const received = this.#rest === null ? chunk : Buffer.concat([this.#rest, chunk])
    const text = received.toString('latin1')
    const headEnd = text.indexOf('\r\n\r\n')
    const length = headEnd < 0 ? Number.POSITIVE_INFINITY : lengthOf(text, headEnd)
    if (Number.isNaN(length)) return void this.#fail(`An answer of unknown length: ${text}`)
    const bodyStart = headEnd + 4
    const end = bodyStart + length
    if (received.length < end) {
      this.#rest = Buffer.from(received)
      return
    }
    this.#rest = null
    const waiting = this.#waiting
    this.#waiting = null
    waiting?.resolve(received.toString('utf8', bodyStart, end))
  }

  #fail(reason: string): void {
    this.#socket?.destroy()
    this.#socket = null
    this.#rest = null
    this.#waiting?.reject(new Problem('UNAVAILABLE', 'CONNECTION_LOST', reason))
    this.#waiting = null
  }
}

const contentLength = /\r\ncontent-length: *(\d+)/i

/** Of the body; NaN: the head does not tell. */
function lengthOf(text: string, headEnd: number): number {
  const found = contentLength.exec(text)
  return found && found.index < headEnd ? Number(found[1]) : Number.NaN
}
