import type { Duplex } from 'node:stream'
import type { RawData, WebSocket } from 'ws'
import { turns } from '../access/fair-turns.js'
import type { UnreadBytes } from './unread-bytes.js'

/** Why a socket was cut off or refused, in the metrics. */
export const dropReasons = ['slow', 'silent', 'flood', 'early', 'lagging', 'places'] as const
export type DropReason = (typeof dropReasons)[number]

/** A larger message closes the socket. Documents of subscriptions are short. */
export const maxMessageBytes = 64 * 1024
/** Of all that comes before the key is accepted: `connection_init` and its credentials. */
export const maxEarlyBytes = 16 * 1024
/** Some states of the largest customers; a client that is further behind reconnects and starts afresh. */
export const maxUnreadBytes = 4 * 1024 * 1024
/** A socket that has so much to read is not read from: it gets no more answers than it takes. */
const pauseAtBytes = 64 * 1024
/** What several sockets are sent is one copy from this length on. */
const sharedAtBytes = 64 * 1024
/** A socket is sent no longer message while its environment, or all together, have left too much: it would be behind with it. */
const largeBytes = 1024 * 1024
/** Each message is one, and one more for each KiB of it. A client subscribes to 50 documents of 4 KiB in its first second. */
export const maxPointsPerSecond = 300
/** Of UTF-8, by the protocol. */
const maxReasonBytes = 123
/** Time for a peer to answer that the socket closes. One that does not is cut off. */
export const closeTimeoutMs = 1_000

interface ConnectionParts {
  socket: WebSocket
  /** What the socket reads from. */
  stream: Duplex
  unread: UnreadBytes
  onDrop: (reason: DropReason) => void
}

/**
 * One peer's WebSocket, within its bounds whatever the peer does: what it sends before its key is accepted, how often it sends, and what it does not
 * read. Everything that is written to a socket goes through here.
 */
export class Connection {
  readonly #socket: WebSocket
  readonly #stream: Duplex
  readonly #unread: UnreadBytes
  readonly #onDrop: (reason: DropReason) => void
  /** Whose memory it is that waits to be read; empty until the key is accepted. */
  #environmentId = ''
  #earlyBytes = 0
  #secondBegan = 0
  #points = 0
  /** Messages that wait for their turns. No more than the points allow. */
  readonly #waiting: string[] = []

  constructor({ socket, stream, unread, onDrop }: ConnectionParts) {
    this.#socket = socket
    this.#stream = stream
    this.#unread = unread
    this.#onDrop = onDrop
    // A message is held until it is whole, so it is too late to look at its length when it arrives.
    stream.on('data', this.#countEarly)
    // The library answers pings, and cuts off who leaves 60 answers unread.
    socket.on('ping', () => this.#takePoints(0))
    socket.on('pong', () => this.#takePoints(0))
  }

  get isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN
  }

  /**
   * Messages in their order, as long as the socket is open and they come no more often than they may: at once (what is told while a subscription waits is
   * missed), unless the environment's have kept everybody waiting already.
   */
  onMessage(handle: (text: string) => void): void {
    this.#socket.on('message', (data: RawData) => {
      if (!this.#takePoints((data as Buffer).length)) return
      if (this.#waiting.length > 0) this.#waiting.push(String(data))
      else if (turns.takeNow(this.#environmentId)) handle(String(data))
      else {
        this.#waiting.push(String(data))
        void this.#handleInTurns(handle)
      }
    })
  }

  async #handleInTurns(handle: (text: string) => void): Promise<void> {
    while (this.#waiting.length > 0) {
      await turns.take(this.#environmentId)
      const [text] = this.#waiting
      if (this.isOpen) handle(text!)
      // Those that come meanwhile go behind it.
      this.#waiting.shift()
    }
  }

  /** The key is accepted. */
  accept(environmentId: string): void {
    this.#environmentId = environmentId
    this.#stream.off('data', this.#countEarly)
  }

  write(text: string): void {
    const message = Buffer.from(text)
    this.#write(message, [message])
  }

  /** One message of three parts. A long payload is held once for all sockets that are sent the same. */
  push({ head, payload, tail }: { head: Buffer; payload: Buffer; tail: Buffer }): void {
    if (payload.length > sharedAtBytes) this.#write(payload, [head, payload, tail])
    else {
      const message = Buffer.concat([head, payload, tail])
      this.#write(message, [message])
    }
  }

  /** `bulk`: nearly all that is in the message's frames. */
  #write(bulk: Buffer, frames: readonly Buffer[]): void {
    if (!this.isOpen) return
    const environmentId = this.#environmentId
    const waiting = this.#socket.bufferedAmount
    const isBehind = waiting > pauseAtBytes || bulk.length > largeBytes
    if (waiting > maxUnreadBytes || (isBehind && this.#unread.isTooMuch(environmentId, bulk))) {
      this.drop('slow')
      return
    }
    for (const [index, frame] of frames.entries()) {
      const letGo = this.#unread.hold(environmentId, frame)
      this.#socket.send(frame, { binary: false, fin: index === frames.length - 1 }, () => {
        letGo()
        if (this.#socket.isPaused && this.isOpen && this.#socket.bufferedAmount <= pauseAtBytes) this.#socket.resume()
      })
    }
    if (this.#socket.bufferedAmount > pauseAtBytes) this.#socket.pause()
  }

  /** A reason may quote what a client chose: it is cut to what a frame takes. */
  close(code?: number, reason = ''): void {
    const { read } = new TextEncoder().encodeInto(reason, new Uint8Array(maxReasonBytes))
    this.#socket.close(code, reason.slice(0, read))
  }

  /** What it listened to has missed something. */
  startAfresh(): void {
    if (!this.isOpen) return
    this.#onDrop('lagging')
    this.close(1012, 'Updates were interrupted')
  }

  /** Cuts off without waiting for anything. */
  drop(reason: DropReason): void {
    if (!this.isOpen) return
    this.#onDrop(reason)
    this.#socket.terminate()
  }

  readonly #countEarly = (chunk: Buffer): void => {
    this.#earlyBytes += chunk.length
    if (this.#earlyBytes > maxEarlyBytes) this.drop('early')
  }

  /** False: it is not to be answered. */
  #takePoints(bytes: number): boolean {
    if (!this.isOpen) return false
    const now = performance.now()
    if (now - this.#secondBegan >= 1_000) {
      this.#secondBegan = now
      this.#points = 0
    }
    this.#points += 1 + bytes / 1_024
    if (this.#points <= maxPointsPerSecond) return true
    this.#onDrop('flood')
    this.close(1013, 'Too many messages')
    // What else it sends is of no interest; it is cut off when it has had its time to hear of the close.
    this.#socket.pause()
    return false
  }
}
