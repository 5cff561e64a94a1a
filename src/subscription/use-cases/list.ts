import type { CatalogService } from '../../catalog/service.js'
import type { EnvironmentTime } from '../../environment/model/environment.js'
import type { EpochMs } from '../../kernel/clock.js'
import { withRecords } from '../../platform/list/page.js'
import type { ListRequest, Page } from '../../platform/list/request.js'
import { Prisma, type PrismaClient } from '../../platform/postgres.js'
import { inSnapshot } from '../../platform/transaction.js'
import { pageOfSubscriptions } from '../records/list.js'
import { loadSubscriptions } from '../records/subscriptions.js'
import { advance } from '../rules/advance.js'
import type { Subscription } from '../rules/subscription.js'

/** Beyond it a list is filtered by what is recorded, and the worker has more to worry about. */
const maxOverdueCustomers = 50

/** The list of an environment's subscriptions. */
export class SubscriptionList {
  readonly #prisma: PrismaClient
  readonly #catalog: CatalogService
  readonly #time: EnvironmentTime
  readonly #applyDue: (environmentId: string, customerId: string) => Promise<unknown>

  constructor(parts: {
    prisma: PrismaClient
    catalog: CatalogService
    time: EnvironmentTime
    /** Records what time has made due for a customer (our id). */
    applyDue: (environmentId: string, customerId: string) => Promise<unknown>
  }) {
    this.#prisma = parts.prisma
    this.#catalog = parts.catalog
    this.#time = parts.time
    this.#applyDue = parts.applyDue
  }

  /** A page of all subscriptions of an environment, with their status of now. */
  async page(environmentId: string, request: ListRequest): Promise<Page<Subscription>> {
    const now = await this.#time.now(environmentId)
    const wasOverdue = await this.#recordOverdue(environmentId, now)
    const page = await pageOfSubscriptions(this.#prisma, environmentId, request)
    return withRecords(page, async (ids) => {
      const stored = await this.#load({ environmentId, id: { in: ids } })
      const current = wasOverdue ? await this.#advanced(environmentId, stored, now) : stored
      return new Map(current.map((subscription) => [subscription.id, subscription]))
    })
  }

  /**
   * A list is filtered by what is recorded: what is due is recorded first, as the worker would have done a moment later. Answers whether anything
   * was due; some of it may be left, of customers that are just being changed or when there is too much.
   */
  async #recordOverdue(environmentId: string, now: EpochMs): Promise<boolean> {
    const overdue = await this.#prisma.$queryRaw<{ customer_id: string }[]>(Prisma.sql`
      SELECT DISTINCT customer_id FROM subscription
      WHERE environment_id = ${environmentId}::uuid AND due_at <= ${new Date(now).toISOString()}::timestamptz LIMIT ${maxOverdueCustomers}`)
    for (const { customer_id } of overdue) await this.#applyDue(environmentId, customer_id)
    return overdue.length > 0
  }

  #load(where: Parameters<typeof loadSubscriptions>[2]): Promise<Subscription[]> {
    return inSnapshot(this.#prisma, (db) => loadSubscriptions(db, this.#catalog, where))
  }

  /** As of now. What is due depends on what else the customer holds. */
  async #advanced(environmentId: string, subscriptions: readonly Subscription[], now: EpochMs): Promise<Subscription[]> {
    const customerIds = new Set(subscriptions.map(({ customerId }) => customerId))
    const where = { environmentId, customerId: { in: [...customerIds] }, status: { notIn: ['CANCELED' as const, 'EXPIRED' as const] } }
    const stored = await this.#load(where)
    const all = [...byCustomer(stored).values()].flatMap((held) => advance(held, now).subscriptions)
    const open = new Map(all.map((subscription) => [subscription.id, subscription]))
    return subscriptions.map((subscription) => open.get(subscription.id) ?? subscription)
  }
}

function byCustomer(subscriptions: readonly Subscription[]): Map<string, Subscription[]> {
  const groups = new Map<string, Subscription[]>()
  for (const subscription of subscriptions) {
    const group = groups.get(subscription.customerId)
    if (group) group.push(subscription)
    else groups.set(subscription.customerId, [subscription])
  }
  return groups
}
