/** Discounts: what one takes off a total, and for how long it holds. Pure. */
import type { Coupon } from '../../catalog/model/coupon.js'
import type { EpochMs } from '../../kernel/clock.js'
import * as decimal from '../../kernel/decimal.js'
import { exactly, round, share } from '../../kernel/money.js'
import type { BegunPeriod, Content, Discount } from './billing.js'

const oneHundred = decimal.toBillionths(decimal.fromNumber(100))

export function toDiscount(
  { id, name, percentOff, amountsOff, durationInMonths }: Coupon,
  source: Discount['source'],
  startDate: EpochMs,
): Discount {
  return { source, couponId: id, name, percentOff, amountsOff, durationInMonths, startDate }
}

/** Of discounts, those first that come before the others, the one that holds for an invoice at `at`; null: none. */
export function firstHolding(discounts: readonly (Discount | null)[], invoice: Parameters<typeof holds>[1]): Discount | null {
  return discounts.find((discount) => discount !== null && holds(discount, invoice)) ?? null
}

/**
 * From its start on. One of n months holds for the first billing periods that begin at or after its start and come to n months, those left out whose
 * total is 0; so never for one that was running when it was given.
 */
export function holds(
  { startDate, durationInMonths }: Pick<Discount, 'startDate' | 'durationInMonths'>,
  {
    at,
    chargedFrom,
    begun,
  }: {
    at: EpochMs
    /** When the period begins for the subscription. */
    chargedFrom: EpochMs
    begun: readonly BegunPeriod[]
  },
): boolean {
  if (at < startDate) return false
  if (durationInMonths === null) return true
  if (chargedFrom < startDate) return false
  const earlier = begun.filter((period) => period.chargedFrom >= startDate && period.chargedFrom < chargedFrom)
  return earlier.reduce((used, { months }) => used + months, 0) < durationInMonths
}

/** The periods that have begun once another one has: those whose total was 0 are of no use any more. */
export function withBegun(begun: readonly BegunPeriod[], period: BegunPeriod): BegunPeriod[] {
  return [...begun.filter(({ start, months }) => start !== period.start && months > 0), period]
}

/** What a billing period uses up of a coupon. */
export const monthsOf = ({ billingPeriod }: Pick<Content, 'billingPeriod'>): number => (billingPeriod === 'ANNUALLY' ? 12 : 1)

/** What it takes off; never more than the total, and nothing off one that is not above 0. A currency that it does not name is not discounted. */
export function discountOn(
  total: decimal.Decimal,
  discount: Pick<Discount, 'percentOff' | 'amountsOff'> | null,
  currency: string,
): decimal.Decimal {
  if (!discount || decimal.compare(total, decimal.zero) <= 0) return decimal.zero
  const { percentOff, amountsOff } = discount
  const off =
    percentOff !== null
      ? share(total, decimal.toBillionths(percentOff), oneHundred, currency)
      : round(exactly(amountsOff?.find((money) => money.currency === currency)?.amount ?? decimal.zero), currency)
  return decimal.compare(off, total) > 0 ? total : off
}
