import type { Clock, EpochMs } from '../kernel/clock.js'
import * as decimal from '../kernel/decimal.js'
import { readCurrentUsage } from '../metering/counting/current-usage.js'
import type { Db } from '../platform/postgres.js'
import { loadStateBasis } from './records/holdings.js'
import { spentOf } from './rules/budget.js'
import { buildState } from './rules/build-state.js'
import { budgetsAt, decideWinners, type Holdings, plansInForce, type Winner, winnerPeriodAt } from './rules/holdings.js'
import type { CustomerStandings, Standing } from './rules/standing.js'
import type { Entitlement } from './rules/state.js'
import type { EntitlementService } from './service.js'

/**
 * Where customers (refIds) stand, with their resources that have subscriptions of their own; unknown ones are left out. For many it takes as many statements as for
 * one. Needs a transaction that reads one snapshot, or holds the customers' state rows.
 */
export async function loadStandings(
  db: Db,
  { entitlements, clock }: { entitlements: Pick<EntitlementService, 'holdings'>; clock: Clock },
  environmentId: string,
  customerRefIds: readonly string[],
): Promise<CustomerStandings[]> {
  const { testClock } = await loadStateBasis(db, environmentId)
  const holders = customerRefIds.map((customerId) => ({ customerId, resourceId: null }))
  const found = (await entitlements.holdings(db, environmentId, holders)).filter(({ customer }) => customer !== null)
  const decided = found.map((holdings) => {
    const now = Math.max(clock.now(), holdings.version, testClock)
    return { holdings, now, holders: holdersOf(holdings).map((holder) => ({ holder, winners: decideWinners(holder, now) })) }
  })
  const asked = decided.flatMap(({ now, holders }) =>
    holders.flatMap(({ winners }) =>
      winners.flatMap((winner) => (winner.series ? [{ series: winner.series, period: winnerPeriodAt(winner, now), at: now }] : [])),
    ),
  )
  const usages = await readCurrentUsage(db, environmentId, asked)
  return decided.map(({ holdings, now, holders }) => ({
    customerId: holdings.customer!.id,
    customerRefId: holdings.customerRefId,
    isArchived: holdings.customer!.isArchived,
    now,
    holders: holders.map(({ holder, winners }) => {
      const held = buildState(holder, winners, usages, now).entitlements
      return {
        resource: holder.resource && { id: holder.resource.id, refId: holder.resourceRefId! },
        plans: plansInForce(holder, now),
        standings: [
          ...winners.flatMap((winner, index) => standingOf(holder, winner, held[index]!)),
          ...(holdings.customer!.isArchived ? [] : budgetStandings(holder, now)),
        ],
        entitlements: held.filter(({ deniedReason }) => deniedReason === null),
      }
    }),
  }))
}

/** The customer, and its resources with subscriptions of their own. */
function holdersOf(holdings: Holdings): Holdings[] {
  const resources = new Map(holdings.subscriptions.flatMap(({ resource }) => (resource ? [[resource.id, resource.refId] as const] : [])))
  return [holdings, ...[...resources].map(([id, refId]) => ({ ...holdings, resourceRefId: refId, resource: { id } }))]
}

/** Of a feature that is measured for this holder, and that it is not refused for good. */
function standingOf(holder: Holdings, { series }: Winner, entitlement: Entitlement): Standing[] {
  const { feature, usage, hasUnlimitedUsage, usageLimit, deniedReason } = entitlement
  if (!series || !usage || deniedReason === 'Revoked' || series.resourceId !== (holder.resource?.id ?? null)) return []
  return [
    {
      subject: { kind: 'FEATURE', id: feature.id, refId: feature.refId },
      usage: decimal.max(usage.currentUsage, decimal.zero),
      limit: hasUnlimitedUsage ? null : (usageLimit ?? decimal.zero),
      periodStart: usage.periodStart,
      periodEnd: usage.periodEnd,
    },
  ]
}

function budgetStandings(holder: Holdings, now: EpochMs): Standing[] {
  const own = new Map(
    holder.subscriptions
      .filter(({ resource }) => (resource?.id ?? null) === (holder.resource?.id ?? null))
      .map((subscription) => [subscription.id, subscription]),
  )
  return budgetsAt(holder, now).flatMap((budget) => {
    const subscription = own.get(budget.subscriptionId)
    if (!subscription) return []
    return [
      {
        subject: { kind: 'BUDGET' as const, id: subscription.id, refId: subscription.refId },
        usage: spentOf(budget, holder.budgets!.usage),
        limit: budget.limit,
        periodStart: budget.periodStart,
        periodEnd: budget.periodEnd,
      },
    ]
  })
}
