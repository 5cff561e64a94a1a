/**
 * Budgets: what the usage-based charges of a subscription come to in its running billing period, against what was agreed. Pure.
 *
 * budget series   the usage of one feature by billing periods, whatever resets the usage of its entitlement; counted like every other series
 * spent           the usage at the prices of the subscription, each rounded as the line of an invoice is; before discounts and tax
 * used up         spent is the limit or more: nothing is left for another unit
 */

import { costOf, unitsUsed } from '../../billing/rules/price.js'
import type { Price } from '../../catalog/model/package.js'
import type { EpochMs } from '../../kernel/clock.js'
import * as decimal from '../../kernel/decimal.js'
import { round } from '../../kernel/money.js'
import type { MeterType } from '../../metering/model/meter.js'
import { type SeriesPeriod, seriesKey, seriesPeriodAt, type UsageSeries, unentitledSeries } from '../../metering/model/series.js'
import type { Budget, Subscription } from '../../subscription/rules/subscription.js'

/** A price that a subscription charges usage by. */
interface UsagePrice {
  featureId: string
  meterType: MeterType
  price: Pick<Price, 'amount' | 'blockSize' | 'currency' | 'tiers' | 'tiersMode' | 'unitTransformation'>
}

/** What the budgets of a customer's subscriptions depend on. */
export interface BudgetFacts {
  /** By subscription (our id). */
  prices: ReadonlyMap<string, readonly UsagePrice[]>
  /** By `chargeKey`; absent: none. */
  usage: ReadonlyMap<string, decimal.Decimal>
}

/** A price, and the usage that it charges in a billing period. */
interface BudgetCharge {
  price: UsagePrice['price']
  series: UsageSeries
  /** The start of the billing period: it is within the period of the series that is meant. */
  at: EpochMs
}

export interface RunningBudget extends Budget {
  subscriptionId: string
  customerId: string
  periodStart: EpochMs
  /** From then on it is a new one. */
  periodEnd: EpochMs
  charges: BudgetCharge[]
}

/** Of the subscriptions, with their status at some instant, those that charge usage within a budget then. */
export function runningBudgets(subscriptions: readonly Subscription[], { prices }: Pick<BudgetFacts, 'prices'>): RunningBudget[] {
  return subscriptions.flatMap((subscription) => {
    const { id, budget, status, currentPeriod, customerId } = subscription
    if (!budget || status !== 'ACTIVE' || !currentPeriod) return []
    const charges = (prices.get(id) ?? []).map(({ featureId, meterType, price }) => {
      const series = budgetSeries(subscription, { featureId, meterType, periodStart: currentPeriod.start })
      return { price, series, at: currentPeriod.start }
    })
    return [{ ...budget, subscriptionId: id, customerId, periodStart: currentPeriod.start, periodEnd: currentPeriod.end, charges }]
  })
}

/** Billing periods are counted like usage periods, so it is often the series of the entitlement itself. */
function budgetSeries(
  { customerId, resource, billingPeriod, billingAnchor, startDate, timeZone }: Subscription,
  { featureId, meterType, periodStart }: { featureId: string; meterType: MeterType; periodStart: EpochMs },
): UsageSeries {
  const sinceEver = unentitledSeries(customerId, resource?.id ?? null, featureId)
  // Of seats the level is charged, which has no beginning.
  if (meterType === 'Fluctuating') return sinceEver
  // It took over a running period: what was used before is charged to another one.
  if (startDate > periodStart) return { ...sinceEver, anchor: startDate }
  const resetPeriod = billingPeriod === 'ANNUALLY' ? 'YEAR' : 'MONTH'
  return { ...sinceEver, resetPeriod, resetRule: 'SubscriptionStart', anchor: billingAnchor, timeZone }
}

/** What is to be read for the budgets, with one instant for each customer, that of the billing period that began last: all others go on then. */
export function askedOfBudgets(budgets: readonly RunningBudget[]): { series: UsageSeries; period: SeriesPeriod; at: EpochMs }[] {
  const latest = new Map<string, EpochMs>()
  for (const { customerId, charges } of budgets)
    for (const { at } of charges) latest.set(customerId, Math.max(at, latest.get(customerId) ?? at))
  return budgets.flatMap(({ customerId, charges }) =>
    charges.map(({ series, at }) => ({ series, period: seriesPeriodAt(series, at), at: latest.get(customerId)! })),
  )
}

/** What was read (by `seriesKey`), as it is kept. */
export function usageOfBudgets(
  budgets: readonly RunningBudget[],
  read: ReadonlyMap<string, { currentUsage: decimal.Decimal }>,
): BudgetFacts['usage'] {
  const usage = new Map<string, decimal.Decimal>()
  for (const charge of budgets.flatMap(({ charges }) => charges)) {
    const found = read.get(seriesKey(charge.series))
    if (found) usage.set(chargeKey(charge), found.currentUsage)
  }
  return usage
}

/** Of a series in a billing period. */
const chargeKey = ({ series, at }: Pick<BudgetCharge, 'series' | 'at'>): string => `${seriesKey(series)}|${at}`

export const isUsedUp = (budget: Pick<RunningBudget, 'limit' | 'charges'>, usage: BudgetFacts['usage']): boolean =>
  decimal.compare(spentOf(budget, usage), budget.limit) >= 0

/** What the charges come to by now. */
export function spentOf({ charges }: Pick<RunningBudget, 'charges'>, usage: BudgetFacts['usage']): decimal.Decimal {
  const costs = charges.map((charge) => {
    const used = usage.get(chargeKey(charge)) ?? decimal.zero
    return round(costOf(charge.price, unitsUsed(charge.price, { until: used })), charge.price.currency)
  })
  return costs.reduce(decimal.add, decimal.zero)
}
