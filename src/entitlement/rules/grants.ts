/**
 * What each source offers of a feature, before the most generous wins. Pure.
 *
 * grant      one source's offer for one feature
 */
import type { SoldTerms } from '../../billing/rules/charges.js'
import { type AddonGrant, combineWithinSubscription, type Grant, type PlanGrant } from '../../catalog/model/combine.js'
import type { Feature } from '../../catalog/model/feature.js'
import type { PackageEntitlement, PackageVersion } from '../../catalog/model/package.js'
import type { EpochMs } from '../../kernel/clock.js'
import type { Decimal } from '../../kernel/decimal.js'
import type { ResetPeriod, ResetRule } from '../../metering/model/usage-period.js'
import { convertsAt } from '../../subscription/rules/advance.js'
import type { Subscription } from '../../subscription/rules/subscription.js'
import { boughtBy } from './bought.js'

export interface HeldPromotional {
  id: string
  feature: Feature
  usageLimit: Decimal | null
  hasUnlimitedUsage: boolean
  hasSoftLimit: boolean
  enumValues: string[]
  resetPeriod: ResetPeriod | null
  resetRule: ResetRule | null
  startDate: EpochMs
  /** Exclusive; null: for life. */
  endDate: EpochMs | null
}

export interface SourcedGrant extends Grant {
  feature: Feature
  displayNameOverride?: string | null
  reset: { period: ResetPeriod; rule: ResetRule } | null
  anchor: EpochMs
  /** The resource whose own subscription grants it; null: the customer's. */
  resourceId: string | null
  /** Usage starts again at this instant although the source goes on (a trial that converts). */
  usageRestartsAt: EpochMs | null
  isRevoked: boolean
}

/** What decides about the grants of a subscription. */
export interface GrantFacts {
  /** Null: unknown. `currency` is the one that it is charged in; absent or null: none yet. */
  customer: { currency?: string | null } | null
  /** All that are not final as stored. */
  subscriptions: Subscription[]
  /** Features that a subscription's own entitlements name. */
  features: ReadonlyMap<string, Feature>
  /** Versions that plans inherit from, by id. */
  basePlans: ReadonlyMap<string, PackageVersion>
  /** What was agreed about the prices of subscriptions that sell by the unit, by our id. Absent: none does. */
  soldTerms?: ReadonlyMap<string, SoldTerms>
}

/** What the subscription, as it is at `now`, offers of each feature. */
export function subscriptionGrants(facts: GrantFacts, subscription: Subscription, now: EpochMs): SourcedGrant[] {
  const plans: PackageVersion[] = []
  for (
    let plan: PackageVersion | undefined = subscription.plan;
    plan;
    plan = plan.basePlanVersionId ? facts.basePlans.get(plan.basePlanVersionId) : undefined
  ) {
    plans.push(plan)
  }
  const source = {
    anchor: subscription.usageAnchor,
    resourceId: subscription.resource?.id ?? null,
    usageRestartsAt: convertsAt(subscription),
    isRevoked: subscription.entitlementsRevokedAt !== null && subscription.entitlementsRevokedAt <= now,
  }
  const fromPackage = (entitlement: PackageEntitlement): SourcedGrant => ({
    ...source,
    feature: entitlement.feature,
    displayNameOverride: entitlement.displayNameOverride,
    usageLimit: entitlement.usageLimit,
    hasUnlimitedUsage: entitlement.hasUnlimitedUsage,
    hasSoftLimit: entitlement.hasSoftLimit,
    enumValues: entitlement.enumValues,
    reset: resetOf(entitlement),
  })
  const own = new Map<string, SourcedGrant>()
  for (const entitlement of subscription.ownEntitlements) {
    const feature = facts.features.get(entitlement.featureId)
    if (feature) own.set(feature.id, { ...source, feature, ...pickGrant(entitlement), reset: resetOf(entitlement) })
  }
  const bought = boughtBy(subscription, {
    stored: facts.subscriptions.find(({ id }) => id === subscription.id) ?? subscription,
    terms: facts.soldTerms?.get(subscription.id) ?? null,
    customerCurrency: facts.customer?.currency ?? null,
  })
  const sources = new Map<string, { plans: PlanGrant<SourcedGrant>[]; addons: AddonGrant<SourcedGrant>[] }>()
  const sourcesOf = (featureId: string) => {
    const known = sources.get(featureId) ?? { plans: [], addons: [] }
    sources.set(featureId, known)
    return known
  }
  const isSoldByPlan = (featureId: string) => bought.get(featureId)?.versionId === subscription.plan.id
  for (const { entitlements } of plans) {
    for (const entitlement of entitlements) {
      const { plans: grants } = sourcesOf(entitlement.featureId)
      const grant = fromPackage(entitlement)
      if (isSoldByPlan(entitlement.featureId) || hasContent(grant)) grants.push({ grant, behavior: entitlement.behavior })
    }
  }
  for (const { version, quantity } of subscription.addons) {
    for (const entitlement of version.entitlements) {
      const { addons } = sourcesOf(entitlement.featureId)
      const grant = fromPackage(entitlement)
      const sold = bought.get(entitlement.featureId)
      // What gives as much as is bought gives nothing where it is not sold.
      const units = sold?.versionId === version.id ? sold.units : null
      if (units !== null || hasContent(grant)) addons.push({ grant, behavior: entitlement.behavior, bought: units, quantity })
    }
  }
  for (const featureId of own.keys()) sourcesOf(featureId)
  return [...sources].flatMap(([featureId, { plans: ofPlans, addons }]) => {
    const grant = combineWithinSubscription<SourcedGrant>({
      plans: ofPlans,
      bought: isSoldByPlan(featureId) ? bought.get(featureId)!.units : null,
      subscription: own.get(featureId) ?? null,
      addons,
    })
    return grant ? [grant] : []
  })
}

/** Whether it says what it gives: an amount without a limit is what is bought. */
const hasContent = ({ feature, usageLimit, hasUnlimitedUsage }: SourcedGrant): boolean =>
  feature.featureType !== 'NUMBER' || usageLimit !== null || hasUnlimitedUsage

export function promotionalGrant(promotional: HeldPromotional): SourcedGrant {
  return {
    feature: promotional.feature,
    ...pickGrant(promotional),
    reset: resetOf(promotional),
    anchor: promotional.startDate,
    resourceId: null,
    usageRestartsAt: null,
    isRevoked: false,
  }
}

function pickGrant({ usageLimit, hasUnlimitedUsage, hasSoftLimit, enumValues }: Grant): Grant {
  return { usageLimit, hasUnlimitedUsage, hasSoftLimit, enumValues }
}

function resetOf({ resetPeriod, resetRule }: { resetPeriod: ResetPeriod | null; resetRule: ResetRule | null }) {
  return resetPeriod && resetRule ? { period: resetPeriod, rule: resetRule } : null
}
