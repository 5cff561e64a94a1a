/** Whether a change of plan is an upgrade or a downgrade. Pure. */
import { type Price, pricingTypes } from '../../catalog/model/package.js'
import { isPerUnit, leastUnits } from '../../catalog/model/units.js'
import * as decimal from '../../kernel/decimal.js'
import type { PlanContent } from './subscription.js'

type PlanChangeType = 'UPGRADE' | 'DOWNGRADE'

/** FREE < PAID < CUSTOM; two paid ones by their price per month in the same currency. What is equal or cannot be compared is an upgrade. */
export function planChangeType(from: PlanContent, to: PlanContent): PlanChangeType {
  const rank = ({ plan }: PlanContent) => pricingTypes.indexOf(plan.pricingType)
  if (rank(from) !== rank(to)) return rank(to) < rank(from) ? 'DOWNGRADE' : 'UPGRADE'
  for (const currency of new Set(from.plan.prices.map((price) => price.currency))) {
    const [before, after] = [monthlyPrice(from, currency), monthlyPrice(to, currency)]
    if (before !== null && after !== null) return decimal.compare(after, before) < 0 ? 'DOWNGRADE' : 'UPGRADE'
  }
  return 'UPGRADE'
}

/** What plan and quantities cost a month, without usage; null: not sold so, or priced in tiers, which a plan alone does not tell. */
function monthlyPrice({ plan, billingPeriod, quantities }: PlanContent, currency: Price['currency']): decimal.Decimal | null {
  const prices = plan.prices.filter(
    (price) =>
      price.currency === currency &&
      price.billingPeriod === billingPeriod &&
      price.billingCountryCode === null &&
      price.billingModel !== 'USAGE_BASED',
  )
  if (prices.length === 0) return null
  let sum = decimal.zero
  const chosen = new Map(quantities.map(({ featureId, quantity }) => [featureId, quantity]))
  for (const price of prices) {
    if (price.amount === null) return null
    const bought = chosen.get(price.featureId ?? '') ?? leastUnits(price)
    const units = isPerUnit(price) ? decimal.divideToWhole(bought, decimal.fromNumber(price.blockSize ?? 1), 'UP') : decimal.fromNumber(1)
    sum = decimal.add(sum, decimal.multiply(price.amount, units))
  }
  return billingPeriod === 'ANNUALLY' ? decimal.fromNumber(decimal.toNumber(sum) / 12) : sum
}
