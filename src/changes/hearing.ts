import { newId } from '../kernel/id.js'
import { keepSubscribed, type Redis } from '../platform/redis.js'

/** In a row: a process that was busy for a moment, or has just connected, is not deaf. */
const mostMisses = 3

/**
 * Proves that a connection which is subscribed hears what is published. What it hears arrives in the order in which it was published, so when a beat of its
 * own has come back, everything before that beat has been heard. That the connection looks open, or answers, proves nothing: its subscription may have
 * been closed on the far side, or it may be that of a server which is none of the primary's any more.
 */
export class Hearing {
  readonly #subscriber: Redis
  readonly #publisher: Redis
  readonly #channel: string
  #beats = 0
  /** In a row. */
  #misses = 0
  readonly #waiting = new Map<string, (isHeard: boolean) => void>()

  constructor({ subscriber, publisher, prefix }: { subscriber: Redis; publisher: Redis; prefix: string }) {
    this.#subscriber = subscriber
    this.#publisher = publisher
    this.#channel = `${prefix}:hearing:${newId()}`
    subscriber.on('message', (channel: string, beat: string) => {
      if (channel === this.#channel) this.#waiting.get(beat)?.(true)
    })
    keepSubscribed(subscriber, this.#channel)
  }

  /**
   * The instant, by the clock that only goes on, up to which everything has been heard. Null: the beat did not come back in that time. Fails when it could
   * not be sent.
   */
  async prove(withinMs: number): Promise<number | null> {
    const sentAt = performance.now()
    this.#beats += 1
    const beat = String(this.#beats)
    let timer: NodeJS.Timeout | undefined
    const heard = new Promise<boolean>((resolve) => {
      timer = setTimeout(resolve, withinMs, false)
      this.#waiting.set(beat, resolve)
    })
    try {
      const receivers = await this.#publisher.publish(this.#channel, beat)
      const isHeard = receivers > 0 && (await heard)
      this.#note(isHeard)
      return isHeard ? sentAt : null
    } finally {
      clearTimeout(timer)
      this.#waiting.delete(beat)
    }
  }

  /** A connection that looks open and is deaf is made anew. */
  #note(isHeard: boolean): void {
    this.#misses = isHeard ? 0 : this.#misses + 1
    if (this.#misses < mostMisses || this.#subscriber.status !== 'ready') return
    this.#misses = 0
    this.#subscriber.disconnect(true)
  }
}
