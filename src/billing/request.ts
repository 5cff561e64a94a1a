/** What a caller agrees for a subscription beside what the catalog says, and the terms that it makes. Pure. */
import { currencies } from '../catalog/currency.js'
import type { EpochMs } from '../kernel/clock.js'
import * as decimal from '../kernel/decimal.js'
import { type Money, minorDigits } from '../kernel/money.js'
import { invalidInput } from '../kernel/problem.js'
import type { ProrationBehavior } from './account.js'
import type { CollectionMethod, Discount, PriceOverride, Terms } from './model.js'

/** A discount that is agreed for one subscription only. */
export interface AdHocDiscount {
  name: string | null
  percentOff: decimal.Decimal | null
  amountsOff: Money[] | null
  durationInMonths: number | null
}

/** Exactly one of the first four is set. */
export interface AppliedCoupon {
  couponRefId?: string | null
  /** A coupon of the billing provider. The builtin one has those of the catalog. */
  billingCouponId?: string | null
  /** A code that the provider has given out. The builtin one takes the coupon's identifier. */
  promotionCode?: string | null
  discount?: AdHocDiscount | null
  /** Null: now. */
  startDate?: EpochMs | null
}

/** Absent: unchanged, and the usual of a new subscription; null clears. */
export interface BillingRequest {
  coupon?: AppliedCoupon | null
  priceOverrides?: PriceOverride[] | null
  minimumSpend?: Money | null
  collectionMethod?: CollectionMethod | null
  taxPercentage?: decimal.Decimal | null
  awaitsPayment?: boolean | null
  /** Default INVOICE_IMMEDIATELY. */
  proration?: ProrationBehavior | null
  /** Of a cancellation: the customer gets back what it does not use. */
  creditsUnused?: boolean | null
}

export const usualTerms: Omit<Terms, 'currency'> = {
  collectionMethod: 'INVOICE',
  discount: null,
  priceOverrides: [],
  minimumSpend: null,
  taxPercentage: null,
  awaitsPayment: true,
}

/** The terms after the request. `discount` is what its coupon stands for; undefined: as before. */
export function termsAfter(before: Terms, request: BillingRequest, discount: Discount | null | undefined): Terms {
  const { priceOverrides, minimumSpend, collectionMethod, taxPercentage, awaitsPayment } = request
  return {
    ...before,
    ...(discount === undefined ? {} : { discount }),
    ...(priceOverrides === undefined ? {} : { priceOverrides: priceOverrides ?? [] }),
    ...(minimumSpend === undefined ? {} : { minimumSpend }),
    ...(taxPercentage === undefined ? {} : { taxPercentage }),
    collectionMethod: collectionMethod ?? before.collectionMethod,
    awaitsPayment: awaitsPayment ?? before.awaitsPayment,
  }
}

/** Fails with BAD_USER_INPUT, naming the field, when something cannot be agreed so. */
export function checkBillingRequest({ coupon, minimumSpend, taxPercentage, priceOverrides }: BillingRequest): void {
  if (coupon) checkCoupon(coupon)
  if (minimumSpend) checkMoney(minimumSpend, 'minimumSpend')
  if (taxPercentage && (decimal.compare(taxPercentage, decimal.zero) < 0 || decimal.toNumber(taxPercentage) > 100))
    throw invalidInput('taxPercentage must be from 0 to 100.', { path: 'billingInformation.taxPercentage' })
  for (const [index, { amount, tiers }] of (priceOverrides ?? []).entries()) {
    const path = `priceOverrides[${index}]`
    if ((amount === null) === (tiers === null)) throw invalidInput(`${path} needs exactly one of price and tiers.`, { path })
    if (amount !== null && decimal.compare(amount, decimal.zero) < 0) throw invalidInput(`${path}.price must not be negative.`, { path })
  }
}

function checkCoupon({ couponRefId, billingCouponId, promotionCode, discount }: AppliedCoupon): void {
  const named = [couponRefId, billingCouponId, promotionCode, discount].filter((one) => one !== undefined && one !== null)
  const path = 'appliedCoupon'
  if (named.length !== 1)
    throw invalidInput('appliedCoupon names exactly one of couponId, billingCouponId, promotionCode and discount.', { path })
  if (discount) checkDiscount(discount, `${path}.discount`)
}

/** Shared with coupons of the catalog. */
export function checkDiscount({ percentOff, amountsOff, durationInMonths }: Omit<AdHocDiscount, 'name'>, path: string): void {
  if ((percentOff === null) === (amountsOff === null))
    throw invalidInput(`${path} needs exactly one of percentOff and amountsOff.`, { path })
  if (percentOff !== null && (decimal.compare(percentOff, decimal.zero) <= 0 || decimal.toNumber(percentOff) > 100))
    throw invalidInput('percentOff must be above 0 and at most 100.', { path: `${path}.percentOff` })
  if (amountsOff?.length === 0) throw invalidInput('amountsOff must not be empty.', { path: `${path}.amountsOff` })
  for (const money of amountsOff ?? []) checkMoney(money, `${path}.amountsOff`)
  if (new Set(amountsOff?.map(({ currency }) => currency)).size !== (amountsOff?.length ?? 0))
    throw invalidInput('amountsOff names a currency twice.', { path: `${path}.amountsOff` })
  if (durationInMonths !== null && (!Number.isInteger(durationInMonths) || durationInMonths < 1))
    throw invalidInput('durationInMonths must be a whole number above 0.', { path: `${path}.durationInMonths` })
}

function checkMoney({ amount, currency }: Money, path: string): void {
  if (!(currencies as readonly string[]).includes(currency)) throw invalidInput(`"${currency}" is not a currency.`, { path })
  if (decimal.compare(amount, decimal.zero) <= 0) throw invalidInput(`The amount in ${currency} must be above 0.`, { path })
  const [, fraction = ''] = amount.split('.')
  if (fraction.length > minorDigits(currency))
    throw invalidInput(`${amount} ${currency} cannot be paid: it has more than ${minorDigits(currency)} decimals.`, { path })
}
