/** What somebody is offered: plans in order, with the prices that hold for the buyer. Pure. */
import * as decimal from '../../kernel/decimal.js'
import type { Currency } from './currency.js'
import { type BillingPeriod, billingPeriods, type PackageEntitlement, type PackageVersion, type Price, pricingTypes } from './package.js'
import { type Buyer, currencyFor, pricesFor } from './price-choice.js'
import { isPerUnit, leastUnits, unitsGiven } from './units.js'

/** What a plan costs at least in a month: its flat fees, and the fewest units that can be bought. Usage comes on top. */
export interface PricePoint {
  planRefId: string
  billingPeriod: BillingPeriod
  currency: Currency
  /** The country that it is quoted for; null: any. */
  billingCountryCode: string | null
  amount: decimal.Decimal
  /** The feature (refId) whose units are bought; null when there is a flat fee, too, or nothing else. */
  featureRefId: string | null
  additionalChargesMayApply: boolean
}

interface Offer {
  /** The cheapest first; each with the prices that hold for the buyer, in `currency` where it is quoted in it; or with all of them. */
  plans: PackageVersion[]
  /** Null: nothing has a price. */
  currency: Currency | null
  pricePoints: PricePoint[]
}

/** A step for each plan. */
export function* offer({
  plans,
  buyer,
  isForAllCountries,
}: {
  plans: readonly PackageVersion[]
  buyer: Buyer
  isForAllCountries: boolean
}): Generator<void, Offer> {
  const currency = currencyFor(
    plans.flatMap(({ prices }) => prices),
    buyer,
  )
  const quoted: { plan: PackageVersion; offered: PackageVersion }[] = []
  const points = new Map<string, PricePoint[]>()
  for (const plan of plans) {
    const prices = pricesFor(plan.prices, { ...buyer, currency: currencyFor(plan.prices, buyer) }, null)
    const offered = { ...plan, entitlements: leastEntitlements(plan, prices) }
    quoted.push({ plan, offered: isForAllCountries ? offered : { ...offered, prices } })
    points.set(plan.id, pricePoints(plan, prices))
    yield
  }
  const monthly = ({ plan }: { plan: PackageVersion }) => points.get(plan.id)![0]?.amount ?? decimal.zero
  const byPrice = quoted.toSorted(
    (a, b) =>
      pricingTypes.indexOf(a.plan.pricingType) - pricingTypes.indexOf(b.plan.pricingType) ||
      decimal.compare(monthly(a), monthly(b)) ||
      (a.plan.refId < b.plan.refId ? -1 : 1),
  )
  return {
    currency,
    plans: byPrice.map(({ offered }) => offered),
    pricePoints: byPrice.flatMap(({ plan }) => points.get(plan.id)!),
  }
}

/** With what the fewest units of each price give. Of a plan that inherits, what is bought is not all that counts: it stays as it was written. */
function leastEntitlements({ entitlements, basePlanVersionId }: PackageVersion, prices: readonly Price[]): PackageEntitlement[] {
  if (basePlanVersionId !== null) return entitlements
  const leastOf = new Map<string, decimal.Decimal>()
  for (const price of prices.filter(isPerUnit)) {
    const [given, known] = [unitsGiven(price, leastUnits(price)), leastOf.get(price.featureId!)]
    if (known === undefined || decimal.compare(given, known) < 0) leastOf.set(price.featureId!, given)
  }
  return entitlements.map((entitlement) => {
    const least = leastOf.get(entitlement.featureId)
    if (least === undefined || entitlement.hasUnlimitedUsage) return entitlement
    return { ...entitlement, usageLimit: decimal.max(entitlement.usageLimit ?? decimal.zero, least) }
  })
}

function pricePoints({ refId }: PackageVersion, prices: readonly Price[]): PricePoint[] {
  return billingPeriods.flatMap((billingPeriod): PricePoint[] => {
    const charged = prices.filter((price) => price.billingPeriod === billingPeriod)
    const fixed = charged.filter(({ billingModel }) => billingModel !== 'USAGE_BASED')
    const [first] = fixed
    if (!first) return []
    const total = fixed.reduce((sum, price) => decimal.add(sum, leastCharge(price)), decimal.zero)
    return [
      {
        planRefId: refId,
        billingPeriod,
        currency: first.currency,
        billingCountryCode: first.billingCountryCode,
        amount: perMonth(total, billingPeriod, first.currency),
        featureRefId: fixed.length === 1 ? first.featureRefId : null,
        additionalChargesMayApply: charged.some(({ billingModel }) => billingModel !== 'FLAT_FEE'),
      },
    ]
  })
}

/** Of a billing period, for the fewest units. */
function leastCharge({ billingModel, amount, tiers, tiersMode, blockSize, minUnitQuantity }: Price): decimal.Decimal {
  if (billingModel === 'FLAT_FEE') return amount ?? decimal.zero
  const units = Math.max(1, minUnitQuantity ?? 1)
  if (!tiers) return decimal.multiply(amount ?? decimal.zero, decimal.fromNumber(Math.ceil(units / (blockSize ?? 1))))
  let [charge, below] = [decimal.zero, 0]
  for (const { upTo, unitPrice, flatPrice } of tiers) {
    const end = upTo === null ? units : Math.min(units, decimal.toNumber(upTo))
    // VOLUME: what the last unit's tier says holds for all; the tiers before it charge nothing.
    const counted = tiersMode === 'VOLUME' ? units : end - below
    const own = decimal.add(decimal.multiply(unitPrice ?? decimal.zero, decimal.fromNumber(counted)), flatPrice ?? decimal.zero)
    charge = tiersMode === 'VOLUME' ? own : decimal.add(charge, own)
    below = end
    if (end >= units) break
  }
  return charge
}

/** Rounded as the currency is written; a twelfth of a year's price. */
function perMonth(amount: decimal.Decimal, billingPeriod: BillingPeriod, currency: Currency): decimal.Decimal {
  if (billingPeriod === 'MONTHLY') return amount
  return decimal.fromText((decimal.toNumber(amount) / 12).toFixed(digitsOf(currency)))
}

/** Intl takes longer to find it out than all else of a plan does. */
const knownDigits = new Map<Currency, number>()

function digitsOf(currency: Currency): number {
  const known = knownDigits.get(currency)
  if (known !== undefined) return known
  const digits = new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2
  knownDigits.set(currency, digits)
  return digits
}

/** As it is written beside an amount: `$`, `€`; the code where there is no sign. */
export function currencySymbol(currency: Currency): string {
  const parts = new Intl.NumberFormat('en', { style: 'currency', currency, currencyDisplay: 'narrowSymbol' }).formatToParts(0)
  return parts.find(({ type }) => type === 'currency')?.value ?? currency
}
