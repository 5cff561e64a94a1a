import type { PrismaClient } from '../platform/postgres.js'
import { findUnfinished, type UnfinishedCall } from './records/intents.js'
import { findAccounts, findInvoice, findInvoices, findLatestInvoices } from './records/invoices.js'
import type { Invoice, Terms } from './rules/billing.js'

/** What billing knows of a subscription. */
export interface BillingView {
  /** Null: nothing was ever agreed or charged. */
  terms: Terms | null
  /** The newest that the provider has; null: it has none. */
  latestInvoice: Invoice | null
  /** Why the provider does not have the subscription as it is; null: it does. */
  syncError: string | null
}

/** What many subscriptions are answered with, in a number of statements that does not depend on how many they are. All ids are ours. */
export class BillingReads {
  readonly #prisma: PrismaClient

  constructor({ prisma }: { prisma: PrismaClient }) {
    this.#prisma = prisma
  }

  async ofSubscriptions(environmentId: string, ids: readonly string[]): Promise<BillingView[]> {
    const accounts = await findAccounts(this.#prisma, environmentId, [...ids])
    const invoices = await findLatestInvoices(this.#prisma, environmentId, [...accounts.keys()])
    return ids.map((id) => ({
      terms: accounts.get(id)?.account.terms ?? null,
      latestInvoice: invoices.get(id) ?? null,
      syncError: accounts.get(id)?.syncError ?? null,
    }))
  }

  /** By the provider's identifier; null: unknown. */
  invoice(environmentId: string, billingId: string): Promise<Invoice | null> {
    return findInvoice(this.#prisma, environmentId, { billingId })
  }

  /** Calls of the provider that wait or were given up, the oldest first; 100 at most. */
  unfinishedCalls(environmentId: string): Promise<UnfinishedCall[]> {
    return findUnfinished(this.#prisma, environmentId, 100)
  }

  /** Every invoice of a subscription with its lines, the newest first; also those that the provider does not have yet. */
  invoices(environmentId: string, subscriptionId: string): Promise<Invoice[]> {
    return findInvoices(this.#prisma, environmentId, [subscriptionId])
  }
}
