import { mostBytesPerCall, type SqsSender } from '../../platform/cloud/sqs-sender.js'
import type { Logger } from '../../platform/logger.js'
import type { QueueMessage } from '../wire/queue-message.js'

/** A queue that was away is left alone for so long: each try would hold up the environment's other readers. */
const awayMs = 2_000

/**
 * The queues of SQS that lead to persistent caches. Nothing waits here for one that is away: what it was not told gives way to one message that has everything
 * read anew, which `FeedEpochs` tells until it is taken.
 */
export class SqsFeeds {
  readonly #sender: Pick<SqsSender, 'send'>
  readonly #log: Logger
  readonly #awayUntil = new Map<string, number>()

  constructor({ sender, log }: { sender: Pick<SqsSender, 'send'>; log: Logger }) {
    this.#sender = sender
    this.#log = log
  }

  /** Whether the queue has taken all of them. Never fails. */
  async tell(url: string, messages: readonly QueueMessage[]): Promise<boolean> {
    if (performance.now() < (this.#awayUntil.get(url) ?? 0)) return false
    try {
      await this.#sender.send(url, messages.map(bodyOf))
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
