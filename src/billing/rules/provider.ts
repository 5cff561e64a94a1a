/**
 * The port to whoever makes invoices and takes payments. Every call carries an idempotency key: made again, it answers what the first one did and
 * does nothing. News of the provider come in at least once and in any order: each is the whole state of an invoice with a revision, so that what is
 * older can be told from what is newer. Of customers and payment methods only references pass.
 *
 * Any call fails with a retryable Problem when the provider cannot be reached, and with any other one when it refuses.
 */
import type { EpochMs } from '../../kernel/clock.js'
import type { Decimal } from '../../kernel/decimal.js'
import type { CollectionMethod, Draft, InvoiceStatus } from './billing.js'

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
  /** Why the payment was refused. Set when the status is FAILED, and on what was taken back after that. */
  errorMessage: string | null
}

/** What is known of an invoice. `billingId` null: the provider refused to make it, so there is none. */
export type KnownInvoice = Omit<ProviderInvoice, 'billingId'> & { billingId: string | null }

/** Whom a call is for, by our ids. */
export interface BilledCustomer {
  environmentId: string
  customerId: string
}

/** What the host application says for the invoices of a customer or a subscription (addresses, tax ids, language …): passed on, and kept nowhere on our side. */
export interface BillingInformation {
  /** The provider's reference of what is to be charged from now on. */
  paymentMethodId?: string | null
  [fact: string]: unknown
}

/** What the provider charges. Only the reference goes back to it. */
export interface PaymentMethod {
  reference: string
  type: 'BANK' | 'CARD' | 'CASH_APP' | null
  /** Of a card or an account. */
  last4Digits: string | null
  expirationMonth: number | null
  expirationYear: number | null
}

/** Added to what is charged. */
export interface TaxRate {
  /** The provider's identifier. */
  id: string
  displayName: string
  /** From 0 to 100. */
  percentage: Decimal
}

/** How the page looks on which an invoice is paid, and where it leads. */
export interface CheckoutOptions {
  successUrl: string
  cancelUrl: string
  /** The host application's own name for the checkout. */
  referenceId?: string | null
  allowPromoCodes?: boolean | null
  allowTaxIdCollection?: boolean | null
  collectBillingAddress?: boolean | null
  collectPhoneNumber?: boolean | null
}

export interface Call extends BilledCustomer {
  idempotencyKey: string
  signal: AbortSignal
}

export interface BillingProvider {
  /**
   * Makes the invoice and, with CHARGE, tries to collect it. `amountDue` is what is to be paid: the draft's total less what the customer has to its credit, or
   * with what it owes. An amount of 0 is paid.
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
  /** The same for the invoices of one subscription (our id); `customerId` is who pays. */
  describeSubscription(subscription: BilledCustomer & { subscriptionId: string }, information: BillingInformation): Promise<void>
  /** What is charged of a customer from now on; null: nothing can be. Safe to repeat. */
  setPaymentMethod(customer: BilledCustomer, reference: string | null): Promise<void>
  /** By customer (our id); of those who have nothing that can be charged there is none. */
  findPaymentMethods(environmentId: string, customerIds: readonly string[]): Promise<Map<string, PaymentMethod>>
  /** In any order; those that it does not know are absent. */
  findTaxRates(environmentId: string, ids: readonly string[]): Promise<TaxRate[]>
  /** Where an open invoice is paid; null: it is not to be paid any more. */
  openCheckout(
    invoice: { environmentId: string; billingId: string },
    options: CheckoutOptions,
  ): Promise<{ billingId: string; url: string } | null>
}
