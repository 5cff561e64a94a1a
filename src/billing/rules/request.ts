/** What a caller agrees for a subscription beside what the catalog says, and the terms that it makes. Pure. */
import { checkTiers } from '../../catalog/document/package-checks.js'
import { currencies } from '../../catalog/model/currency.js'
import type { EpochMs } from '../../kernel/clock.js'
import * as decimal from '../../kernel/decimal.js'
import { type Money, minorDigits } from '../../kernel/money.js'
import { invalidInput } from '../../kernel/problem.js'
import type { ProrationBehavior } from './account.js'
import type { CollectionMethod, Content, Discount, PriceOverride, Terms } from './billing.js'
import { overridingIn } from './charges.js'

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
  taxName?: string | null
  /** Tax rates of the provider, instead of a percentage; looked up before the change is decided, see `withTaxRates`. None: no tax. */
  taxRateIds?: string[] | null
  daysUntilDue?: number | null
  /** The invoice that the change makes at once has been paid elsewhere. */
  isPaid?: boolean | null
  awaitsPayment?: boolean | null
  /** Default INVOICE_IMMEDIATELY. */
  proration?: ProrationBehavior | null
  /** Of a beginning in the past: charged from then on, not from the current period on. */
  isBackdated?: boolean | null
  /** Of a cancellation: the customer gets back what it does not use. */
  creditsUnused?: boolean | null
}

export const usualTerms: Omit<Terms, 'currency'> = {
  collectionMethod: 'INVOICE',
  discount: null,
  priceOverrides: [],
  minimumSpend: null,
  taxPercentage: null,
  taxName: null,
  daysUntilDue: null,
  awaitsPayment: true,
}

/** The terms after the request. `discount` is what its coupon stands for; undefined: as before. */
export function termsAfter(before: Terms, request: BillingRequest, discount: Discount | null | undefined): Terms {
  const { priceOverrides, minimumSpend, collectionMethod, taxPercentage, taxName, daysUntilDue, awaitsPayment } = request
  const isKept = before.discount && discount && !request.coupon?.startDate && isSameDiscount(before.discount, discount)
  return {
    ...before,
    ...(discount === undefined || isKept ? {} : { discount }),
    ...(priceOverrides === undefined ? {} : { priceOverrides: priceOverrides ?? [] }),
    ...(minimumSpend === undefined ? {} : { minimumSpend }),
    ...(taxPercentage === undefined ? {} : { taxPercentage, taxName: taxName ?? null }),
    ...(daysUntilDue === undefined ? {} : { daysUntilDue }),
    collectionMethod: collectionMethod ?? before.collectionMethod,
    awaitsPayment: awaitsPayment ?? before.awaitsPayment,
  }
}

/** A caller that repeats itself begins nothing anew: the months go on from when it was given first. */
function isSameDiscount(a: Discount, b: Discount): boolean {
  const content = ({ source, couponId, name, percentOff, amountsOff, durationInMonths }: Discount) =>
    JSON.stringify([source, couponId, name, percentOff, amountsOff?.map(({ amount, currency }) => [amount, currency]), durationInMonths])
  return content(a) === content(b)
}

/** What was agreed about money for a change that waits. Kept as JSON. */
export interface AgreedLater {
  request: BillingRequest
  /** Undefined: as before. */
  discount?: Discount | null
}

/** The price overrides once a change that waited has happened; `agreed` is what was kept with it (an `AgreedLater`). */
export function overridesAfter(before: PriceOverride[], agreed: object | null): PriceOverride[] {
  const { priceOverrides } = (agreed as AgreedLater | null)?.request ?? {}
  return priceOverrides === undefined ? before : (priceOverrides ?? [])
}

