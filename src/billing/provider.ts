/**
 * The port to whoever makes invoices and takes payments. Every call carries an idempotency key: made again, it answers what the first one did and
 * does nothing. News of the provider come in at least once and in any order: each is the whole state of an invoice with a revision, so that what is
 * older can be told from what is newer. Of customers and payment methods only references pass.
 *
 * Any call fails with a retryable Problem when the provider cannot be reached, and with any other one when it refuses.
 */
import type { EpochMs } from '../kernel/clock.js'
import type { Decimal } from '../kernel/decimal.js'
import type { CollectionMethod, Draft, InvoiceStatus } from './model.js'

/** An invoice as the provider has it. */
export interface ProviderInvoice {
  /** The provider's identifier. */
  billingId: string
  number: string | null
  status: InvoiceStatus
  /** Grows with every change of the invoice. */
  revision: number
  amountDue: Decimal
  refundedAmount: Decimal
  /** The customer has to confirm the payment. */
  requiresAction: boolean
  /** How often a payment was tried. */
  attemptCount: number
  paymentUrl: string | null
  /** For the next step of a payment in the host application. */
  paymentSecret: string | null
  /** Set exactly when the status is FAILED. */
  errorMessage: string | null
}

/** Whom a call is for, by our ids. */
export interface BilledCustomer {
  environmentId: string
  customerId: string
}

/** What the host application says about a customer for its invoices (addresses, tax ids, language …): passed on, and kept nowhere on our side. */
export interface BillingInformation {
  /** The provider's reference of what is to be charged from now on. */
  paymentMethodId?: string | null
  [fact: string]: unknown
}

export interface Call extends BilledCustomer {
  idempotencyKey: string
  signal: AbortSignal
}

export interface BillingProvider {
  /**
   * Makes the invoice and, with CHARGE, tries to collect it. `amountDue` is what is left to pay of the draft's total. An amount of 0 is paid.
   */
  createInvoice(
    call: Call,
    invoice: { draft: Draft; amountDue: Decimal; collectionMethod: CollectionMethod; dueDate: EpochMs | null },
  ): Promise<ProviderInvoice>
  /** Tries to collect what is open or has failed. */
  collect(call: Call, invoice: { billingId: string }): Promise<ProviderInvoice>
  /** Takes the invoice back. One that was paid meanwhile stays paid, and is answered so. */
  voidInvoice(call: Call, invoice: { billingId: string }): Promise<ProviderInvoice>
  /** Gives back what was paid. One that was not paid stays as it is. */
  refund(call: Call, invoice: { billingId: string }): Promise<ProviderInvoice>
  /** Takes over what is said about a customer, as a whole each time. Safe to repeat. */
  describeCustomer(customer: BilledCustomer, information: BillingInformation): Promise<void>
  /** Whether there is something that can be charged. */
  hasPaymentMethod(customer: BilledCustomer): Promise<boolean>
}
