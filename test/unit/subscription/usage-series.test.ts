import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import type { ProductRules } from '../../../src/catalog/model/product.js'
import { decideWinners, type Holdings, winnerPeriodAt } from '../../../src/entitlement/rules/holdings.js'
import * as decimal from '../../../src/kernel/decimal.js'
import { seriesKey } from '../../../src/metering/model/series.js'
import { advance } from '../../../src/subscription/rules/advance.js'
import { decideProvision } from '../../../src/subscription/rules/provision.js'
import type { Subscription } from '../../../src/subscription/rules/subscription.js'
import { decideMigration, decideUpdate } from '../../../src/subscription/rules/update.js'
import { day, entitled, feature, plan, price, product, request, subscription, t0, trial } from './support.js'

/** What becomes of the usage series: the table of the metering README, a row per `it`. */
const now = t0 + 5 * day
const periodEnd = Date.parse('2026-04-01T00:00:00Z')
const calls = feature('calls', { meterType: 'Incremental' })
const limited = (refId: string, limit: number, amount: number) =>
  plan(refId, {
    entitlements: [entitled(calls, { limit, resetPeriod: 'MONTH', resetRule: 'SubscriptionStart' })],
    prices: [price({ amount: decimal.fromNumber(amount) }), price({ amount: decimal.fromNumber(amount * 10), billingPeriod: 'ANNUALLY' })],
  })
const small = limited('small', 10, 5)
const large = limited('large', 100, 50)
const settings = ['ALWAYS_RESET', 'NEVER_RESET', 'BILLING_PERIOD_CHANGE'] as const
type Setting = (typeof settings)[number]

const current = (setting: Setting, fields: Partial<Subscription> = {}, rules: Partial<ProductRules> = {}) =>
  subscription({
    plan: small,
    product: product({ usageOnPlanChange: setting, downgradeTiming: 'END_OF_BILLING_PERIOD', ...rules }),
    currentPeriod: { start: t0, end: periodEnd },
    ...fields,
  })

function winnerOf(subscriptions: Subscription[], at: number, customer: Partial<NonNullable<Holdings['customer']>> = {}) {
  const [winner] = decideWinners(
    {
      environmentId: 'environment',
      customerRefId: 'acme',
      resourceRefId: null,
      customer: { id: 'customer', timeZone: 'UTC', isArchived: false, ...customer },
      resource: null,
      version: at,
      accessVersion: at,
      subscriptions,
      promotional: [],
      features: new Map(),
      basePlans: new Map(),
    },
    at,
  )
  return winner!
}
const keyAt = (subscriptions: Subscription[], at: number) => seriesKey(winnerOf(subscriptions, at).series!)
/** "goes on": the same series before and after; "restarts": a new one that begins at the change. */
function outcome(before: Subscription[], after: Subscription[], at: number): 'goes on' | 'restarts' {
  if (keyAt(before, at - 1) === keyAt(after, at)) return 'goes on'
  expect(winnerOf(after, at).series!.anchor).to.equal(at)
  return 'restarts'
}

const provision = (one: Subscription, fields: Parameters<typeof request>[0]) => {
  const decision = decideProvision({ request: request({ product: one.product, ...fields }), held: [one], isTrialUsed: true, now })
  return [decision.subscription]
}

/** By setting, in the order of `settings`. */
const rows: [
  what: string,
  expected: string[],
  change: (setting: Setting) => [before: Subscription[], after: Subscription[], at: number],
][] = [
  [
    'upgrade, at once',
    ['restarts', 'goes on', 'goes on'],
    (setting) => [[current(setting)], provision(current(setting), { plan: large }), now],
  ],
  [
    'upgrade with another billing period',
    ['restarts', 'goes on', 'restarts'],
    (setting) => [[current(setting)], provision(current(setting), { plan: large, billingPeriod: 'ANNUALLY' }), now],
  ],
  [
    'downgrade at the end of the billing period',
    ['restarts', 'goes on', 'goes on'],
    (setting) => {
      const before = [current(setting, { plan: large })]
      return [before, advance(provision(before[0]!, { plan: small }), periodEnd).subscriptions, periodEnd]
    },
  ],
  [
    'trial that converts',
    ['restarts', 'restarts', 'restarts'],
    (setting) => {
      const one = trial({ plan: small, product: product({ usageOnPlanChange: setting }) })
      return [[one], advance([one], t0 + 14 * day).subscriptions, t0 + 14 * day]
    },
  ],
  [
    'the plan of a running trial is bought',
    ['restarts', 'restarts', 'restarts'],
    (setting) => {
      const one = trial({ plan: small, product: product({ usageOnPlanChange: setting }) })
      return [[one], provision(one, { plan: small }), now]
    },
  ],
  [
    'another billing period of the same plan',
    ['goes on', 'goes on', 'goes on'],
    (setting) => [[current(setting)], [decideUpdate({ subscription: current(setting), update: { billingPeriod: 'ANNUALLY' }, now })], now],
  ],
  [
    'migration to the latest version',
    ['goes on', 'goes on', 'goes on'],
    (setting) => {
      const latest = { plan: { ...small, id: 'small-v2', versionNumber: 2 }, addons: new Map() }
      return [[current(setting)], [decideMigration({ subscription: current(setting), latest, time: 'IMMEDIATE', now })], now]
    },
  ],
  [
    'renewal',
    ['goes on', 'goes on', 'goes on'],
    (setting) => [[current(setting)], advance([current(setting)], periodEnd).subscriptions, periodEnd],
  ],
  [
    'the end, and the free plan that follows',
    ['restarts', 'goes on', 'restarts'],
    (setting) => {
      const free = { ...limited('free', 1, 0), pricingType: 'FREE' as const, prices: [] }
      const one = current(
        setting,
        { cancellationDate: t0, effectiveEndDate: now },
        { endSetting: 'DOWNGRADE_TO_FREE', downgradePlan: free },
      )
      return [[one], advance([one], now).subscriptions, now]
    },
  ],
]

describe('usage series', () => {
  for (const [what, expected, change] of rows) {
    for (const [index, setting] of settings.entries()) {
      it(`${what}, ${setting}: usage ${expected[index]}`, () => expect(outcome(...change(setting))).to.equal(expected[index]))
    }
  }

  it('new time zone: usage goes on to the end of its period, and begins anew there in the new zone', () => {
    const customer = { timeZone: 'America/New_York', formerTimeZones: [{ timeZone: 'UTC', until: now }] }
    const before = winnerOf([current('ALWAYS_RESET')], now)
    const pending = winnerOf([current('ALWAYS_RESET')], now + 1, customer)
    expect(seriesKey(pending.series!)).to.equal(seriesKey(before.series!))
    expect(pending.entitlement.validUntil).to.equal(periodEnd)
    const after = winnerOf([current('ALWAYS_RESET')], periodEnd, customer)
    expect(after.series!.timeZone).to.equal('America/New_York')
    // 19:00 of the last day of February in New York is the anchor: March 31, 19:00 there is 23:00 in UTC, an hour too early.
    expect(winnerPeriodAt(after, periodEnd).start).to.equal(periodEnd)
  })

  it('is written so in the metering README', () => {
    const readme = readFileSync('src/metering/README.md', 'utf8')
    for (const [what, expected] of rows) expect(readme.replaceAll(/ +/g, ' ')).to.include(`| ${what} | ${expected.join(' | ')} |`)
    expect(readme).to.include('| new time zone')
  })
})
