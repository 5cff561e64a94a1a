import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { unavailable } from '../../kernel/problem.js'
import { Tally } from '../../kernel/tally.js'
import { type Registry, showKept } from '../../platform/metrics.js'

/** Of answers that were written and that nobody has taken yet. */
const maxBytes = 64 * 2 ** 20
/** Of those to one environment, or to one address that has shown none: the others' are not refused for it. */
export const maxBytesOfOwner = maxBytes / 4
/** A shorter answer is always given: connections are limited, and a connection has one at a time. */
const shortAnswerBytes = 64 * 1024

export const tooMuchUnread = () =>
  unavailable('Large answers to this environment, or to all, wait for their readers: read them, ask for less at once, and try again.')

/** Counts the bytes of long answers that are made, and of all that wait for their readers. Who asks for much and reads none of it is refused more. */
export class UnreadAnswers {
  readonly #bytes = new Tally()
  readonly #ofSocket = new WeakMap<Socket, Set<() => void>>()

  /** `what`: as metrics name them. */
  constructor(metrics: Registry, what = 'unread answers') {
    showKept(metrics, what, () => this.#bytes.inAll)
  }

  /** Whether an answer may be written. `owner`: the environment, or who has shown none; undefined: nobody's that is known. */
  hasRoom(bytes: number, owner = ''): boolean {
    if (bytes <= shortAnswerBytes) return true
    return this.#bytes.inAll + bytes <= maxBytes && this.#bytes.of(owner) + bytes <= maxBytesOfOwner
  }

  /** Counts what was made and is not written yet. Answers what ends that. */
  hold(bytes: number, owner = ''): () => void {
    this.#bytes.add(owner, bytes)
    return () => void this.#bytes.add(owner, -bytes)
  }

  /** To be called when the response has been ended. Nearly all answers are taken at once by then, and cost nothing more. */
  follow(response: ServerResponse, owner = ''): void {
    const bytes = response.writableLength
    const { socket } = response.req
    if (bytes === 0 || response.closed || socket.destroyed) return
    this.#bytes.add(owner, bytes)
    const unread = this.#unreadOn(socket)
    const end = () => {
      if (unread.delete(end)) this.#bytes.add(owner, -bytes)
    }
    unread.add(end)
    response.once('close', end)
  }

  /** An answer that waits behind others of its connection is told nothing when that is gone. */
  #unreadOn(socket: Socket): Set<() => void> {
    let unread = this.#ofSocket.get(socket)
    if (!unread) {
      const all = new Set<() => void>()
      socket.once('close', () => {
        for (const end of all) end()
      })
      this.#ofSocket.set(socket, all)
      unread = all
    }
    return unread
  }
}
