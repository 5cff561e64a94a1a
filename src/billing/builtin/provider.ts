/**
 * The billing provider that comes with Tollgate: invoices in our own database, payments by hand. An operator says that an invoice was paid, has failed
 * or needs the customer; a payment method is a reference that always pays. What it writes is its own: the mirror in `invoice` follows what it tells.
 */
import * as decimal from '../../kernel/decimal.js'
import { newId } from '../../kernel/id.js'
import { Problem } from '../../kernel/problem.js'
import type {
  BilledCustomer,
  BillingInformation,
  BillingProvider,
  Call,
  CheckoutOptions,
  PaymentMethod,
  ProviderInvoice,
  TaxRate,
} from '../rules/provider.js'
import type { BuiltinInvoiceRow, BuiltinRepository } from './repository.js'

// Made up, and never resolves: there is no page on which anybody could pay.
const paymentBaseUrl = 'https://pay.tollgate.invalid'

/** What somebody tells about an invoice. */
export type InvoiceNews = { status: 'PAID' } | { status: 'FAILED'; errorMessage: string } | { requiresAction: true }

export class BuiltinProvider implements BillingProvider {
  readonly #repository: BuiltinRepository

  constructor(repository: BuiltinRepository) {
    this.#repository = repository
  }

  async createInvoice(
    call: Call,
    { draft, amountDue, collectionMethod }: Parameters<BillingProvider['createInvoice']>[1],
  ): Promise<ProviderInvoice> {
    const row = await this.#repository.createInvoice({
      environmentId: call.environmentId,
      customerId: call.customerId,
      idempotencyKey: call.idempotencyKey,
      currency: draft.currency,
      amountDue,
      document: draft,
      paymentToken: newId(),
      decide: (hasPaymentMethod) => {
        if (decimal.compare(amountDue, decimal.zero) <= 0 || collectionMethod === 'NONE') return { status: 'PAID', attemptCount: 0 }
        if (collectionMethod === 'INVOICE') return { status: 'OPEN', attemptCount: 0 }
        return { status: hasPaymentMethod ? 'PAID' : 'OPEN', attemptCount: 1 }
      },
    })
    return toInvoice(row)
  }

  collect(call: Call, { billingId }: { billingId: string }): Promise<ProviderInvoice> {
    return this.#change(call, billingId, (row, hasPaymentMethod) => {
      if (row.status !== 'OPEN' && row.status !== 'FAILED') return row
      const attempted = { ...row, attemptCount: row.attemptCount + 1 }
      if (hasPaymentMethod) return { ...attempted, status: 'PAID', requiresAction: false, errorMessage: null }
      return { ...attempted, status: 'FAILED', errorMessage: 'There is no payment method to charge.' }
    })
  }

  voidInvoice(call: Call, { billingId }: { billingId: string }): Promise<ProviderInvoice> {
    return this.#change(call, billingId, (row) =>
      row.status === 'PAID' || row.status === 'CANCELED' ? row : { ...row, status: 'CANCELED', requiresAction: false },
    )
  }

  refund(call: Call, { billingId }: { billingId: string }): Promise<ProviderInvoice> {
    return this.#change(call, billingId, (row) => (row.status === 'PAID' ? { ...row, refundedAmount: row.amountDue } : row))
  }

  /** Its invoices carry no addresses and no tax ids, so it keeps nothing but the reference of a payment method. */
  async describeCustomer(customer: BilledCustomer, { paymentMethodId }: BillingInformation): Promise<void> {
    if (paymentMethodId) await this.setPaymentMethod(customer, paymentMethodId)
  }

  /** Nothing of it is on its invoices either. */
  async describeSubscription(): Promise<void> {}

  /** A reference is all that it knows of one. */
  async findPaymentMethods(environmentId: string, customerIds: readonly string[]): Promise<Map<string, PaymentMethod>> {
    const unknown = { type: null, last4Digits: null, expirationMonth: null, expirationYear: null }
    const references = await this.#repository.findPaymentMethods(environmentId, customerIds)
    return new Map(references.map(({ customerId, reference }) => [customerId, { reference, ...unknown }]))
  }

  findTaxRates(environmentId: string, ids: readonly string[]): Promise<TaxRate[]> {
    return this.#repository.findTaxRates(environmentId, ids)
  }

  /** All of an environment, by their identifiers. */
  taxRates(environmentId: string): Promise<TaxRate[]> {
    return this.#repository.findTaxRates(environmentId, null)
  }

  /** Makes or changes a rate. What was agreed with it before stays as it was agreed. Safe to repeat. */
  setTaxRate(environmentId: string, rate: TaxRate): Promise<void> {
    return this.#repository.saveTaxRate(environmentId, rate)
  }

  /** The invoice's own link: there is no page that could look one way or another. */
  async openCheckout({ environmentId, billingId }: { environmentId: string; billingId: string }, _options: CheckoutOptions) {
    const row = await this.#repository.change({ environmentId, billingId, idempotencyKey: null }, (before) => before)
    const url = row && toInvoice(row).paymentUrl
    return url ? { billingId, url } : null
  }

  /** The reference can be charged from now on; null: nothing can. */
  setPaymentMethod({ environmentId, customerId }: BilledCustomer, reference: string | null): Promise<void> {
    return this.#repository.setPaymentMethod(environmentId, customerId, reference)
  }

  /**
   * What became of a payment, told by an operator. Telling it again changes nothing. What is paid stays paid and what was taken back cannot fail; a
   * payment for one that was taken back is kept, for the platform to refund. Null: there is no such invoice.
   */
  async tell(environmentId: string, billingId: string, news: InvoiceNews): Promise<ProviderInvoice | null> {
    const row = await this.#repository.change({ environmentId, billingId, idempotencyKey: null }, (before) => afterNews(before, news))
    return row && toInvoice(row)
  }

  async #change(
    { environmentId, idempotencyKey }: Call,
    billingId: string,
    change: (row: BuiltinInvoiceRow, hasPaymentMethod: boolean) => BuiltinInvoiceRow,
  ): Promise<ProviderInvoice> {
    const row = await this.#repository.change({ environmentId, billingId, idempotencyKey }, change)
    if (!row) throw new Problem('NOT_FOUND', 'INVOICE_NOT_FOUND', `Invoice "${billingId}" was not found.`, { details: { billingId } })
    return toInvoice(row)
  }
}

function toInvoice(row: BuiltinInvoiceRow): ProviderInvoice {
  const isPayable = row.status === 'OPEN' || row.status === 'FAILED'
  return {
    billingId: row.id,
    number: row.number,
    status: row.status,
    revision: row.revision,
    amountDue: row.amountDue,
    refundedAmount: row.refundedAmount,
    requiresAction: row.requiresAction,
    attemptCount: row.attemptCount,
    paymentUrl: isPayable ? `${paymentBaseUrl}/${row.paymentToken}` : null,
    paymentSecret: isPayable ? `${row.id}_secret_${row.paymentToken}` : null,
    errorMessage: row.errorMessage,
  }
}

function afterNews(row: BuiltinInvoiceRow, news: InvoiceNews): BuiltinInvoiceRow {
  if (row.status === 'PAID') return row
  if ('requiresAction' in news)
    return row.status === 'CANCELED' ? row : { ...row, status: 'OPEN', requiresAction: true, errorMessage: null }
  if (news.status === 'PAID') return { ...row, status: 'PAID', requiresAction: false, errorMessage: null }
  return row.status === 'CANCELED' ? row : { ...row, status: 'FAILED', requiresAction: false, errorMessage: news.errorMessage }
}
