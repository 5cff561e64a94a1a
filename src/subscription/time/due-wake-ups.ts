import { FairPlaces } from '../../environment/fair-places.js'
import { type DueWork, groupSize } from '../../platform/due-sweep.js'
import { Gatherer } from '../../platform/gatherer.js'
import type { ApplyDueJob } from './jobs.js'

/**
 * How the jobs are to be consumed: those of an environment count as one, as they are gathered. One alone may have half of so many, which is about a second's
 * work; what is more would only go round, and is left to the sweep.
 */
export const wakeUpOwners = { of: ({ environmentId }: ApplyDueJob) => environmentId, mostJobs: 2_048, isSwept: true }

/**
 * Applies what jobs wake us for. Those of one environment that come at the same time are worked on together, so that a crowd that is due in the same
 * minute costs little each; a lone one waits for nobody.
 */
export class DueWakeUps {
  readonly #domain: Required<DueWork>
  readonly #lanes: number
  readonly #gatherer: Gatherer<Asked>
  readonly #together: FairPlaces
  /** Apart, as these may wait for who holds their customer. */
  readonly #alone: FairPlaces
  #count = 0

  /** `lanes`: groups of an environment that are worked on at the same time, and customers that are alone; of all there are twice as many, which come in turn. */
  constructor(domain: Required<DueWork>, { lanes }: { lanes: number }) {
    this.#domain = domain
    this.#lanes = lanes
    this.#gatherer = new Gatherer(groupSize, (_, all) => this.#applyTogether(all))
    this.#together = new FairPlaces({ inAll: 2 * lanes, ofOwner: lanes })
    this.#alone = new FairPlaces({ inAll: 2 * lanes, ofOwner: lanes })
  }

  /** Ends when nothing is due any more for the customer (our id); fails as that failed. Running it twice is harmless. */
  async apply(environmentId: string, customerId: string): Promise<void> {
    const asked: Asked = { environmentId, customerId, isDone: false }
    this.#count += 1
    await this.#gatherer.add(`${this.#count % this.#lanes} ${environmentId}`, asked)
    // Nothing is due any more, or somebody holds the customer and has to be waited for: not with the others.
    if (!asked.isDone) await this.#alone.run(environmentId, () => this.#domain.applyDue(environmentId, customerId, { ifFree: false }))
  }

  async #applyTogether(all: readonly Asked[]): Promise<void> {
    const [{ environmentId }] = all as [Asked]
    const customerIds = [...new Set(all.map(({ customerId }) => customerId))]
    // Alone it costs the same, and waits where it has to.
    if (customerIds.length === 1) return
    // Whose fault a failure is shows one by one.
    const applied = this.#together.run(environmentId, () => this.#domain.applyDueTogether(environmentId, customerIds))
    const done = new Set(await applied.catch(() => []))
    for (const asked of all) asked.isDone = done.has(asked.customerId)
  }
}

/** One customer that a job wakes us for. */
interface Asked {
  environmentId: string
  customerId: string
  isDone: boolean
}
