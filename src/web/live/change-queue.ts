import type { AlertMessage } from '../../updates/wire/alert-message.js'
import type { ChangeMessage } from '../../updates/wire/change-message.js'

/** What the channel of an environment carries. */
export type PushedMessage = ChangeMessage | AlertMessage

/** A change as it waits for those who listen; held once, however many they are. */
export interface WaitingChange {
  change: PushedMessage
  bytes: number
  /** Queues that it is in. */
  holders: number
}

/** What is thrown to a listener whose changes were given up, since it did not keep up with them. */
export class ListenerLags extends Error {
  constructor() {
    super('the listener does not keep up with the changes of its environment')
  }
}

/** Of each place in a queue, beside what waits in it. */
const placeBytes = 16

/** The changes that one listener has not taken yet. */
export class ChangeQueue {
  #changes: WaitingChange[] = []
  #wake: () => void = () => {}
  #isEnded = false
  #lags = false
  /** Adds to what the environment has waiting. */
  readonly #count: (bytes: number) => void

  constructor(count: (bytes: number) => void) {
    this.#count = count
  }

  get length(): number {
    return this.#changes.length
  }

  add(waiting: WaitingChange): void {
    if (this.#isEnded) return
    waiting.holders += 1
    this.#count(placeBytes + (waiting.holders === 1 ? waiting.bytes : 0))
    this.#changes.push(waiting)
    this.#wake()
  }

  /** Undefined: it has ended. Fails with ListenerLags. */
  async take(): Promise<PushedMessage | undefined> {
    while (!this.#isEnded) {
      const waiting = this.#changes.shift()
      if (waiting) {
        this.#let(waiting)
        return waiting.change
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    if (this.#lags) throw new ListenerLags()
    return undefined
  }

  readonly end = (): void => {
    this.#isEnded = true
    for (const waiting of this.#changes.splice(0)) this.#let(waiting)
    this.#wake()
  }

  giveUp(): void {
    this.#lags = true
    this.end()
  }

  #let(waiting: WaitingChange): void {
    waiting.holders -= 1
    this.#count(-placeBytes - (waiting.holders === 0 ? waiting.bytes : 0))
  }
}
