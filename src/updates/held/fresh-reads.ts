import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import type { EntitlementState } from '../../entitlement/rules/state.js'
import { FairPlaces } from '../../environment/fair-places.js'
import { beyondSignal } from '../../platform/context/within-signal.js'

/** How fresh one caller wants a state to be. */
export interface AskedFreshness {
  /** What is held answers when it was proved to be right less long ago; 0: it never does. */
  maxAgeMs: number
  /** Before PostgreSQL is asked for this caller. May fail: then it is not asked, and the caller is refused. Answers what to call when the state did not have to be built. */
  beforeRead(): () => void
}

/** Reads that are under way at a time: each has a connection of the pool (`DATABASE_POOL_SIZE`, 10) for its transaction, and others need some. */
export const freshReadsAtATime = { inAll: 4, ofOwner: 2 }

/** `spared`: to call when the state did not have to be built. */
type Read = (environmentId: string, customerId: string, resourceId: string | null, spared: () => void) => Promise<EntitlementState>

/**
 * Reads for those who take nothing that was read before they asked. Who asks for the same before a read has begun is answered by it; once it has begun it may
 * answer from before a change that the next one knows of.
 */
export class FreshReads {
  readonly #read: Read
  readonly #places = new FairPlaces(freshReadsAtATime)
  /** Those that have not begun. */
  readonly #next = new Map<string, Promise<EntitlementState>>()

  constructor(read: Read) {
    this.#read = read
  }

  /** `beforeRead` is called for one read that no other caller has asked for. */
  async state(
    environmentId: string,
    customerId: string,
    resourceId: string | null,
    beforeRead: AskedFreshness['beforeRead'],
  ): Promise<EntitlementState> {
    const key = JSON.stringify([environmentId, customerId, resourceId])
    const next = this.#next.get(key)
    if (next) return next
    const spared = beforeRead()
    const begin = () => {
      this.#next.delete(key)
      return this.#read(environmentId, customerId, resourceId, spared)
    }
    // When all that is at hand has been asked: the fields of one document, which begin one after the other, share a read of the same customer.
    const answer = beyondSignal(async () => {
      await turnOfTheLoop()
      return this.#places.run(environmentId, begin)
    })
    this.#next.set(key, answer)
    return answer
  }
}
