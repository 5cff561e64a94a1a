import type { CatalogService } from '../../catalog/service.js'
import { customerNotFound } from '../../customer/model/problems.js'
import { findCustomer } from '../../customer/records/customers.js'
import { ensureResource } from '../../customer/records/resources.js'
import { checkRefId } from '../../kernel/id.js'
import { invalidInput } from '../../kernel/problem.js'
import { moveUsage } from '../../metering/corrections/move-usage.js'
import type { PrismaClient } from '../../platform/postgres.js'
import { type RecordsParts, SubscriptionRecords } from '../records/frame.js'
import { loadOpenSubscriptions } from '../records/subscriptions.js'
import { isSameSlot } from '../rules/coexistence.js'
import { heldFeatureIds } from '../rules/content.js'
import { refusal } from '../rules/lifecycle.js'
import { slotIsTaken, subscriptionNotFound } from '../rules/problems.js'
import { givesAccess, type Subscription } from '../rules/subscription.js'

/** Moves a subscription to another slot of its customer: another resource, or the customer itself. */
export class TransferService {
  readonly #prisma: PrismaClient
  readonly #catalog: CatalogService
  readonly #records: SubscriptionRecords

  constructor(parts: RecordsParts) {
    this.#prisma = parts.prisma
    this.#catalog = parts.catalog
    this.#records = new SubscriptionRecords(parts)
  }

  /** Access and usage move to another resource of the customer, or to the customer itself (null). Safe to repeat. */
  transferToResource(environmentId: string, subscriptionRefId: string, resourceRefId: string | null): Promise<Subscription> {
    return this.#records.change(environmentId, subscriptionRefId, async (subscription, { db, held }) => {
      const refused = refusal(subscription, 'update', 'transferred')
      if (refused) throw refused
      const { customerId } = subscription
      const resource =
        resourceRefId === null ? null : await ensureResource(db, environmentId, customerId, checkRefId(resourceRefId, 'resourceId'))
      if (resource?.id === subscription.resource?.id) return subscription
      const moved = { ...subscription, resource }
      const isTaken = held.open.some((other) => other.id !== moved.id && other.status === moved.status && isSameSlot(other, moved))
      if (isTaken) throw slotIsTaken(subscription.product.refId, resourceRefId)
      const isShared = held.open.some(
        (other) => other.id !== moved.id && givesAccess(other.status) && other.resource?.id === subscription.resource?.id,
      )
      await moveUsage(db, {
        environmentId,
        customerId,
        featureIds: heldFeatureIds(subscription),
        from: subscription.resource?.id ?? null,
        to: resource?.id ?? null,
        since: subscription.usageAnchor,
        areEventsShared: isShared,
      })
      return moved
    })
  }

  /** The same for the subscription that a resource holds. Fails with SUBSCRIPTION_NOT_FOUND when it holds none, with BAD_USER_INPUT when several. */
  async transfer(
    environmentId: string,
    request: { customerRefId: string; sourceResourceRefId: string; destinationResourceRefId: string },
  ): Promise<Subscription> {
    const { customerRefId, sourceResourceRefId, destinationResourceRefId } = request
    const customer = await findCustomer(this.#prisma, environmentId, { refId: customerRefId })
    if (!customer) throw customerNotFound(customerRefId)
    const open = await loadOpenSubscriptions(this.#prisma, this.#catalog, environmentId, customer.id)
    const [found, ...others] = open.filter(({ resource, status }) => resource?.refId === sourceResourceRefId && givesAccess(status))
    if (!found) throw subscriptionNotFound(`of resource ${sourceResourceRefId}`)
    if (others.length > 0)
      throw invalidInput(`Resource "${sourceResourceRefId}" holds several subscriptions: name one with transferSubscriptionToResource.`, {
        path: 'sourceResourceId',
      })
    return this.transferToResource(environmentId, found.refId, destinationResourceRefId)
  }
}
