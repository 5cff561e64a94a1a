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
