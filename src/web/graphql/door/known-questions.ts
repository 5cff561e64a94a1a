import { LRUCache } from 'lru-cache'
import { textBytes } from '../../../kernel/weight.js'
import type { Holder } from '../../../metering/model/holder.js'

/** Memory for what requests ask by their texts: of those that clients send, some tens of thousand. */
const maxKnownBytes = 16 * 2 ** 20
/** A longer request is not one that is sent over and over. */
export const maxRequestLength = 4_000
/** Of an entry of the cache, with the question. */
const entryBytes = 160

/** What a request asks for that depends on one state and on nothing else. */
export interface KnownQuestion {
  readonly holder: Holder
  /** The root field. */
  readonly field: string
}

/**
 * What requests ask for that come again and again with the same text, as checks do. The text says all of it, so that it need not be parsed each time, which is a
 * tenth of an answer. Who asks, and whether that may be, is looked at each time.
 */
export class KnownQuestions {
  readonly #known = new LRUCache<string, KnownQuestion>({
    maxSize: maxKnownBytes,
    sizeCalculation: ({ holder }, text) => entryBytes + textBytes(text) + textBytes(holder.customerId) + textBytes(holder.resourceId ?? ''),
  })

  /** Memory that they take. */
  get bytes(): number {
    return this.#known.calculatedSize
  }

  find(request: string): KnownQuestion | undefined {
    return request.length <= maxRequestLength ? this.#known.get(request) : undefined
  }

  remember(request: string, question: KnownQuestion): void {
    if (request.length <= maxRequestLength) this.#known.set(request, question)
  }
}
