import type { EpochMs } from '../kernel/clock.js'
import type {
  BudgetWatch,
  EntitledSeries,
  HeldBudgets,
  HeldSeries,
  LoadHeldSeries,
  SeriesDecision,
} from '../metering/counting/held-series.js'
import type { SeriesPeriod, UsageSeries } from '../metering/model/series.js'
import type { PrismaClient } from '../platform/postgres.js'
import { inSnapshot } from '../platform/transaction.js'
import { askedOfBudgets, isUsedUp, usageOfBudgets } from './rules/budget.js'
import { budgetsAt, decideWinners, type Holdings, type Winner, winnerPeriodAt } from './rules/holdings.js'
import type { EntitlementService } from './service.js'

/** What holders hold, as counting asks for it. */
export function loadCounted(prisma: PrismaClient, entitlements: Pick<EntitlementService, 'holdings'>): LoadHeldSeries {
  return async (environmentId, holders) => {
    // One snapshot, so that version and facts belong together.
    const read = inSnapshot(prisma, (db) => entitlements.holdings(db, environmentId, holders))
    return (await read).map((holdings) => new CountedHoldings(holdings))
  }
}

class CountedHoldings implements HeldSeries {
  readonly budgets: HeldBudgets | null

  constructor(private readonly holdings: Holdings) {
    this.budgets = holdings.budgets ? new CountedBudgets(holdings, holdings.budgets) : null
  }

  get customer(): HeldSeries['customer'] {
    return this.holdings.customer
  }

  get resource(): HeldSeries['resource'] {
    return this.holdings.resource
  }

  get accessVersion(): EpochMs {
    return this.holdings.accessVersion
  }

  decideAt(at: EpochMs): SeriesDecision {
    const winners = decideWinners(this.holdings, at)
    const entitled = winners.flatMap((winner) => (winner.series ? [new CountedWinner(winner, winner.series)] : []))
    return { until: nextChangeAfter(this.holdings, winners, at), entitled }
  }
}

class CountedWinner implements EntitledSeries {
  constructor(
    private readonly winner: Winner,
    readonly series: UsageSeries,
  ) {}

  get feature(): EntitledSeries['feature'] {
    return this.winner.entitlement.feature
  }

  periodAt(at: EpochMs): SeriesPeriod {
    return winnerPeriodAt(this.winner, at)
  }
}

class CountedBudgets implements HeldBudgets {
  constructor(
    private readonly holdings: Holdings,
    private readonly facts: NonNullable<Holdings['budgets']>,
  ) {}

  seriesAt(at: EpochMs): UsageSeries[] {
    return budgetsAt(this.holdings, at).flatMap(({ charges }) => charges.map(({ series }) => series))
  }

  watchAt(at: EpochMs): BudgetWatch | null {
    const limiting = budgetsAt(this.holdings, at).filter(({ hasSoftLimit }) => !hasSoftLimit)
    if (limiting.length === 0) return null
    return {
      asked: askedOfBudgets(limiting),
      isCrossed: (read) => {
        const usage = usageOfBudgets(limiting, read)
        return limiting.some((budget) => isUsedUp(budget, usage) !== isUsedUp(budget, this.facts.usage))
      },
    }
  }
}

/** Any date of what is held may be a change: asking once too often is harmless. */
function nextChangeAfter({ subscriptions, promotional }: Holdings, winners: readonly Winner[], at: EpochMs): EpochMs {
  const dates = [
    ...subscriptions.flatMap(({ startDate, endDate, trialEndDate, effectiveEndDate, entitlementsRevokedAt }) => [
      startDate,
      endDate,
      trialEndDate,
      effectiveEndDate,
      entitlementsRevokedAt,
    ]),
    // Its budget is a new one then.
    ...subscriptions.map(({ budget, currentPeriod }) => (budget && currentPeriod ? currentPeriod.end : null)),
    ...promotional.flatMap(({ startDate, endDate }) => [startDate, endDate]),
    ...winners.flatMap(({ entitlement }) => [entitlement.usageRestartsAt, entitlement.validUntil]),
  ]
  return Math.min(Number.POSITIVE_INFINITY, ...dates.filter((date): date is EpochMs => date !== null && date > at))
}
