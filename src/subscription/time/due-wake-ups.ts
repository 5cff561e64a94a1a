import { type DueWork, groupSize } from '../../platform/due-sweep.js'
import { Gatherer } from '../../platform/gatherer.js'

/**
 * How the jobs are to be consumed: those of an environment count as one, as they are gathered. One alone may have half of so many, which is about a second's
 * work; what is more would only go round, and is left to the sweep.
 */
export const wakeUpOwners = { of: ({ environmentId }: { environmentId: string }) => environmentId, mostJobs: 2_048, isSwept: true }

/**
 * Applies what jobs wake us for. Those of one environment that come at the same time are worked on together, so that a crowd that is due in the same
 * minute costs little each; a lone one waits for nobody.
 */
export class DueWakeUps {
  readonly #domain: Required<DueWork>
  readonly #lanes: number
  readonly #gatherer: Gatherer<Asked>
  #count = 0

  /** `lanes`: groups that are worked on at the same time. */
  constructor(domain: Required<DueWork>, { lanes }: { lanes: number }) {
    this.#domain = domain
    this.#lanes = lanes
    this.#gatherer = new Gatherer(groupSize, (_, all) => this.#applyTogether(all))
  }

  /** Ends when nothing is due any more for the customer (our id); fails as that failed. Running it twice is harmless. */
  async apply(environmentId: string, customerId: string): Promise<void> {
    const asked: Asked = { environmentId, customerId, isDone: false }
    this.#count += 1
    await this.#gatherer.add(`${this.#count % this.#lanes} ${environmentId}`, asked)
    // Nothing is due any more, or somebody holds the customer and has to be waited for: not with the others.
    if (!asked.isDone) await this.#domain.applyDue(environmentId, customerId, { ifFree: false })
  }

  async #applyTogether(all: readonly Asked[]): Promise<void> {
    const [{ environmentId }] = all as [Asked]
    const customerIds = [...new Set(all.map(({ customerId }) => customerId))]
    // Alone it costs the same, and waits where it has to.
    if (customerIds.length === 1) return
    // Whose fault a failure is shows one by one.
    const done = new Set(await this.#domain.applyDueTogether(environmentId, customerIds).catch(() => []))
    for (const asked of all) asked.isDone = done.has(asked.customerId)
  }
}

/** One customer that a job wakes us for. */
interface Asked {
  environmentId: string
  customerId: string
  isDone: boolean
}
