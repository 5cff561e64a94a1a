/** What a subscription that began in the past is charged for the billing periods that are over. Pure. */
import type { EpochMs } from '../../kernel/clock.js'
import * as decimal from '../../kernel/decimal.js'
import { invalidInput } from '../../kernel/problem.js'
import { billingPeriodFrom } from '../../subscription/rules/billing-period.js'
import type { Subscription } from '../../subscription/rules/subscription.js'
import type { Draft, Line, Period, Terms } from './billing.js'
import { standingOf, taxOn, totalled } from './invoice.js'

/** Ten years by months; what is longer is a mistake. */
const maxPeriods = 120

/**
 * The first invoice with what each whole period before it costs in advance, by the prices and the discount of then; usage that nobody had the subscription
 * for is not charged. The same where no period is over. Fails with BAD_USER_INPUT when the start is too far back.
 */
export function withPastPeriods<D extends Draft>(draft: D, { subscription, terms }: { subscription: Subscription; terms: Terms }): D {
  const { timeZone } = subscription
  const past = pastPeriods(subscription, draft.period.start).flatMap((period) => {
    const standing = standingOf({ content: subscription, terms, period, timeZone, chargedAt: period.start })
    return standing ? [standing] : []
  })
  if (past.length === 0) return draft
  const { lines, discount, tax, ...rest } = draft
  const joined = totalled({
    ...rest,
    lines: [
      ...past.flatMap(({ lines: ofPeriod, period }) => ofPeriod.map((line): Line => ({ ...line, period, isProration: false }))),
      ...lines,
    ],
    discount: past.map(({ gross, net }) => decimal.subtract(gross, net)).reduce(decimal.add, discount),
    tax: past.map(({ net, currency }) => taxOn(net, terms.taxPercentage, currency)).reduce(decimal.add, tax),
  })
  return { ...draft, ...joined }
}

/** From the billing anchor to the instant, the oldest first. */
function pastPeriods({ billingPeriod, billingAnchor, currentPeriod, timeZone }: Subscription, at: EpochMs): Period[] {
  if (billingPeriod === null) return []
  const until = currentPeriod?.start ?? billingPeriodFrom(billingPeriod, billingAnchor, timeZone, at).start
  const periods: Period[] = []
  for (let start = billingAnchor; start < until; start = periods.at(-1)!.end) {
    if (periods.length === maxPeriods)
      throw invalidInput(`A start that is charged from then on may be ${maxPeriods} billing periods back.`, { path: 'startDate' })
    periods.push(billingPeriodFrom(billingPeriod, billingAnchor, timeZone, start))
  }
  return periods
}
