import type { CatalogService } from '../../catalog/service.js'
import { customerNotFound } from '../../customer/model/problems.js'
import { findCustomer } from '../../customer/records/customers.js'
import type { EnvironmentTime } from '../../environment/model/environment.js'
import type { PrismaClient } from '../../platform/postgres.js'
import { inSnapshot } from '../../platform/transaction.js'
import { latestSubscriptionIds } from '../records/list.js'
import { loadOpenSubscriptions, loadSubscriptions } from '../records/subscriptions.js'
import { findEligibility, findTrials } from '../records/trials.js'
import { advance } from '../rules/advance.js'
import { subscriptionNotFound } from '../rules/problems.js'
import { givesAccess, isFinal, type Subscription } from '../rules/subscription.js'
import type { ProductEligibility, TrialedPlan } from '../rules/trial.js'

/** How many subscriptions a customer is answered with. */
export const shownSubscriptions = 10

/** Subscriptions with their status of now; of many customers in a number of statements that does not depend on how many they are. */
export class SubscriptionReads {
  readonly #prisma: PrismaClient
  readonly #catalog: CatalogService
  readonly #time: EnvironmentTime

  constructor({ prisma, catalog, time }: { prisma: PrismaClient; catalog: CatalogService; time: EnvironmentTime }) {
    this.#prisma = prisma
    this.#catalog = catalog
    this.#time = time
  }

  /** Those that give access now, of the customer or of the named resources. */
  async active(
    environmentId: string,
    { customerRefId, resourceRefIds }: { customerRefId: string; resourceRefIds?: string[] },
  ): Promise<Subscription[]> {
    const customer = await findCustomer(this.#prisma, environmentId, { refId: customerRefId })
    if (!customer) throw customerNotFound(customerRefId)
    const stored = await inSnapshot(this.#prisma, (db) => loadOpenSubscriptions(db, this.#catalog, environmentId, customer.id))
    const now = await this.#time.now(environmentId)
    const named = resourceRefIds && new Set(resourceRefIds)
    return advance(stored, now).subscriptions.filter(
      ({ status, resource }) => givesAccess(status) && (!named || (resource !== null && named.has(resource.refId))),
    )
  }

  /** With its status of now. Fails with SUBSCRIPTION_NOT_FOUND. */
  async get(environmentId: string, refId: string): Promise<Subscription> {
    const { found, open } = await inSnapshot(this.#prisma, async (db) => {
      const [stored] = await loadSubscriptions(db, this.#catalog, { environmentId, refId })
      if (!stored) throw subscriptionNotFound(refId)
      return { found: stored, open: await loadOpenSubscriptions(db, this.#catalog, environmentId, stored.customerId) }
    })
    // What is due depends on what else the customer holds.
    const { subscriptions } = advance(open, await this.#time.now(environmentId))
    return subscriptions.find(({ id }) => id === found.id) ?? found
  }

  /** Of each customer (our ids): every subscription that is not final, and the latest ten of all; with its status of now, the newest first. */
  async ofCustomers(environmentId: string, customerIds: readonly string[]): Promise<Subscription[][]> {
    const ids = await latestSubscriptionIds(this.#prisma, environmentId, customerIds, shownSubscriptions)
    const stored = await inSnapshot(this.#prisma, (db) => loadSubscriptions(db, this.#catalog, { environmentId, id: { in: ids } }))
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

  /** The plans that each customer (our ids) has had a trial of, the first one first. */
  trialedPlans(environmentId: string, customerIds: readonly string[]): Promise<TrialedPlan[][]> {
    return findTrials(this.#prisma, environmentId, customerIds)
  }

  /** Of each customer (our ids): whether a trial would be given, by product; products that are sold. */
  eligibility(environmentId: string, customerIds: readonly string[]): Promise<ProductEligibility[][]> {
    return findEligibility(this.#prisma, environmentId, customerIds)
  }
}
