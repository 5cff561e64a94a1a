/**
 * What a period costs, from the price list alone and in whole minor units: an independent second opinion. It knows nothing of accounts, standings,
 * lines or versions, and shares no arithmetic with the product.
 */
import { type ContentSpec, type Currency, type CustomerSpec, minorDigits, type PriceList, type PriceSpec, type WorldSpec } from './cases.js'

const tenThousandth = 10_000n

/** Tenthousandths of a currency unit: prices have no more digits. */
const fine = (amount: string): bigint => BigInt(Math.round(Number(amount) * 10_000))

/** Half away from zero; the denominator is above 0. */
export function rounded(numerator: bigint, denominator: bigint): bigint {
  const magnitude = numerator < 0n ? -numerator : numerator
  const whole = (magnitude * 2n + denominator) / (denominator * 2n)
  return numerator < 0n ? -whole : whole
}

function costOf({ amount, blockSize, tiers, tiersMode }: PriceSpec, quantity: bigint): bigint {
  if (!tiers) return blockSize ? fine(amount!) * ((quantity + BigInt(blockSize) - 1n) / BigInt(blockSize)) : fine(amount!) * quantity
  let total = 0n
  for (const [index, { upTo, unitPrice, flatPrice }] of tiers.entries()) {
    const from = BigInt(tiers[index - 1]?.upTo ?? 0)
    const to = upTo === undefined || BigInt(upTo) > quantity ? quantity : BigInt(upTo)
    const isReached = quantity > from
    if (tiersMode === 'GRADUATED' && isReached) total += (to - from) * fine(unitPrice!) + (flatPrice === undefined ? 0n : fine(flatPrice))
    if (tiersMode === 'VOLUME' && isReached && (upTo === undefined || quantity <= BigInt(upTo)))
      return quantity * fine(unitPrice!) + (flatPrice === undefined ? 0n : fine(flatPrice))
  }
  return total
}

export interface Held extends ContentSpec {
  currency: Currency
  /** The price list that each package was sold by. */
  soldBy: Record<string, PriceList>
}

/** In advance, for a whole period, in minor units: before and after the discount, which is for ever. */
export function periodPrice(
  { discount, country, overrides }: Pick<CustomerSpec, 'discount' | 'country' | 'overrides'>,
  held: Held,
): bigint {
  const perMinor = tenThousandth / 10n ** BigInt(minorDigits[held.currency])
  const priceOf = (packageRefId: string, model: PriceSpec['billingModel']): PriceSpec | undefined => {
    const list = held.soldBy[packageRefId]!
    const { prices } = [...list.plans, ...list.addons].find(({ refId }) => refId === packageRefId)!
    const quoted = prices.filter(
      (price) => price.billingModel === model && price.billingPeriod === held.billingPeriod && price.currency === held.currency,
    )
    return quoted.find((price) => price.country === country && country !== null) ?? quoted.find((price) => price.country === undefined)
  }
  const line = (price: PriceSpec | undefined, quantity: number): bigint =>
    price === undefined || quantity === 0 ? 0n : rounded(costOf(price, BigInt(quantity)), perMinor)
  const plan = held.planRefId
  const own = (price: PriceSpec | undefined, amount: string | undefined): PriceSpec | undefined =>
    price && amount !== undefined ? { ...price, amount, tiers: undefined } : price
  let gross = line(own(priceOf(plan, 'FLAT_FEE'), overrides?.flat), 1)
  if (plan !== 'tried') gross += line(own(priceOf(plan, 'PER_UNIT'), overrides?.seat), held.seats)
  if (held.support > 0) gross += line(priceOf('support', 'FLAT_FEE'), held.support)
  if (held.boxes !== null) gross += line(priceOf('storage', 'FLAT_FEE'), 1) + line(priceOf('storage', 'PER_UNIT'), held.boxes)
  return gross - discountOn(gross, discount, held.currency)
}

/** Of what was used in a period, before the discount, in minor units. The total is converted once, whatever came when. */
export function usagePrice(
  { country }: Pick<CustomerSpec, 'country'>,
  held: Held,
  { calls, unitTransformation }: { calls: number; unitTransformation: WorldSpec['unitTransformation'] },
): bigint {
  const { prices } = held.soldBy[held.planRefId]!.plans.find(({ refId }) => refId === held.planRefId)!
  const price = prices.find(
    (one) =>
      one.billingModel === 'USAGE_BASED' &&
      one.billingPeriod === held.billingPeriod &&
      one.currency === held.currency &&
      (one.country ?? country) === country,
  )!
  const { divide, round } = unitTransformation ?? { divide: 1, round: 'UP' }
  const units = BigInt(round === 'UP' ? Math.ceil(calls / divide) : Math.floor(calls / divide))
  return units === 0n ? 0n : rounded(costOf(price, units), tenThousandth / 10n ** BigInt(minorDigits[held.currency]))
}

/** Of usage that waited for the invoice since no more could come: each line with tax, and less a percentage, as a fixed discount has nothing left for it. */
export function lateUsagePrice(
  { discount, taxPercentage }: Pick<CustomerSpec, 'discount' | 'taxPercentage'>,
  lines: readonly string[],
  currency: Currency,
): bigint {
  const isFixed = discount !== null && ('amountOff' in discount || ('couponRefId' in discount && discount.couponRefId === 'seven'))
  return lines.reduce((sum, line) => {
    const amount = rounded(fine(line), tenThousandth / 10n ** BigInt(minorDigits[currency]))
    return sum + withTax(isFixed ? amount : amount - discountOn(amount, discount, currency), taxPercentage)
  }, 0n)
}

function discountOn(gross: bigint, discount: CustomerSpec['discount'], currency: Currency): bigint {
  if (!discount || gross === 0n) return 0n
  if ('percentOff' in discount) return rounded(gross * BigInt(Math.round(discount.percentOff * 10)), 1_000n)
  if ('couponRefId' in discount && discount.couponRefId === 'tenth') return rounded(gross, 10n)
  const units = 'amountOff' in discount ? discount.amountOff[currency] : 7
  const off = BigInt(units) * 10n ** BigInt(minorDigits[currency])
  return off > gross ? gross : off
}

/** What is left of a period's price at an instant, to the second. */
export function unused(price: bigint, { start, end }: { start: number; end: number }, at: number): bigint {
  const used = Math.floor((at - start) / 1_000) * 1_000
  return rounded(price * BigInt(end - start - used), BigInt(end - start))
}

export const withTax = (price: bigint, taxPercentage: number | null): bigint =>
  taxPercentage === null ? price : price + rounded(price * BigInt(Math.round(taxPercentage * 10)), 1_000n)

/** In whole currency units, as the wire has them. */
export const inUnits = (minor: bigint, currency: Currency): number => Number(minor) / 10 ** minorDigits[currency]
