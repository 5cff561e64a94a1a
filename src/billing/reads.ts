import type { Db, PrismaClient } from '../platform/postgres.js'
import { findUnfinished, type UnfinishedCall } from './records/intents.js'
import { findAccounts, findInvoice, findLatestInvoices } from './records/invoices.js'
import { findCustomerDiscounts } from './records/redemptions.js'
import type { Account } from './rules/account.js'
import type { Discount, Invoice, Terms } from './rules/billing.js'

/** What billing knows of a subscription. */
export interface BillingView {
  /** Null: nothing was ever agreed or charged. */
  terms: Terms | null
  /** What the months of a coupon are counted by. */
  begun: Account['begun']
  /** The newest that the provider has; null: it has none. */
  latestInvoice: Invoice | null
  /** Why the provider does not have the subscription as it is; null: it does. */
  syncError: string | null
}

interface BillingReadsParts {
  prisma: PrismaClient
  /** What the caller calls subscriptions, by our id. */
  subscriptionRefIds: (db: Db, environmentId: string, ids: readonly string[]) => Promise<ReadonlyMap<string, string>>
}

/** What many subscriptions are answered with, in a number of statements that does not depend on how many they are. All ids are ours. */
export class BillingReads {
  readonly #prisma: PrismaClient
  readonly #subscriptionRefIds: BillingReadsParts['subscriptionRefIds']

  constructor({ prisma, subscriptionRefIds }: BillingReadsParts) {
    this.#prisma = prisma
    this.#subscriptionRefIds = subscriptionRefIds
  }

  async ofSubscriptions(environmentId: string, ids: readonly string[]): Promise<BillingView[]> {
    const accounts = await findAccounts(this.#prisma, environmentId, [...ids])
    const invoices = await findLatestInvoices(this.#prisma, environmentId, [...accounts.keys()])
    return ids.map((id) => ({
      terms: accounts.get(id)?.account.terms ?? null,
      begun: accounts.get(id)?.account.begun ?? [],
      latestInvoice: invoices.get(id) ?? null,
      syncError: accounts.get(id)?.syncError ?? null,
    }))
  }

  /** What the customers' (our ids) coupons stand for now, in their order; null: none. */
  async discountsOfCustomers(environmentId: string, customerIds: readonly string[]): Promise<(Discount | null)[]> {
    const found = await findCustomerDiscounts(this.#prisma, environmentId, customerIds)
    return customerIds.map((id) => found.get(id) ?? null)
  }

  /** By the provider's identifier; null: unknown. */
  invoice(environmentId: string, billingId: string): Promise<Invoice | null> {
    return findInvoice(this.#prisma, environmentId, { billingId })
  }

  /** Calls of the provider that wait or were given up, the oldest first; 100 at most. Subscriptions are named as the caller does. */
  async unfinishedCalls(environmentId: string): Promise<UnfinishedCall[]> {
    const calls = await findUnfinished(this.#prisma, environmentId, 100)
    const refIds = await this.#subscriptionRefIds(
      this.#prisma,
      environmentId,
      calls.map(({ subscriptionId }) => subscriptionId),
    )
    return calls.map((call) => ({ ...call, subscriptionId: refIds.get(call.subscriptionId)! }))
  }
}
