/**
 * The words of billing. Amounts are exact decimals in whole currency units, rounded to the minor unit; times are epoch milliseconds.
 *
 * terms      what was agreed for one subscription beside the catalog: currency, discount, own prices, least spend, tax
 * charge     a price with the quantity that it is charged for
 * fixed      charged in advance, for the billing period that begins (flat fees, units bought)
 * usage      charged in arrears, for the billing period that ended
 * standing   what was charged in advance for the running period, as amounts of the whole period: what a change is credited from
 * draft      an invoice as we want it; the billing provider makes the invoice
 */
import type { BillingPeriod, PackageVersion, Price } from '../../catalog/model/package.js'
import type { EpochMs } from '../../kernel/clock.js'
import type { Decimal } from '../../kernel/decimal.js'
import type { Money } from '../../kernel/money.js'

/** Where a discount comes from; an ad hoc one was agreed for this subscription only. */
type DiscountSource = 'subscriptionCoupon' | 'customerCoupon' | 'adHoc' | 'promotionCode'

/** Takes a percentage of the total, or an amount in each currency. */
export interface Discount {
  source: DiscountSource
  /** Our id of the coupon; null: ad hoc. */
  couponId: string | null
  name: string | null
  /** Above 0, at most 100; null: `amountsOff`. */
  percentOff: Decimal | null
  amountsOff: Money[] | null
  /** When it was given, or was to begin. */
  startDate: EpochMs
  /** Null: for ever. */
  durationInMonths: number | null
}

/** A price agreed for one subscription, instead of the catalog's. */
export interface PriceOverride {
  /** The add-on (refId) whose price it is; null: the plan's. */
  addonRefId: string | null
  /** The counted feature (refId); null: the flat fee. */
  featureRefId: string | null
  /** Only prices in this currency; null or absent: whichever the subscription is charged in. */
  currency?: string | null
  amount: Decimal | null
  tiers: Price['tiers']
  blockSize: number | null
}

export type CollectionMethod = 'CHARGE' | 'INVOICE' | 'NONE'

export interface Terms {
  /** Null: there is nothing to pay in any currency. */
  currency: string | null
  collectionMethod: CollectionMethod
  /** The subscription's own; its customer's is asked for at each invoice. */
  discount: Discount | null
  priceOverrides: PriceOverride[]
  /** At least this much is charged in a billing period; null: no such agreement. */
  minimumSpend: Money | null
  /** Added to what is charged; null: none. */
  taxPercentage: Decimal | null
  /** What the tax is called; null or absent: just that. */
  taxName?: string | null
  /** Whole days from the making of an invoice to its due date; null or absent: 30. */
  daysUntilDue?: number | null
  /** False: access does not wait for the payment. */
  awaitsPayment: boolean
}

/** What is sold: of a subscription, or of one that is asked about. */
export interface Content {
  plan: PackageVersion
  addons: { version: PackageVersion; quantity: number }[]
  quantities: { featureId: string; quantity: Decimal }[]
  billingPeriod: BillingPeriod | null
  billingCountryCode: string | null
}

/** Half-open. */
export interface Period {
  start: EpochMs
  end: EpochMs
}

export type LineType =
  | 'BaseCharge'
  | 'AddonCharge'
  | 'InAdvanceCommitmentCharge'
  | 'PayAsYouGoCharge'
  | 'TierCharge'
  | 'MinimumSpendAdjustmentCharge'
  | 'Other'

export interface Line {
  type: LineType
  description: string
  /** Null: not by a price (a least spend). */
  priceId: string | null
  quantity: Decimal
  /** Null where there is no single one (tiers). May be below a minor unit. */
  unitAmount: Decimal | null
  /** Credit is negative. */
  amount: Decimal
  period: Period
  isProration: boolean
}

/** See the terms above. Plain data: it is kept as JSON. */
export interface Standing {
  period: Period
  currency: string
  /** Of the whole period. */
  lines: Omit<Line, 'period' | 'isProration'>[]
  /** Their sum. */
  gross: Decimal
  /** Less the discount. */
  net: Decimal
  /** The tax that was added when it was charged: credit gives it back. Null: none; absent: that of the terms. */
  taxPercentage?: Decimal | null
  /** Our id of the invoice that charged it. Absent: it waits for the next one, or came to nothing. */
  chargedBy?: string
}

/** A billing period that began, as the months of coupons count it. Plain data. */
export interface BegunPeriod {
  start: EpochMs
  /** When the subscription began to be charged for it: later than its start where that was past, or another one's. */
  chargedFrom: EpochMs
  /** What it uses up of a coupon: 1, of a year 12; 0 as long as its total is 0. */
  months: number
}

/** What is charged for usage, or was by an invoice before: late usage is the difference. */
export interface UsageCharged {
  priceId: string
  period: Period
  /** The beginning of the billing period, where `period` is only a part of it and units are those of the whole; absent: that of `period`. */
  since?: EpochMs
  amount: Decimal
  /** As it was charged, for usage that comes when another plan or version is held; absent: the price is looked for in what is held. */
  charge?: { price: Price; version: Pick<PackageVersion, 'kind' | 'displayName'> }
}

export type InvoiceReason = 'SUBSCRIPTION_CREATION' | 'SUBSCRIPTION_UPDATE' | 'BILLING_CYCLE'

/** What the payer of a charge gets back for time that was not used. */
export interface Credit {
  /** Our id of the invoice that charged for the time; null: what is charged by the same document, or waited for an invoice until now. */
  chargeId: string | null
  /** Above 0; with the tax. */
  amount: Decimal
}

export interface Draft {
  reason: InvoiceReason
  currency: string
  period: Period
  lines: Line[]
  /** Of the lines. */
  subTotal: Decimal
  /** Taken off; never more than what there is to take it from. */
  discount: Decimal
  tax: Decimal
  /** subTotal − discount + tax; negative: the customer gets it back with its next invoices. */
  total: Decimal
  /** What of it gives back unused time. Absent: nothing. */
  credits?: Credit[]
  /** It charges what stands from then on. */
  isCharge?: true
  /** What waited for an invoice is on it. */
  hasPending?: true
  /** Whom it is for, where that is not who pays for the subscription by now. */
  payerId?: string
}

/** Why somebody does not want any more what waits for its first payment: it was canceled, or another subscription replaces it. */
export type EndsBy = 'cancel' | 'replace'

export type InvoiceStatus = 'OPEN' | 'PAID' | 'CANCELED' | 'FAILED'

/** An invoice as we mirror it. */
export interface Invoice {
  id: string
  environmentId: string
  subscriptionId: string
  /** Who pays. */
  customerId: string
  /** Null: the provider does not have it yet. */
  billingId: string | null
  number: string | null
  status: InvoiceStatus
  reason: InvoiceReason
  currency: string
  subTotal: Decimal
  discount: Decimal
  tax: Decimal
  total: Decimal
  creditApplied: Decimal
  amountDue: Decimal
  collectionMethod: CollectionMethod
  requiresAction: boolean
  attemptCount: number
  paymentUrl: string | null
  paymentSecret: string | null
  errorMessage: string | null
  refundedAmount: Decimal
  dueDate: EpochMs | null
  failedSince: EpochMs | null
  /** A payment was refused or needed the customer once, whatever became of it. */
  hasFailed: boolean
  providerRevision: number
  periodStart: EpochMs
  periodEnd: EpochMs
  createdAt: EpochMs
  updatedAt: EpochMs
  lines: Line[]
}