/** Fails with BAD_USER_INPUT when the request names a price that the content is not charged by in this currency. */
export function checkOverrides({ priceOverrides }: BillingRequest, content: Content, currency: Terms['currency']): void {
  if (!priceOverrides?.length) return
  const isOverriding = overridingIn(content, currency)
  for (const [index, override] of priceOverrides.entries()) {
    if (isOverriding(override)) continue
    const path = `priceOverrides[${index}]`
    const what = override.featureRefId === null ? 'flat fee' : `price of feature "${override.featureRefId}"`
    const where = override.addonRefId === null ? `plan "${content.plan.refId}"` : `add-on "${override.addonRefId}"`
    const inCurrency = override.currency ?? currency
    throw invalidInput(`${path}: ${where} as it is subscribed to is charged no ${what}${inCurrency ? ` in ${inCurrency}` : ''}.`, { path })
  }
}

/** Fails with BAD_USER_INPUT, naming the field, when something cannot be agreed so. */
export function checkBillingRequest(request: BillingRequest): void {
  const { coupon, minimumSpend, taxPercentage, taxRateIds, priceOverrides, daysUntilDue } = request
  if (coupon) checkCoupon(coupon)
  if (minimumSpend) checkMoney(minimumSpend, 'minimumSpend')
  if (taxPercentage && (decimal.compare(taxPercentage, decimal.zero) < 0 || decimal.toNumber(taxPercentage) > 100))
    throw invalidInput('taxPercentage must be from 0 to 100.', { path: 'billingInformation.taxPercentage' })
  if (taxRateIds) throw new Error('tax rates have to be looked up before the change is decided')
  if (typeof daysUntilDue === 'number' && (!Number.isInteger(daysUntilDue) || daysUntilDue < 0 || daysUntilDue > maxDaysUntilDue))
    throw invalidInput(`invoiceDaysUntilDue must be a whole number from 0 to ${maxDaysUntilDue}.`, {
      path: 'billingInformation.invoiceDaysUntilDue',
    })
  for (const [index, override] of (priceOverrides ?? []).entries()) checkOverride(override, `priceOverrides[${index}]`)
}

/** A due date beyond that is a mistake. */
const maxDaysUntilDue = 365

function checkOverride({ amount, tiers, blockSize, featureRefId }: PriceOverride, path: string): void {
  const report = (field: string, problem: string): never => {
    throw invalidInput(`${field} ${problem}.`, { path: field })
  }
  if ((amount === null) === (tiers === null)) report(path, 'needs exactly one of price and tiers')
  if (amount !== null && isNegative(amount)) report(`${path}.price`, 'must not be negative')
  if (featureRefId === null && (tiers !== null || blockSize !== null)) report(path, 'replaces a flat fee: it has neither tiers nor blocks')
  if (blockSize !== null && !(blockSize > 0)) report(`${path}.blockSize`, 'must be above 0')
  if (tiers === null) return
  if (blockSize !== null) report(`${path}.blockSize`, 'does not go with tiers')
  checkTiers(tiers, `${path}.tiers`, report)
  for (const [position, { unitPrice, flatPrice }] of tiers.entries())
    if ([unitPrice, flatPrice].some((price) => price !== null && isNegative(price)))
      report(`${path}.tiers[${position}]`, 'must not have a negative price')
}

const isNegative = (amount: decimal.Decimal): boolean => decimal.compare(amount, decimal.zero) < 0

function checkCoupon({ couponRefId, billingCouponId, promotionCode, discount }: AppliedCoupon): void {
  const named = [couponRefId, billingCouponId, promotionCode, discount].filter((one) => one !== undefined && one !== null)
  const path = 'appliedCoupon'
  if (named.length !== 1)
    throw invalidInput('appliedCoupon names exactly one of couponId, billingCouponId, promotionCode and discount.', { path })
  if (discount) checkDiscount(discount, `${path}.discount`)
}

/** Shared with coupons of the catalog. */
function checkDiscount({ percentOff, amountsOff, durationInMonths }: Omit<AdHocDiscount, 'name'>, path: string): void {
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
