/** A product that is sold by the seat, whose downgrades and cancellations wait for the end of the billing period. */
export const seatsCatalog = (seatsOfPlus = 100, publish = 'NEW_CUSTOMERS') => `
features:
  - { refId: calls, type: NUMBER, meter: Incremental }
  - { refId: seats, type: NUMBER, meter: Fluctuating }
  - { refId: reports, type: BOOLEAN }
products:
  - refId: desk
    settings:
      endOfSubscription: DOWNGRADE_TO_FREE
      downgradePlan: solo
      downgradeTiming: END_OF_BILLING_PERIOD
      cancellationTiming: END_OF_BILLING_PERIOD
      multipleSubscriptions: true
plans:
  - refId: solo
    product: desk
    entitlements: [{ feature: calls, limit: 10, resetPeriod: MONTH }]
  - refId: plus
    product: desk
    publish: ${publish}
    compatibleAddons: [more, most]
    defaultTrial: { duration: 14, units: DAY }
    entitlements: [{ feature: calls, limit: 1000, resetPeriod: MONTH }, { feature: seats, limit: ${seatsOfPlus} }]
    prices:
      - { billingModel: PER_UNIT, billingPeriod: MONTHLY, currency: USD, amount: 10, feature: seats, minQuantity: 1, maxQuantity: 500 }
      - { billingModel: PER_UNIT, billingPeriod: ANNUALLY, currency: USD, amount: 100, feature: seats, minQuantity: 1, maxQuantity: 500 }
  - refId: max
    product: desk
    basePlan: plus
    compatibleAddons: [more, most]
    entitlements: [{ feature: reports }]
    prices:
      - { billingModel: PER_UNIT, billingPeriod: MONTHLY, currency: USD, amount: 20, feature: seats, minQuantity: 1, maxQuantity: 500 }
addons:
  - refId: more
    product: desk
    maxQuantity: 5
    entitlements: [{ feature: calls, limit: 500, behavior: Increment, resetPeriod: MONTH }]
  - refId: most
    product: desk
    dependencies: [more]
    entitlements: [{ feature: calls, limit: 5000, behavior: Increment, resetPeriod: MONTH }]
`;
//# sourceMappingURL=seats-catalog.js.map