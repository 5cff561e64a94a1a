import type { CatalogService } from '../../catalog/service.js'
import { lockCustomerState } from '../../changes/access.js'
import { recordEvents } from '../../changes/events.js'
import { refIdsOfCustomers } from '../../customer/records/customers.js'
import type { EpochMs } from '../../kernel/clock.js'
import { inLanes, LeftAlone } from '../../platform/due-sweep.js'
import type { PrismaClient } from '../../platform/postgres.js'
import { inTransaction } from '../../platform/transaction.js'
import { loadSubscriptions } from '../records/subscriptions.js'
import { claimTrialEnd, type EndingTrial, findEndingTrials, findNextEndingTrial } from '../records/trial-reminders.js'
import { toldSubscription } from '../rules/events.js'

/** Looked for together, and told of at the same time. */
const atOnce = 100
const lanes = 4
const dayMs = 86_400_000

/** Tells that trials end soon: once for each end that a trial has had. */
export class TrialReminders {
  readonly #prisma: PrismaClient
  readonly #catalog: CatalogService
  readonly #leadMs: number
  readonly #leftAlone = new LeftAlone()

  constructor({ prisma, catalog, leadDays }: { prisma: PrismaClient; catalog: CatalogService; leadDays: number }) {
    this.#prisma = prisma
    this.#catalog = catalog
    this.#leadMs = leadDays * dayMs
  }

  /** When the next one of an environment is due, not after `until`; null: none is. */
  nextDue(environmentId: string, until: EpochMs): Promise<EpochMs | null> {
    return findNextEndingTrial(this.#prisma, environmentId, this.#leadMs, until)
  }

  /**
   * Tells of those that are due, of all environments in turn or of one; answers how many. Several processes may: each end is claimed. One that fails holds up no other.
   * @throws the first failure, when all have had their turn
   */
  async tellDue(environmentId: string | null = null): Promise<number> {
    const failures: unknown[] = []
    let told = 0
    const limit = atOnce + this.#leftAlone.size
    const trials = await findEndingTrials(this.#prisma, { environmentId, leadMs: this.#leadMs, limit })
    await inLanes(lanes, trials, async (trial) => {
      if (environmentId === null && this.#leftAlone.has(trial.subscriptionId)) return
      try {
        if (await this.#tell(trial)) told += 1
        this.#leftAlone.succeeded(trial.subscriptionId)
      } catch (error) {
        this.#leftAlone.failed(trial.subscriptionId)
        failures.push(error)
      }
    })
    if (failures.length > 0) throw failures[0]
    return told
  }

  #tell(trial: EndingTrial): Promise<boolean> {
    const { environmentId, customerId, subscriptionId: id } = trial
    return inTransaction(this.#prisma, async (db) => {
      await lockCustomerState(db, environmentId, customerId)
      if (!(await claimTrialEnd(db, trial))) return false
      const [subscription] = await loadSubscriptions(db, this.#catalog, { environmentId, id })
      await recordEvents(db, environmentId, async () => {
        const { payingCustomerId } = subscription!
        const refIds = await refIdsOfCustomers(db, environmentId, [customerId, ...(payingCustomerId ? [payingCustomerId] : [])])
        const data = { subscription: toldSubscription(subscription!, (customer) => refIds.get(customer)!) }
        return [{ type: 'subscription.trial_ending_soon', customerId, data }]
      })
      return true
    })
  }
}
