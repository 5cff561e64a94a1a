/**
 * Several sources may give the same feature; these rules make one grant of them.
 *
 * grant     what one source offers of one feature
 * source    a plan, a base plan, the subscription itself, an add-on, a promotional entitlement
 *
 * Inside a subscription sources replace or add to each other; between subscriptions and promotional entitlements the most
 * generous wins. Grants may carry more than is combined here (their feature, reset, origin): that part is taken over from one of
 * them, as each function says.
 */

import * as decimal from '../../kernel/decimal.js'
import type { EntitlementBehavior } from './package.js'

export interface Grant {
  /** Null: no limit was set, which counts as 0. */
  usageLimit: decimal.Decimal | null
  hasUnlimitedUsage: boolean
  hasSoftLimit: boolean
  enumValues: string[]
  /** The hard budget of the subscription that it comes from is used up: it gives nothing as long as another source gives. */
  budgetUsedUp?: boolean
}

export interface PlanGrant<G extends Grant> {
  grant: G
  /** How it meets the base plan's: Increment adds to it, Override replaces it. */
  behavior: EntitlementBehavior
}

export interface AddonGrant<G extends Grant> extends PlanGrant<G> {
  /** How many of the add-on are held; Increment adds that many times, Override does not multiply. Below 1 it gives nothing. */
  quantity: number
  /** Units of the feature that are bought of the add-on, of all that are held together. Absent: it sells none. */
  bought?: decimal.Decimal | null
}

/**
 * The grant of one feature by one subscription; null when none of its sources has the feature.
 *
 * `plans` are the plan's and, after it, those of the plans it inherits from, nearest first. An entitlement set on the
 * `subscription` itself replaces all of these. Then come the add-ons in any order: increments add up, but when there is an Override
 * the most generous Override alone counts. What is not combined is taken from the grant that others add to.
 *
 * Of a feature that is sold by the unit who sells it gives no less than is `bought` of it. What was agreed for the `subscription` is then
 * the last word, whatever add-ons give.
 */
export function combineWithinSubscription<G extends Grant>(input: {
  plans: readonly PlanGrant<G>[]
  subscription: G | null
  addons: readonly AddonGrant<G>[]
  /** Units of the feature that are bought of the plan. Absent: it sells none. */
  bought?: decimal.Decimal | null
}): G | null {
  const { subscription, bought = null } = input
  const addons = input.addons.filter(({ quantity }) => quantity >= 1)
  const isSold = bought !== null || addons.some((addon) => (addon.bought ?? null) !== null)
  if (subscription !== null && isSold) return subscription
  const overrides = addons.filter(({ behavior }) => behavior === 'Override')
  const override = mostGenerous(overrides.map((addon) => atLeast(addon.grant, addon.bought ?? null)))
  if (override !== null) return override

  const ofPlans = inherited(input.plans)
  const base = subscription ?? (ofPlans && atLeast(ofPlans, bought))
  const increments = addons.map((addon) => atLeast(multiplied(addon.grant, addon.quantity), addon.bought ?? null))
  if (base !== null) return increments.reduce(added, base)
  // Nothing to add to: the largest increment stands in, so that the order of the add-ons does not matter.
  const [largest, ...others] = increments.sort(byGenerosity)
  return largest === undefined ? null : others.reduce(added, largest)
}

/**
 * The most generous of the grants, which is also what is not combined taken from: unlimited, then soft limit (larger first), then
 * hard limit (larger first). ENUM values unite, sorted. Of equals the first wins: pass them in a stable order.
 *
 * Grants with a used-up budget drop out, unless that is true of all: then the answer still says what is held, with `budgetUsedUp`
 * (the check is denied with BudgetExceeded). Null only when there is no grant.
 */
export function mostGenerous<G extends Grant>(grants: readonly G[]): G | null {
  const giving = grants.filter(({ budgetUsedUp }) => budgetUsedUp !== true)
  const considered = giving.length > 0 ? giving : grants
  const [winner] = [...considered].sort(byGenerosity)
  if (winner === undefined) return null
  return { ...winner, enumValues: union(considered) }
}

/** From the farthest base plan up to the plan: each replaces or adds to what it inherits. */
function inherited<G extends Grant>(plans: readonly PlanGrant<G>[]): G | null {
  return plans.reduceRight<G | null>(overInherited, null)
}

/** What a plan's grant makes of the one that it inherits; null: it inherits none. */
export function overInherited<G extends Grant>(base: G | null, { grant, behavior }: PlanGrant<G>): G {
  return base !== null && behavior === 'Increment' ? added(base, grant) : grant
}

function added<G extends Grant>(base: G, increment: Grant): G {
  const isLimited = base.usageLimit !== null || increment.usageLimit !== null
  return {
    ...base,
    usageLimit: isLimited ? decimal.add(base.usageLimit ?? decimal.zero, increment.usageLimit ?? decimal.zero) : null,
    hasUnlimitedUsage: base.hasUnlimitedUsage || increment.hasUnlimitedUsage,
    hasSoftLimit: base.hasSoftLimit || increment.hasSoftLimit,
    enumValues: union([base, increment]),
  }
}

function multiplied<G extends Grant>(grant: G, quantity: number): G {
  if (grant.usageLimit === null) return grant
  return { ...grant, usageLimit: decimal.multiply(grant.usageLimit, decimal.fromNumber(quantity)) }
}

/** With no lower limit than the units that are bought. */
function atLeast<G extends Grant>(grant: G, bought: decimal.Decimal | null): G {
  if (bought === null || grant.hasUnlimitedUsage) return grant
  return { ...grant, usageLimit: decimal.max(grant.usageLimit ?? decimal.zero, bought) }
}

/** For `sort`: the most generous first. A limit of 0 comes before a missing one, only so that the order is total. */
function byGenerosity(a: Grant, b: Grant): number {
  return (
    Number(b.hasUnlimitedUsage) - Number(a.hasUnlimitedUsage) ||
    Number(b.hasSoftLimit) - Number(a.hasSoftLimit) ||
    decimal.compare(b.usageLimit ?? decimal.zero, a.usageLimit ?? decimal.zero) ||
    Number(a.usageLimit === null) - Number(b.usageLimit === null)
  )
}

function union(grants: readonly Grant[]): string[] {
  return [...new Set(grants.flatMap(({ enumValues }) => enumValues))].sort()
}
