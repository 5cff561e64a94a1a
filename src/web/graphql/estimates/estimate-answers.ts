import type { Discount, Terms } from '../../../billing/rules/billing.js'
import type { ChangeEstimate } from '../../../estimates/service.js'
import * as decimal from '../../../kernel/decimal.js'
import type { Money } from '../catalog/price.types.js'
import type * as enums from '../schema/enums.js'
import type {
  ImmediateSubscriptionPreviewInvoice,
  SubscriptionPreview,
  SubscriptionPreviewCredits,
  SubscriptionPreviewDiscount,
  SubscriptionPreviewProrations,
  SubscriptionPreviewTaxDetails,
  SubscriptionPreviewV2,
} from './estimate.types.js'

export const money = (amount: decimal.Decimal, currency: string): Money => ({
  amount: decimal.toNumber(amount),
  currency: currency as keyof typeof enums.Currency,
})

/** Null: no discount holds. FIXED without an amount in the currency is one that takes nothing. */
export function toDiscount(discount: Discount | null, currency: string): SubscriptionPreviewDiscount | null {
  if (!discount) return null
  const { name, percentOff, amountsOff, durationInMonths } = discount
  const amount = amountsOff?.find((off) => off.currency === currency)?.amount ?? decimal.zero
  return {
    name,
    durationInMonths,
    durationType: durationInMonths === null ? 'FOREVER' : 'REPEATING',
    type: percentOff === null ? 'FIXED' : 'PERCENTAGE',
    value: decimal.toNumber(percentOff ?? amount),
  }
}

export function toTaxDetails({ taxPercentage, taxName }: Pick<Terms, 'taxPercentage' | 'taxName'>): SubscriptionPreviewTaxDetails | null {
  return taxPercentage === null ? null : { displayName: taxName ?? 'Tax', inclusive: false, percentage: decimal.toNumber(taxPercentage) }
}

export function toBalance({ balance, currency }: Pick<ChangeEstimate, 'balance' | 'currency'>): SubscriptionPreviewCredits | null {
  if (!balance) return null
  const { initial, used } = balance
  return { initial: money(initial, currency), used: money(used, currency), remaining: money(decimal.subtract(initial, used), currency) }
}

function toProration({ proration, currency }: ChangeEstimate): SubscriptionPreviewProrations | null {
  if (!proration) return null
  const { at, credit, creditCurrency, debit } = proration
  return {
    prorationDate: at,
    hasProrations: true,
    credit: money(credit, creditCurrency),
    debit: money(debit, currency),
    netAmount: money(creditCurrency === currency ? decimal.add(credit, debit) : debit, currency),
  }
}

function toRecurring(estimate: ChangeEstimate) {
  const { recurring, discount } = estimate
  if (!recurring) return null
  const { currency, subTotal, total, tax } = recurring
  return {
    subTotal: money(subTotal, currency),
    tax: money(tax, currency),
    taxDetails: toTaxDetails(estimate),
    total: money(total, currency),
    totalExcludingTax: money(decimal.subtract(total, tax), currency),
    discountDetails: toDiscount(discount, currency),
    discountMoney: discount && money(recurring.discount, currency),
  }
}

/** Of the invoice that comes at once. */
function toImmediate(estimate: ChangeEstimate): ImmediateSubscriptionPreviewInvoice {
  const { currency, subTotal, discountAmount, discount, tax, taxPercentage, total } = estimate
  return {
    credits: toBalance(estimate),
    discount: discount && money(discountAmount, currency),
    discountDetails: toDiscount(discount, currency),
    proration: toProration(estimate),
    subTotal: money(subTotal, currency),
    tax: taxPercentage === null ? null : money(tax, currency),
    taxDetails: toTaxDetails(estimate),
    total: money(total, currency),
    totalExcludingTax: money(decimal.subtract(total, tax), currency),
  }
}

export function toSubscriptionPreview(estimate: ChangeEstimate): SubscriptionPreview {
  const { discount, discountDetails, ...immediate } = toImmediate(estimate)
  const { isPlanDowngrade, hasScheduledUpdates, period } = estimate
  const recurring = toRecurring(estimate)
  return {
    ...immediate,
    billingPeriodRange: { start: period?.start ?? null, end: period?.end ?? null },
    discount: discountDetails,
    discountAmount: discount,
    hasScheduledUpdates,
    isPlanDowngrade,
    subscription: recurring && toPricePreview(recurring),
  }
}

function toPricePreview({ discountDetails, discountMoney, ...amounts }: NonNullable<ReturnType<typeof toRecurring>>) {
  return { ...amounts, discount: discountDetails, discountAmount: discountMoney }
}

export function toSubscriptionPreviewV2(estimate: ChangeEstimate): SubscriptionPreviewV2 {
  const { isPlanDowngrade, hasScheduledUpdates, period } = estimate
  const recurring = toRecurring(estimate)
  return {
    billingPeriodRange: { start: period?.start ?? null, end: period?.end ?? null },
    hasScheduledUpdates,
    isPlanDowngrade,
    immediateInvoice: toImmediate(estimate),
    recurringInvoice: recurring && toPreviewInvoice(recurring),
  }
}

function toPreviewInvoice({ discountMoney, ...amounts }: NonNullable<ReturnType<typeof toRecurring>>) {
  return { ...amounts, discount: discountMoney }
}
