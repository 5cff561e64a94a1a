/** What the platform sells while faults are injected: small limits to be held to, and large ones to count without an end. */
export const faultCatalog = {
  features: [
    { refId: 'calls', displayName: 'Calls', type: 'NUMBER', meter: 'Incremental', units: 'call', unitsPlural: 'calls' },
    {
      refId: 'tokens',
      displayName: 'Tokens',
      type: 'NUMBER',
      meter: 'Incremental',
      units: 'token',
      unitsPlural: 'tokens',
      events: { aggregation: 'SUM', field: 'tokens', filters: [[{ field: 'eventName', operation: 'EQUALS', value: 'completion' }]] },
    },
  ],
  products: [
    {
      refId: 'cloud',
      displayName: 'Cloud',
      settings: { endOfSubscription: 'DOWNGRADE_TO_FREE', downgradePlan: 'free' },
    },
  ],
  plans: [
    planOf('free', { calls: 5 }),
    planOf('small', { calls: 25 }),
    planOf('basic', { calls: 1_000_000, tokens: 1_000_000_000 }, 10),
    planOf('pro', { calls: 2_000_000, tokens: 2_000_000_000 }, 50),
  ],
}

/** Limits of calls, by plan. */
export const callLimits: Readonly<Record<string, number>> = { free: 5, small: 25, basic: 1_000_000, pro: 2_000_000 }

/** What the host application hears of: what can happen to a customer or a subscription of the load once, and usage that it is to be told of. */
export const hearings = [
  'customer.created',
  'subscription.created',
  'subscription.trial_started',
  'subscription.trial_ending_soon',
  'subscription.trial_converted',
  'subscription.trial_ended',
  'subscription.activated',
  'subscription.canceled',
  'subscription.expired',
  'usage.threshold_reached',
]

export interface AlertThreshold {
  /** SHARE: per cent of the limit. */
  kind: 'AMOUNT' | 'SHARE'
  value: number
}

const amounts = (...values: number[]) => values.map((value): AlertThreshold => ({ kind: 'AMOUNT', value }))

/** One alert a feature. Low ones are close to each other: something is to be told all the time, whatever a run comes to. */
export const alertThresholds: Readonly<Record<string, readonly AlertThreshold[]>> = {
  calls: [{ kind: 'SHARE', value: 80 }, ...amounts(1, 2, 5, 10, 15, 20, 30, 50, 80)],
  tokens: amounts(1, 5, 10, 20, 30, 45, 60, 90, 150, 300),
}

function planOf(refId: string, limits: Record<string, number>, amount?: number) {
  return {
    refId,
    product: 'cloud',
    displayName: refId,
    ...(amount === undefined
      ? { pricingType: 'FREE' }
      : { prices: [{ billingModel: 'FLAT_FEE', billingPeriod: 'MONTHLY', currency: 'USD', amount }] }),
    entitlements: Object.entries(limits).map(([feature, limit]) => ({ feature, limit, resetPeriod: 'MONTH' })),
  }
}
