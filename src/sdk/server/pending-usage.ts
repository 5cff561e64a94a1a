import type { Owner, UsageReport } from '../types.js'

/** Usage that is being reported: counted by checks of this client until it is known what became of it. What replaces usage (SET) is not guessed. */
export class PendingUsage {
  readonly #sums = new Map<string, { sum: number; reports: number }>()

  get isEmpty(): boolean {
    return this.#sums.size === 0
  }

  of(owner: Owner, featureId: string): number {
    return this.#sums.get(keyOf(owner, featureId))?.sum ?? 0
  }

  /** Answers what takes it off again. */
  add(report: UsageReport): () => void {
    const { featureId, value, updateBehavior } = report
    if (updateBehavior === 'SET') return () => {}
    const key = keyOf(report, featureId)
    const pending = this.#sums.get(key) ?? { sum: 0, reports: 0 }
    this.#sums.set(key, pending)
    pending.sum += value
    pending.reports++
    return () => {
      pending.sum -= value
      // Sums of doubles need not come back to 0.
      if (--pending.reports === 0) this.#sums.delete(key)
    }
  }
}

const keyOf = ({ customerId, resourceId }: Owner, featureId: string) => `${customerId}\0${resourceId ?? ''}\0${featureId}`
