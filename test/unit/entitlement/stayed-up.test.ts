import { expect } from 'chai'
import fc from 'fast-check'
import { buildState } from '../../../src/entitlement/rules/build-state.js'
import { evaluate } from '../../../src/entitlement/rules/evaluate.js'
import { decideWinners, type Holdings, winnerPeriodAt } from '../../../src/entitlement/rules/holdings.js'
import type { EntitlementState } from '../../../src/entitlement/rules/state.js'
import * as decimal from '../../../src/kernel/decimal.js'
import { seriesKey } from '../../../src/metering/model/series.js'
import type { Usage } from '../../../src/metering/model/usage.js'
import { firstPeriod } from '../../../src/subscription/rules/billing-period.js'
import type { Subscription } from '../../../src/subscription/rules/subscription.js'
import { day, downgrading, entitled, feature, freePlan, hour, plan, price, product, subscription, t0 } from '../subscription/support.js'
import { holding } from './support.js'

/**
 * Everything is stopped at one instant and comes back later. A reader that stayed up goes on with the state that it had then: until that says that it
 * may not be true any more, its answers are those that the records would give.
 */
const calls = feature('calls', { meterType: 'Incremental' })
const limited = (refId: string, limit: number, amount: number) =>
  plan(refId, {
    pricingType: amount > 0 ? 'PAID' : 'FREE',
    entitlements: [entitled(calls, { limit, resetPeriod: 'WEEK', resetRule: 'SubscriptionStart' })],
    prices: amount > 0 ? [price({ amount: decimal.fromNumber(amount) })] : [],
  })
const [none, small, large] = [
  { ...limited('free', 1, 0), packageId: freePlan.packageId },
  limited('small', 10, 5),
  limited('large', 100, 50),
]
const rules = [product(), { ...downgrading, downgradePlan: none }, product({ usageOnPlanChange: 'NEVER_RESET' })]

const hoursFrom = (from: number, to: number) => fc.integer({ min: from, max: to }).map((hours) => t0 + hours * hour)
const anySubscription = fc
  .record({
    status: fc.constantFrom('NOT_STARTED', 'IN_TRIAL', 'ACTIVE'),
    plan: fc.constantFrom(none, small, large),
    startDate: hoursFrom(0, 24 * 10),
    trialHours: fc.integer({ min: 1, max: 400 }),
    trialEndBehavior: fc.constantFrom('CONVERT_TO_PAID' as const, 'CANCEL_SUBSCRIPTION' as const),
    endsAt: fc.option(hoursFrom(24 * 10, 24 * 30), { nil: null }),
    changesTo: fc.constantFrom(none, small, large),
    changesAt: fc.option(hoursFrom(24 * 10, 24 * 30), { nil: null }),
    startsLater: fc.integer({ min: 1, max: 24 * 20 }),
  })
  .map(({ status, trialHours, endsAt, changesTo, changesAt, startsLater, ...fields }) => {
    const startDate = status === 'NOT_STARTED' ? t0 + 10 * day + startsLater * hour : fields.startDate
    const one = subscription({ ...fields, startDate, id: status, status })
    const isActive = status === 'ACTIVE'
    const change = {
      type: 'Downgrade' as const,
      agreed: null,
      plan: changesTo,
      billingPeriod: changesTo.prices[0]?.billingPeriod ?? null,
      addons: [],
      quantities: [],
    }
    return {
      ...one,
      trialEndDate: status === 'IN_TRIAL' ? Math.max(t0 + 10 * day + trialHours * hour, startDate + hour) : null,
      currentPeriod: isActive ? firstPeriod(one, startDate) : null,
      effectiveEndDate: isActive ? endsAt : null,
      cancellationDate: isActive && endsAt !== null ? t0 : null,
      scheduled: isActive && changesAt !== null ? [{ id: 'waiting', executeAt: changesAt, change }] : [],
    }
  })
const anyHeld = fc
  .record({ held: fc.uniqueArray(anySubscription, { selector: ({ id }) => id, minLength: 1 }), rule: fc.constantFrom(...rules) })
  .map(({ held, rule }) => held.map((one): Subscription => ({ ...one, product: rule })))

const holdingsOf = (subscriptions: Subscription[], version: number): Holdings => holding({ subscriptions, version, accessVersion: version })

/** What the records say at an instant, after 4 calls that were reported while everything still ran, at `reportedAt`. */
function stateAt(subscriptions: Subscription[], at: number, reportedAt: number): EntitlementState {
  const holdings = holdingsOf(subscriptions, reportedAt)
  const winners = decideWinners(holdings, at)
  const usages = new Map<string, Usage>()
  for (const winner of winners) {
    const { start, end } = winnerPeriodAt(winner, at)
    const isCounted = winner.series!.anchor! <= reportedAt && (start === null || start <= reportedAt) && (end === null || reportedAt < end)
    const currentUsage = decimal.fromNumber(isCounted ? 4 : 0)
    usages.set(seriesKey(winner.series!), { currentUsage, periodStart: start, periodEnd: end, updatedAt: reportedAt })
  }
  return buildState(holdings, winners, usages, at)
}

function answer(state: EntitlementState, now: number) {
  const { granted, entitlement, ...decision } = evaluate({ state, featureId: 'calls', requestedUsage: decimal.fromNumber(1), now })
  return {
    granted,
    reason: 'reason' in decision ? decision.reason : null,
    limit: entitlement?.usageLimit,
    usage: entitlement?.usage?.currentUsage,
  }
}

/** What the reader goes on with: the state that it had, or what that says comes next. Null: it has to ask. */
function heldAt(kept: EntitlementState, now: number): EntitlementState | null {
  const until = [kept.validUntil, ...kept.entitlements.map(({ validUntil }) => validUntil)].filter((at) => at !== null && at !== undefined)
  const expiresAt = Math.min(...until)
  if (now < expiresAt) return kept
  const { next } = kept
  if (!next || next.validFrom !== expiresAt || (next.validUntil !== null && next.validUntil <= now)) return null
  if (next.unknownFeatureIds.includes('calls')) return null
  return { ...kept, ...next, next: null }
}

describe('a reader that stayed up while everything else was stopped', function () {
  this.timeout(10_000)

  it('answers as the records would, beyond the next instant at which time changes them', () => {
    let compared = 0
    let beyond = 0
    fc.assert(
      fc.property(anyHeld, fc.integer({ min: 0, max: 24 * 20 }), (held, hoursLater) => {
        const stoppedAt = t0 + 10 * day
        const kept = stateAt(held, stoppedAt, stoppedAt)
        const now = stoppedAt + hoursLater * hour
        const known = heldAt(kept, now)
        if (!known) return
        compared += 1
        if (known !== kept) beyond += 1
        expect(answer(known, now)).to.deep.equal(answer(stateAt(held, now, stoppedAt), now))
      }),
      { numRuns: 800 },
    )
    expect(compared).to.be.above(200)
    expect(beyond).to.be.above(100)
  })
})
