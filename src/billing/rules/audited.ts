/** What the audit log says of money. Where it is paid, and with what, is not in there. */
import { hidden } from '../../audit/model/difference.js'
import type { AuditedChange, Fields } from '../../audit/model/entry.js'
import { isoOrNull } from '../../kernel/iso-time.js'
import type { Subscription } from '../../subscription/rules/subscription.js'
import type { Entry } from './balance.js'
import type { Invoice, Terms } from './billing.js'
import type { TaxRate } from './provider.js'

/** What is agreed about the money of a subscription, as fields of the subscription. Null before: nothing was. */
export const auditedTerms = ({ environmentId, refId }: Subscription, before: Terms | null, after: Terms): AuditedChange => ({
  environmentId,
  kind: 'SUBSCRIPTION',
  id: refId,
  before: before ? termsOf(before) : {},
  after: termsOf(after),
})

const termsOf = ({ currency, collectionMethod, discount, priceOverrides, minimumSpend, taxPercentage, daysUntilDue }: Terms): Fields => ({
  currency,
  paymentCollectionMethod: collectionMethod,
  discount,
  priceOverrides: priceOverrides.length === 0 ? null : priceOverrides,
  minimumSpend,
  taxPercentage,
  daysUntilDue: daysUntilDue ?? null,
})

/** What of an invoice changes when the provider tells of it. */
type InvoiceState = Pick<Invoice, 'billingId' | 'number' | 'status' | 'requiresAction' | 'attemptCount' | 'errorMessage' | 'refundedAmount'>

/** By our identifier: the provider gives its own later. */
export const auditedInvoice = (environmentId: string, id: string, before: Fields | null, after: Fields): AuditedChange => ({
  environmentId,
  kind: 'INVOICE',
  id,
  before,
  after,
})

export const invoiceState = (invoice: InvoiceState): Fields => ({
  billingId: invoice.billingId,
  number: invoice.number,
  status: invoice.status,
  requiresAction: invoice.requiresAction,
  attemptCount: invoice.attemptCount,
  errorMessage: invoice.errorMessage,
  refundedAmount: invoice.refundedAmount,
})

export const auditedEntry = (environmentId: string, entry: Entry): AuditedChange => ({
  environmentId,
  kind: 'BALANCE_ENTRY',
  id: `${entry.invoiceId}/${entry.chargeId}/${entry.kind}`,
  before: null,
  after: { ...entry },
})

export const auditedTaxRate = (environmentId: string, before: TaxRate | null, after: TaxRate): AuditedChange => ({
  environmentId,
  kind: 'TAX_RATE',
  id: after.id,
  before: before && { ...before },
  after: { ...after },
})

/** By the customer whose it is (refId): only that there is one, and that it is another. */
export const auditedPaymentMethod = (
  environmentId: string,
  customerRefId: string,
  before: string | null,
  after: string | null,
): AuditedChange => ({
  environmentId,
  kind: 'PAYMENT_METHOD',
  id: customerRefId,
  before: { hasPaymentMethod: before !== null, defaultPaymentMethodId: hidden(before) },
  after: { hasPaymentMethod: after !== null, defaultPaymentMethodId: hidden(after) },
})

/** Of an invoice that is made. */
export const newInvoice = (
  facts: Pick<Invoice, 'subscriptionId' | 'customerId' | 'collectionMethod' | 'creditApplied' | 'amountDue'>,
  draft: Pick<Invoice, 'reason' | 'currency' | 'subTotal' | 'discount' | 'tax' | 'total'> & { period: { start: number; end: number } },
): Fields => ({
  subscription: { id: facts.subscriptionId },
  customer: { id: facts.customerId },
  status: 'OPEN',
  billingReason: draft.reason,
  currency: draft.currency,
  subTotal: draft.subTotal,
  discount: draft.discount,
  tax: draft.tax,
  total: draft.total,
  creditApplied: facts.creditApplied,
  amountDue: facts.amountDue,
  collectionMethod: facts.collectionMethod,
  periodStart: isoOrNull(draft.period.start),
  periodEnd: isoOrNull(draft.period.end),
})
