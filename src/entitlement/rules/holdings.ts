/**
 * From what a customer holds to what it may use. The only place that decides: GraphQL, edge, push, queue, cache and the ingestion worker carry
 * its result.
 *
 * holdings   the facts: customer, subscriptions, promotional entitlements, at one version
 * winner     the most generous grant of a feature, with the usage series that measures it
 */

import { mostGenerous } from '../../catalog/model/combine.js'
import type { Feature } from '../../catalog/model/feature.js'
import type { EpochMs } from '../../kernel/clock.js'
import { type SeriesPeriod, seriesPeriodAt, type UsageSeries } from '../../metering/model/series.js'
import { cutToStretch, type FormerZone, type ZoneStretch, zoneStretchAt } from '../../metering/model/zone-change.js'
import { advance, convertsAt, nextChange } from '../../subscription/rules/advance.js'
import { replacementTrigger } from '../../subscription/rules/coexistence.js'
import { givesAccess, type Subscription } from '../../subscription/rules/subscription.js'
import { type BudgetFacts, isUsedUp, type RunningBudget, runningBudgets } from './budget.js'
import { type GrantFacts, type HeldPromotional, promotionalGrant, type SourcedGrant, subscriptionGrants } from './grants.js'
import type { Entitlement, StateDenialReason } from './state.js'

export interface Holdings extends GrantFacts {
  environmentId: string
  /** The caller's identifiers, as asked. */
  customerRefId: string
  resourceRefId: string | null
  /** Null: unknown. */
  customer: {
    id: string
    timeZone: string
    /** Zones that it had before, in the order of their change. Absent: none. */
    formerTimeZones?: readonly FormerZone[]
    currency?: string | null
    isArchived: boolean
  } | null
  /** Null: none was asked for, or it is unknown. */
  resource: { id: string } | null
  version: EpochMs
  accessVersion: EpochMs
  /** Not revoked. */
  promotional: HeldPromotional[]
  /** Absent: none of the subscriptions has a budget. */
  budgets?: BudgetFacts
}

/** An entitlement without its usage, and where that usage is found. */
export interface Winner {
  entitlement: Entitlement
  /** Null for features without a meter. */
  series: UsageSeries | null
  /** Where the customer's time zone, and with it the series, changes. Absent: it does not. */
  stretch?: Omit<ZoneStretch, 'timeZone'>
}

/** Why the customer or resource has no entitlements at all, or null. */
export function stateDenial(holdings: Holdings, now: EpochMs): StateDenialReason | null {
  if (!holdings.customer) return 'CustomerNotFound'
  if (holdings.customer.isArchived) return 'CustomerIsArchived'
  if (holdings.resourceRefId !== null && !holdings.resource) return 'CustomerResourceNotFound'
  const hasSource = subscriptionsInForce(holdings, now).length > 0 || promotionalInForce(holdings, now).length > 0
  return hasSource ? null : 'NoActiveSubscription'
}

/** The winning entitlement of every feature, by feature refId. Empty when the state is denied as a whole. */
export function decideWinners(holdings: Holdings, now: EpochMs): Winner[] {
  const { customer } = holdings
  if (stateDenial(holdings, now) !== null || !customer) return []
  const usedUp = new Set(usedUpBudgets(holdings, now).map(({ subscriptionId }) => subscriptionId))
  const byFeature = new Map<string, SourcedGrant[]>()
  const offer = (grant: SourcedGrant) => {
    const others = byFeature.get(grant.feature.refId)
    if (others) others.push(grant)
    else byFeature.set(grant.feature.refId, [grant])
  }
  for (const subscription of subscriptionsInForce(holdings, now))
    for (const grant of subscriptionGrants(holdings, subscription, now)) offer({ ...grant, budgetUsedUp: usedUp.has(subscription.id) })
  for (const promotional of promotionalInForce(holdings, now)) offer(promotionalGrant(promotional))

  const nextBoundary = boundaryAfter(holdings, now)
  return [...byFeature.keys()].sort().flatMap((refId) => {
    const grants = byFeature.get(refId)!
    const usable = grants.filter((grant) => !grant.isRevoked)
    const winner = mostGenerous(usable.length > 0 ? usable : grants)
    return winner ? [toWinner(winner, customer, nextBoundary, now)] : []
  })
}

/** Since when what is in force now has entitled the asked customer or resource to the feature (refId); null: nothing does. */
export function heldSince(holdings: Holdings, featureRefId: string, now: EpochMs): EpochMs | null {
  const isOf = ({ feature }: { feature: Feature }) => feature.refId === featureRefId
  const subscriptions = subscriptionsInForce(holdings, now).filter((subscription) =>
    subscriptionGrants(holdings, subscription, now).some(isOf),
  )
  const sources = [...subscriptions, ...promotionalInForce(holdings, now).filter(isOf)]
  return sources.length === 0 ? null : Math.min(...sources.map(({ startDate }) => startDate))
}

/** The period of a winner's series that contains `at`, cut where usage starts again within it. */
export function winnerPeriodAt(winner: Winner, at: EpochMs): SeriesPeriod {
  if (!winner.series) return { start: null, end: null }
  const whole = seriesPeriodAt(winner.series, at)
  const period = winner.stretch ? cutToStretch(whole, winner.stretch, at) : whole
  const restart = winner.entitlement.usageRestartsAt ?? null
  const isCut = period.end !== null && restart !== null && restart > at && restart < period.end
  return isCut ? { start: period.start, end: restart } : period
}

