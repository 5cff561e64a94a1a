import { findCustomer } from '../customer/records/customers.js'
import type { EntitlementState } from '../entitlement/rules/state.js'
import type { EntitlementService } from '../entitlement/service.js'
import { type Db, type PrismaClient } from '../platform/postgres.js'
import { inTransaction } from '../platform/transaction.js'
import type { Subscription } from '../subscription/rules/subscription.js'
import type { ProvisionService } from '../subscription/use-cases/provision.js'
import type { ProvisionSubscription } from '../subscription/use-cases/references.js'

/** Subscriptions with what they make of the entitlements of who holds them. */
export class SubscriptionProvisioning {
  readonly #prisma: PrismaClient
  readonly #provisions: ProvisionService
  readonly #entitlements: EntitlementService

  constructor(parts: { prisma: PrismaClient; provisions: ProvisionService; entitlements: EntitlementService }) {
    this.#prisma = parts.prisma
    this.#provisions = parts.provisions
    this.#entitlements = parts.entitlements
  }

  /** As `ProvisionService.provision`; the state is that of the customer or the resource that the subscription is bound to. */
  async provision(
    environmentId: string,
    request: ProvisionSubscription & { customerRefId: string },
  ): Promise<{ subscription: Subscription; isScheduled: boolean; state: EntitlementState }> {
    const { subscription, isScheduled, answer } = await this.#provisions.provision(environmentId, request, (db, customer, provisioned) =>
      this.#stateIn(db, environmentId, customer.refId, provisioned),
    )
    return { subscription, isScheduled, state: answer }
  }

  /** What the customer or the resource is entitled to that the subscription is bound to. */
  stateOf(environmentId: string, subscription: Subscription): Promise<EntitlementState> {
    return inTransaction(this.#prisma, async (db) => {
      const customer = (await findCustomer(db, environmentId, { id: subscription.customerId }))!
      return this.#stateIn(db, environmentId, customer.refId, subscription)
    })
  }

  #stateIn(db: Db, environmentId: string, customerRefId: string, { resource }: Subscription): Promise<EntitlementState> {
    return this.#entitlements.stateIn(db, environmentId, customerRefId, resource?.refId ?? null)
  }
}
