import { FairPlaces } from '../../environment/fair-places.js'
import { shareOf } from '../../kernel/crowd.js'
import { Tally } from '../../kernel/tally.js'
import { mostBytesPerCall, type SqsSender } from '../../platform/cloud/sqs-sender.js'
import type { Logger } from '../../platform/logger.js'
import type { QueueMessage } from '../wire/queue-message.js'

/** A queue that was away is left alone for so long: each try would hold up the environment's other readers. */
const awayMs = 2_000
/** Queues that are sent to at the same time. One that takes requests and does not answer has its place for 6 s. */
const queuesAtOnce = 64
/** What is held for all queues until they have taken it. */
const mostHeldBytes = 128 * 1024 * 1024

/**
 * The queues of SQS that lead to persistent caches. Nothing is kept here for one that is away: what it was not told gives way to one message that has everything
 * read anew, which `FeedEpochs` tells until it is taken. So does what comes for one that has too much of the room for what is under way.
 */
export class SqsFeeds {
  readonly #sender: Pick<SqsSender, 'send'>
  readonly #log: Logger
  readonly #mostHeldBytes: number
  /** By the address of the queue: one call of `tell` at a time, so that they keep their order. */
  readonly #places = new FairPlaces({ inAll: queuesAtOnce, ofOwner: 1 })
  readonly #awayUntil = new Map<string, number>()
  /** By queue. */
  readonly #heldBytes = new Tally()

  constructor({ sender, log, mostBytes = mostHeldBytes }: { sender: Pick<SqsSender, 'send'>; log: Logger; mostBytes?: number }) {
    this.#sender = sender
    this.#log = log
    this.#mostHeldBytes = mostBytes
  }

  /** Whether the queue has taken all of them, after what it was told before. Never fails. */
  async tell(url: string, messages: readonly QueueMessage[]): Promise<boolean> {
    if (this.#isAway(url)) return false
    const bodies = messages.map(bodyOf)
    const bytes = bodies.reduce((sum, body) => sum + Buffer.byteLength(body), 0)
    const own = this.#heldBytes.of(url)
    if (own + bytes > shareOf({ most: this.#mostHeldBytes, taken: this.#heldBytes.inAll, own })) {
      this.#log.warn({ queueUrl: url, heldBytes: own, bytes }, 'a queue of SQS is too slow for what a persistent cache is told')
      return false
    }
    this.#heldBytes.add(url, bytes)
    try {
      return await this.#places.run(url, () => this.#send(url, bodies))
    } finally {
      this.#heldBytes.add(url, -bytes)
    }
  }

  #isAway(url: string): boolean {
    return performance.now() < (this.#awayUntil.get(url) ?? 0)
  }

  async #send(url: string, bodies: readonly string[]): Promise<boolean> {
    // It may have been found to be away while this waited.
    if (this.#isAway(url)) return false
    try {
      await this.#sender.send(url, bodies)
      this.#awayUntil.delete(url)
      return true
    } catch (error) {
      this.#awayUntil.set(url, performance.now() + awayMs)
      this.#log.warn({ err: error, queueUrl: url }, 'a queue of SQS did not take what a persistent cache is told')
      return false
    }
  }
}

/** Without its state, where it is too large with it: the consumer reads it from the API. */
function bodyOf(message: QueueMessage): string {
  const body = JSON.stringify(message)
  if (Buffer.byteLength(body) <= mostBytesPerCall || message.kind === 'reload' || message.kind === 'heartbeat') return body
  const { state: _, usage: __, ...bare } = message
  return JSON.stringify(bare)
}
