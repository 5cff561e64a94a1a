import { recordAudit } from '../audit/record/record.js'
import { recordEvents } from '../changes/events.js'
import { refIdsOfCustomers } from '../customer/records/customers.js'
import type { EpochMs } from '../kernel/clock.js'
import * as decimal from '../kernel/decimal.js'
import type { Db } from '../platform/postgres.js'
import type { Subscription } from '../subscription/rules/subscription.js'
import { type Document, enterInvoices, insertEntries } from './records/balance.js'
import { creationKey, insertIntent } from './records/intents.js'
import { findInvoicesById, insertInvoice } from './records/invoices.js'
import { auditedEntry } from './rules/audited.js'
import { type Entry, entriesOf, waitingEntry } from './rules/balance.js'
import type { Terms } from './rules/billing.js'
import { type Charges, type NamedDraft, payerOf, type WaitingCredit } from './rules/credit.js'
import { toldInvoice } from './rules/events.js'

/** What a change of a subscription makes, to be written down. */
export interface Invoicing {
  subscription: Subscription
  terms: Terms
  drafts: readonly NamedDraft[]
  waiting: readonly WaitingCredit[]
  at: EpochMs
  charges: Charges
}

/**
 * Writes the invoices as we want them, in their order, and the calls that make them at the provider. What their payers have to their credit is used first,
 * and is nobody else's from then on.
 */
export async function writeInvoices(db: Db, environmentId: string, all: readonly Invoicing[]): Promise<void> {
  const invoices = all.flatMap(({ drafts, ...of }) =>
    drafts.map((draft) => ({ ...of, draft, customerId: draft.payerId ?? payerOf(of.subscription) })),
  )
  if (invoices.length > 0) {
    const documents = invoices.map(({ draft: { id, currency, total, credits }, customerId, at }): Document => {
      return { environmentId, id, customerId, currency, total, credits, at }
    })
    const amountsDue = await enterInvoices(db, documents)
    for (const [index, { draft, customerId, subscription, terms, at }] of invoices.entries()) {
      const { id: invoiceId, total } = draft
      const { id: subscriptionId } = subscription
      const { collectionMethod, daysUntilDue } = terms
      const amountDue = amountsDue[index]!
      for (const entry of entriesOf({ ...documents[index]!, amountDue })) recordAudit(db, auditedEntry(environmentId, entry))
      const creditApplied = decimal.subtract(decimal.max(total, decimal.zero), amountDue)
      const facts = { environmentId, subscriptionId, customerId, collectionMethod, daysUntilDue, creditApplied, amountDue, createdAt: at }
      await insertInvoice(db, facts, draft)
      const idempotencyKey = creationKey(invoiceId)
      await insertIntent(db, { environmentId, subscriptionId, customerId, kind: 'CREATE_INVOICE', idempotencyKey, invoiceId, endsBy: null })
    }
  }
  await tellCreated(db, environmentId, invoices)
  for (const one of all) {
    const entries = [...one.waiting.map((credit) => waitingEntry(credit, toPayer(credit))), ...reversalsIn(one)]
    if (entries.length > 0) await insertEntries(db, environmentId, entries, one.at)
  }
}

async function tellCreated(
  db: Db,
  environmentId: string,
  written: readonly { draft: { id: string }; subscription: Subscription; customerId: string }[],
): Promise<void> {
  if (written.length === 0) return
  await recordEvents(db, environmentId, async () => {
    const invoices = await findInvoicesById(
      db,
      environmentId,
      written.map(({ draft }) => draft.id),
    )
    const refIds = await refIdsOfCustomers(
      db,
      environmentId,
      written.map(({ customerId }) => customerId),
    )
    return written.map(({ draft, subscription, customerId }) => ({
      type: 'invoice.created' as const,
      // Who pays may be another customer, whose state row is not held.
      customerId: subscription.customerId,
      data: toldInvoice(invoices.get(draft.id)!, { customerId: refIds.get(customerId)!, subscriptionId: subscription.refId }),
    }))
  })
}

const toPayer = ({ payerId, currency }: WaitingCredit) => ({ customerId: payerId, currency })

/** Credits that waited for this invoice while their charge was taken back. */
const reversalsIn = ({ drafts, subscription, charges }: Invoicing): Entry[] =>
  drafts.flatMap(({ id: invoiceId, currency, payerId, credits = [] }) =>
    credits
      .filter(({ chargeId }) => chargeId !== null && charges(chargeId)?.funding === 'never')
      .map(({ chargeId, amount }): Entry => {
        const customerId = payerId ?? payerOf(subscription)
        return { invoiceId, chargeId: chargeId!, kind: 'REVERSED', customerId, currency, amount: decimal.negate(amount) }
      }),
  )