/** Subscriptions that give access to the asked customer or resource, at their status at `now`, oldest first. */
function subscriptionsInForce(holdings: Holdings, now: EpochMs): Subscription[] {
  const inForce = subscriptionsAt(holdings, now).filter(({ status }) => givesAccess(status))
  // Of equally generous sources the first wins, so the order must not depend on whether a follow-up is recorded yet.
  return inForce.sort((a, b) => a.startDate - b.startDate || (a.id < b.id ? -1 : 1))
}

/** The plans (refId) of the subscriptions that give access to the asked customer or resource. */
export const plansInForce = (holdings: Holdings, now: EpochMs): string[] => [
  ...new Set(subscriptionsInForce(holdings, now).map(({ plan }) => plan.refId)),
]

/** The budgets of the subscriptions that count for the asked customer or resource at `now`. */
export function budgetsAt(holdings: Holdings, now: EpochMs): RunningBudget[] {
  return holdings.budgets ? runningBudgets(subscriptionsAt(holdings, now), holdings.budgets) : []
}

/** Those that deny access. A new period has none before its usage is read anew, and then the state is made anew. */
function usedUpBudgets(holdings: Holdings, now: EpochMs): RunningBudget[] {
  return budgetsAt(holdings, now).filter((budget) => !budget.hasSoftLimit && isUsedUp(budget, holdings.budgets!.usage))
}

/** All subscriptions that count for the asked customer or resource, at their status at `now`. */
function subscriptionsAt(holdings: Holdings, now: EpochMs): Subscription[] {
  const { subscriptions } = advance(holdings.subscriptions, now)
  return subscriptions.filter(({ resource }) => resource === null || resource.id === holdings.resource?.id)
}

function promotionalInForce(holdings: Holdings, now: EpochMs): HeldPromotional[] {
  return holdings.promotional.filter(({ startDate, endDate }) => startDate <= now && (endDate === null || endDate > now))
}

/**
 * The next instant at which time alone may change who wins: a source that starts or ends, or whose budget is new again. A trial that converts keeps its access; its end is such an
 * instant only when another subscription ends with it.
 */
export function boundaryAfter(holdings: Holdings, now: EpochMs): EpochMs | null {
  const instants = holdings.promotional.flatMap(({ startDate, endDate }) => (endDate === null ? [startDate] : [startDate, endDate]))
  const subscriptions = subscriptionsAt(holdings, now)
  for (const subscription of subscriptions) {
    const due = nextChange(subscription)
    const changesNothing =
      convertsAt(subscription) !== null &&
      !subscriptions.some((other) => other !== subscription && replacementTrigger(other, subscription, 'ACTIVE'))
    if (due && !changesNothing) instants.push(due.at)
  }
  for (const { periodEnd } of usedUpBudgets(holdings, now)) instants.push(periodEnd)
  const future = instants.filter((at) => at > now)
  return future.length > 0 ? Math.min(...future) : null
}

function toWinner(grant: SourcedGrant, customer: NonNullable<Holdings['customer']>, nextBoundary: EpochMs | null, now: EpochMs): Winner {
  const { feature } = grant
  const isMetered = feature.meterType !== 'None'
  // Fluctuating usage has no period and is never reset, whatever a plan says.
  const { formerTimeZones: former = [], timeZone } = customer
  const rules = feature.meterType === 'Incremental' && grant.reset ? { ...grant.reset, anchor: grant.anchor, timeZone } : null
  const stretch = rules && former.length > 0 ? zoneStretchAt({ ...rules, former, at: now }) : null
  const reset = rules && { ...rules, timeZone: stretch?.timeZone ?? timeZone }
  // Where usage is never reset there is no period to cut: the reader has to fetch the new series.
  const restartsUnseen = feature.meterType === 'Incremental' && !reset ? grant.usageRestartsAt : null
  const boundaries = [nextBoundary, restartsUnseen, stretch?.until ?? null].filter((at) => at !== null)
  return {
    entitlement: {
      feature,
      ...(grant.displayNameOverride && { displayNameOverride: grant.displayNameOverride }),
      usageLimit: grant.usageLimit,
      hasUnlimitedUsage: grant.hasUnlimitedUsage,
      hasSoftLimit: grant.hasSoftLimit,
      enumValues: grant.enumValues,
      reset,
      usage: null,
      usageRestartsAt: reset ? grant.usageRestartsAt : null,
      deniedReason: grant.isRevoked ? 'Revoked' : grant.budgetUsedUp ? 'BudgetExceeded' : null,
      validUntil: boundaries.length > 0 ? Math.min(...boundaries) : null,
    },
    series: isMetered
      ? {
          customerId: customer.id,
          resourceId: grant.resourceId,
          featureId: feature.id,
          resetPeriod: reset?.period ?? null,
          resetRule: reset?.rule ?? null,
          anchor: feature.meterType === 'Incremental' ? grant.anchor : null,
          timeZone: reset?.timeZone ?? null,
        }
      : null,
    ...(stretch && { stretch: { from: stretch.from, until: stretch.until } }),
  }
}
