/** What is asked for in a sequence, and the catalog that it is asked of. */
import fc from 'fast-check'
import { type Plan, plans, type Rules } from './model.js'
import { type Outcome, prices, requestsPerUnit } from './model-money.js'

export const limits: Record<Plan, string> = { free: '1', basic: '10', top: '100', custom: '1000' }

export function catalogOf({ downgradesToFree, downgradesLater, cancelsLater, allowsSeveral, trialDays, trialConverts }: Rules): string {
  const later = (isLater: boolean) => (isLater ? 'END_OF_BILLING_PERIOD' : 'IMMEDIATE')
  const product = 'desk'
  const settings = {
    endOfSubscription: downgradesToFree ? 'DOWNGRADE_TO_FREE' : 'CANCEL_SUBSCRIPTION',
    ...(downgradesToFree && { downgradePlan: 'free' }),
    downgradeTiming: later(downgradesLater),
    cancellationTiming: later(cancelsLater),
    multipleSubscriptions: allowsSeveral,
  }
  const monthly = (billingModel: string, cents: number, more: object = {}) => {
    return { billingModel, billingPeriod: 'MONTHLY', currency: 'USD', amount: cents / 100, ...more }
  }
  const pricesOf = ({ flat, seat, unit }: (typeof prices)['basic']) => [
    monthly('FLAT_FEE', flat),
    monthly('PER_UNIT', seat, { feature: 'seats' }),
    monthly('USAGE_BASED', unit, { feature: 'requests' }),
  ]
  const endBehavior = trialConverts ? 'CONVERT_TO_PAID' : 'CANCEL_SUBSCRIPTION'
  const requested = { aggregation: 'COUNT', filters: [[{ field: 'eventName', operation: 'EQUALS', value: 'request' }]] }
  return JSON.stringify({
    features: [
      { refId: 'calls', type: 'NUMBER', meter: 'Incremental' },
      { refId: 'seats', type: 'NUMBER', meter: 'Fluctuating' },
      {
        refId: 'requests',
        type: 'NUMBER',
        meter: 'Incremental',
        events: requested,
        unitTransformation: { divide: requestsPerUnit, round: 'UP' },
      },
    ],
    products: [{ refId: product, settings }],
    plans: plans.map((refId) => ({
      refId,
      product,
      ...(trialDays[refId] !== null && { defaultTrial: { duration: trialDays[refId], units: 'DAY', endBehavior } }),
      ...(refId === 'custom' && { pricingType: 'CUSTOM' }),
      entitlements: [{ feature: 'calls', limit: Number(limits[refId]), resetPeriod: 'MONTH' }],
      prices: refId === 'basic' || refId === 'top' ? pricesOf(prices[refId]) : [],
    })),
    coupons: coupons.map(({ refId, percent, months }) => ({ refId, percentOff: percent, ...(months && { durationInMonths: months }) })),
  })
}

export const coupons = [
  { refId: 'third', percent: 33, months: null },
  { refId: 'half-once', percent: 50, months: 1 },
  { refId: 'fifth-twice', percent: 20, months: 2 },
  { refId: 'all-once', percent: 100, months: 1 },
]

export const anyRules: fc.Arbitrary<Rules> = fc.record({
  downgradesToFree: fc.boolean(),
  downgradesLater: fc.boolean(),
  cancelsLater: fc.boolean(),
  allowsSeveral: fc.boolean(),
  trialDays: fc.record({
    free: fc.constant(null),
    basic: fc.option(fc.integer({ min: 1, max: 40 }), { nil: null }),
    top: fc.option(fc.integer({ min: 1, max: 40 }), { nil: null }),
    custom: fc.constant(null),
  }),
  trialConverts: fc.boolean(),
})

/** Months and seconds alike; never none, because what ends at the instant at which it began never was. */
const anyJump = fc.oneof(
  fc.integer({ min: 1, max: 2_000 }),
  fc.integer({ min: 1, max: 400 }),
  fc.integer({ min: 20, max: 40 }).map((days) => days * 24),
)
const anyResource = fc.constantFrom(null, null, 'r1')
const anyStrategy = fc.constantFrom(null, null, 'IMMEDIATE' as const, 'END_OF_BILLING_PERIOD' as const)
const outcomes: Outcome[] = ['paid', 'failed', 'failed', 'failed, then paid', 'taken back', 'taken back, then paid', 'paid, then refunded']
const anyAction = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('provision' as const),
      plan: fc.constantFrom(...plans, 'basic' as const, 'top' as const),
      seats: fc.integer({ min: 1, max: 9 }),
      resource: anyResource,
      skipTrial: fc.boolean(),
      startInDays: fc.constantFrom(0, 0, 0, 0, 3, 50),
      strategy: anyStrategy,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('seats' as const),
      resource: anyResource,
      seats: fc.integer({ min: 1, max: 9 }),
      strategy: anyStrategy,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('cancel' as const),
      resource: anyResource,
      kind: fc.constantFrom('active' as const, 'active' as const, 'trial' as const, 'upcoming' as const),
      time: fc.constantFrom(null, 'IMMEDIATE' as const, 'END_OF_BILLING_PERIOD' as const),
      prorate: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('undo' as const), resource: anyResource }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('coupon' as const), coupon: fc.option(fc.nat(coupons.length - 1), { freq: 3 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('settle' as const), invoice: fc.nat(5), outcome: fc.constantFrom(...outcomes) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('wait' as const) }) },
)

export const anyCommand = fc.record({
  jumpHours: anyJump,
  /** Hours before the end of the jump: where time stops for who goes the same way in steps. */
  stops: fc.array(fc.nat(2_000), { maxLength: 3 }),
  isWorkerDown: fc.boolean(),
  requests: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 12 })),
  requestsOf: anyResource,
  /** Else those that were acknowledged go on waiting. */
  isCounted: fc.boolean(),
  action: anyAction,
})
export type Command = typeof anyCommand extends fc.Arbitrary<infer T> ? T : never
export type Action = Command['action']
