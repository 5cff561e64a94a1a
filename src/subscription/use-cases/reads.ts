import type { CatalogService } from '../../catalog/service.js'
import type { EnvironmentTime } from '../../environment/model/environment.js'
import type { PrismaClient } from '../../platform/postgres.js'
import { loadSubscriptions } from '../records/subscriptions.js'
import { findEligibility, findTrials, latestSubscriptionIds } from '../records/trials.js'
import { advance } from '../rules/advance.js'
import { isFinal, type Subscription } from '../rules/subscription.js'
import type { ProductEligibility, TrialedPlan } from '../rules/trials.js'

/** How many subscriptions a customer is answered with. */
export const shownSubscriptions = 10

/** What many customers hold, in a number of statements that does not depend on how many they are. All ids are ours. */
export class SubscriptionReads {
  readonly #prisma: PrismaClient
  readonly #catalog: CatalogService
  readonly #time: EnvironmentTime

  constructor({ prisma, catalog, time }: { prisma: PrismaClient; catalog: CatalogService; time: EnvironmentTime }) {
    this.#prisma = prisma
    this.#catalog = catalog
    this.#time = time
  }

  /** Of each customer: every subscription that is not final, and the latest ten of all; with its status of now, the newest first. */
  async ofCustomers(environmentId: string, customerIds: readonly string[]): Promise<Subscription[][]> {
    const ids = await latestSubscriptionIds(this.#prisma, environmentId, customerIds, shownSubscriptions)
    const stored = await loadSubscriptions(this.#prisma, this.#catalog, { environmentId, id: { in: ids } })
    const now = await this.#time.now(environmentId)
    return customerIds.map((id) => {
      const own = stored.filter(({ customerId }) => customerId === id)
      // What is due depends on what else the customer holds.
      const { subscriptions } = advance(
        own.filter(({ status }) => !isFinal(status)),
        now,
      )
      const all = [...own.filter(({ status }) => isFinal(status)), ...subscriptions]
      return all.sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1))
    })
  }

  /** The plans that each customer has had a trial of, the first one first. */
  trialedPlans(environmentId: string, customerIds: readonly string[]): Promise<TrialedPlan[][]> {
    return findTrials(this.#prisma, environmentId, customerIds)
  }

  /** Of each customer: whether a trial would be given, by product; products that are sold. */
  eligibility(environmentId: string, customerIds: readonly string[]): Promise<ProductEligibility[][]> {
    return findEligibility(this.#prisma, environmentId, customerIds)
  }
}
