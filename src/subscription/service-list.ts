import type { CatalogService } from '../catalog/service.js'
import type { EnvironmentTime } from '../environment/model.js'
import { withRecords } from '../platform/list/page.js'
import type { ListRequest, Page } from '../platform/list/request.js'
import { Prisma, type PrismaClient } from '../platform/postgres.js'
import { advance } from './advance.js'
import type { Subscription } from './model.js'
import { loadSubscriptions } from './repository.js'
import { pageOfSubscriptions } from './repository-list.js'

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
    await this.#recordOverdue(environmentId)
    const page = await pageOfSubscriptions(this.#prisma, environmentId, request)
    return withRecords(page, (ids) => this.#byId(environmentId, ids))
  }

  async #byId(environmentId: string, ids: readonly string[]): Promise<Map<string, Subscription>> {
    const stored = await loadSubscriptions(this.#prisma, this.#catalog, { environmentId, id: { in: [...ids] } })
    // What is due depends on what else the customer holds.
    const open = await this.#openOf(environmentId, new Set(stored.map(({ customerId }) => customerId)))
    return new Map(stored.map((subscription) => [subscription.id, open.get(subscription.id) ?? subscription]))
  }

  /** By id. */
  async #openOf(environmentId: string, customerIds: Iterable<string>): Promise<Map<string, Subscription>> {
    const where = { environmentId, customerId: { in: [...customerIds] }, status: { notIn: ['CANCELED' as const, 'EXPIRED' as const] } }
    const stored = await loadSubscriptions(this.#prisma, this.#catalog, where)
    const now = await this.#time.now(environmentId)
    const all = [...byCustomer(stored).values()].flatMap((subscriptions) => advance(subscriptions, now).subscriptions)
    return new Map(all.map((subscription) => [subscription.id, subscription]))
  }

  /** A list is filtered by what is recorded: what is due is recorded first, as the worker would have done a moment later. */
  async #recordOverdue(environmentId: string): Promise<void> {
    const now = new Date(await this.#time.now(environmentId)).toISOString()
    const overdue = await this.#prisma.$queryRaw<{ customer_id: string }[]>(Prisma.sql`
      SELECT DISTINCT customer_id FROM subscription
      WHERE environment_id = ${environmentId}::uuid AND due_at <= ${now}::timestamptz LIMIT ${maxOverdueCustomers}`)
    for (const { customer_id } of overdue) await this.#applyDue(environmentId, customer_id)
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
