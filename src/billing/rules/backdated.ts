/** What a subscription that began in the past is charged for the billing periods that are over. Pure. */
import type { EpochMs } from '../../kernel/clock.js'
import * as decimal from '../../kernel/decimal.js'
import { invalidInput } from '../../kernel/problem.js'
import { billingPeriodFrom } from '../../subscription/rules/billing-period.js'
import type { Subscription } from '../../subscription/rules/subscription.js'
import { type Account, discountAt } from './account.js'
import type { BegunPeriod, Discount, Draft, Line, Period, Standing, Terms } from './billing.js'
import { monthsOf, withBegun } from './coupon.js'
import { standingOf, taxOn, totalled } from './invoice.js'

/** Ten years by months; what is longer is a mistake. */
const maxPeriods = 120

/**
 * What each whole period before `until` costs in advance, by the prices of now and the discount of then; usage that nobody had the subscription for is
 * not charged. Null: no period is over. Fails with BAD_USER_INPUT when the start is too far back.
 */
export function pastCharges(
  subscription: Subscription,
  account: Pick<Account, 'terms' | 'begun'>,
  { until, customerDiscount }: { until: EpochMs; customerDiscount: Discount | null },
): { standings: Standing[]; begun: BegunPeriod[] } | null {
  const standings: Standing[] = []
  let { begun } = account
  for (const period of pastPeriods(subscription, until)) {
    const at = period.start
    const discount = discountAt({ ...account, begun }, { customerDiscount, period, at })
    const standing = standingOf({ content: subscription, terms: account.terms, period, discount })
    if (!standing) continue
    standings.push(standing)
    const months = decimal.compare(standing.gross, decimal.zero) > 0 ? monthsOf(subscription) : 0
    begun = withBegun(begun, { start: at, chargedFrom: at, months })
  }
  return standings.length === 0 ? null : { standings, begun }
}

/** The first invoice with those of the periods before it. */
export function withPastPeriods<D extends Draft>(draft: D, past: readonly Standing[], { taxPercentage }: Pick<Terms, 'taxPercentage'>): D {
  const { lines, discount, tax, ...rest } = draft
  const joined = totalled({
    ...rest,
    lines: [
      ...past.flatMap(({ lines: ofPeriod, period }) => ofPeriod.map((line): Line => ({ ...line, period, isProration: false }))),
      ...lines,
    ],
    discount: past.map(({ gross, net }) => decimal.subtract(gross, net)).reduce(decimal.add, discount),
    tax: past.map(({ net, currency }) => taxOn(net, taxPercentage, currency)).reduce(decimal.add, tax),
  })
  return { ...draft, ...joined }
}

/** From the billing anchor to the instant, the oldest first. */
function pastPeriods({ billingPeriod, billingAnchor, timeZone }: Subscription, until: EpochMs): Period[] {
  if (billingPeriod === null) return []
  const periods: Period[] = []
  for (let start = billingAnchor; start < until; start = periods.at(-1)!.end) {
    if (periods.length === maxPeriods)
      throw invalidInput(`A start that is charged from then on may be ${maxPeriods} billing periods back.`, { path: 'startDate' })
    periods.push(billingPeriodFrom(billingPeriod, billingAnchor, timeZone, start))
  }
  return periods
}
