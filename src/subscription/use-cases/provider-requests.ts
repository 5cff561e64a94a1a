import type { BillingInformation, BillingProvider } from '../../billing/rules/provider.js'
import type { BillingRequest } from '../../billing/rules/request.js'
import { withTaxRates } from '../../billing/tax.js'
import { findCustomer } from '../../customer/records/customers.js'
import type { PrismaClient } from '../../platform/postgres.js'
import type { Subscription } from '../rules/subscription.js'

/** What a request says to the billing provider. Of the first two nothing is kept on our side. */
export interface ForProvider {
  /** What is charged of who pays from now on: the provider's reference. */
  paymentMethodId?: string | null
  /** Facts for the invoices of the subscription: address, tax ids, metadata. */
  billingInformation?: BillingInformation | null
  billing?: BillingRequest
}

/** The part of a request that the provider is asked or told of. Never inside a transaction: before it, or after its commit. */
export class ProviderRequests {
  readonly #prisma: PrismaClient
  readonly #provider: Pick<BillingProvider, 'describeSubscription' | 'findTaxRates' | 'setPaymentMethod'>

  constructor(parts: {
    prisma: PrismaClient
    provider: Pick<BillingProvider, 'describeSubscription' | 'findTaxRates' | 'setPaymentMethod'>
  }) {
    this.#prisma = parts.prisma
    this.#provider = parts.provider
  }

  /**
   * Before the change is decided. The request comes back with its tax looked up, and the payment method is told, so that the first invoice can be charged
   * from it; `payerRefIds` are those who may pay, the first that is given does. A provider that is away fails the call, and nothing has changed.
   */
  async before<Request extends ForProvider>(
    environmentId: string,
    request: Request,
    payerRefIds: readonly (string | null | undefined)[] = [],
  ): Promise<Request> {
    const { billing, paymentMethodId } = request
    const resolved = billing ? { ...request, billing: await withTaxRates(this.#provider, environmentId, billing) } : request
    const refId = payerRefIds.find((payer) => payer)
    const payer = paymentMethodId && refId ? await findCustomer(this.#prisma, environmentId, { refId }) : null
    // Who is unknown is refused by the change itself.
    if (payer && paymentMethodId) await this.#provider.setPaymentMethod({ environmentId, customerId: payer.id }, paymentMethodId)
    return resolved
  }

  /** After the commit and before the invoice is made. A provider that is away fails the call; the change stays, and the caller sends it again. */
  async after({ environmentId, id, customerId, payingCustomerId }: Subscription, { billingInformation }: ForProvider): Promise<void> {
    if (!billingInformation) return
    const payer = { environmentId, customerId: payingCustomerId ?? customerId, subscriptionId: id }
    await this.#provider.describeSubscription(payer, billingInformation)
  }
}
