import { newId } from '../../kernel/id.js'
import { keepSubscribed, type Redis } from '../../platform/redis.js'
import { type IngestionReply, replyChannel, unpackReply } from '../wire/replies.js'

/** Hears the replies to the batches of this process, over one Redis channel. A reply that is lost with a connection is asked for again. */
export class Replies {
  readonly #expected = new Map<string, (reply: IngestionReply) => void>()

  /** `subscriber` is used for this channel only. `door`: what the process is called by those that reply. */
  constructor(
    subscriber: Redis,
    prefix: string,
    readonly door: string = newId(),
  ) {
    subscriber.on('message', (_channel, message) => {
      const reply = unpackReply(message)
      // One of another version is none: the batch is asked for again, and another worker may answer.
      if (reply) this.#expected.get(reply.batchId)?.(reply)
    })
    keepSubscribed(subscriber, replyChannel(prefix, this.door))
  }

  expect(batchId: string, heard: (reply: IngestionReply) => void): void {
    this.#expected.set(batchId, heard)
  }

  forget(batchId: string): void {
    this.#expected.delete(batchId)
  }
}
