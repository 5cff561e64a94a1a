/** Nobody has a plan by itself here, so that nothing held is an answer too. */
export const catalog = {
  features: [
    { refId: 'sso', displayName: 'Single sign-on', type: 'BOOLEAN' },
    { refId: 'projects', displayName: 'Projects', type: 'NUMBER', units: 'project', unitsPlural: 'projects' },
    { refId: 'regions', displayName: 'Regions', type: 'ENUM', enumValues: ['eu', 'us', 'ap'] },
    { refId: 'calls', displayName: 'Calls', type: 'NUMBER', meter: 'Incremental', units: 'call', unitsPlural: 'calls' },
    { refId: 'storage', displayName: 'Storage', type: 'NUMBER', meter: 'Incremental', units: 'gigabyte', unitsPlural: 'gigabytes' },
    { refId: 'mails', displayName: 'Mails', type: 'NUMBER', meter: 'Incremental', units: 'mail', unitsPlural: 'mails' },
    { refId: 'seats', displayName: 'Seats', type: 'NUMBER', meter: 'Fluctuating', units: 'seat', unitsPlural: 'seats' },
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
  products: [{ refId: 'cloud', displayName: 'Cloud', settings: { multipleSubscriptions: true } }],
  plans: [
    {
      refId: 'basic',
      product: 'cloud',
      displayName: 'Basic',
      pricingType: 'FREE',
      entitlements: [
        { feature: 'projects', limit: 25 },
        { feature: 'regions', values: ['eu', 'us'] },
        { feature: 'calls', limit: 10, resetPeriod: 'MONTH' },
        { feature: 'storage', limit: 0.3, resetPeriod: 'MONTH' },
        { feature: 'mails', limit: 2, softLimit: true, resetPeriod: 'DAY' },
        { feature: 'seats', limit: 2 },
        { feature: 'tokens', limit: 100, resetPeriod: 'MONTH' },
      ],
    },
    {
      refId: 'large',
      product: 'cloud',
      displayName: 'Large',
      pricingType: 'FREE',
      entitlements: [
        { feature: 'sso' },
        { feature: 'projects', unlimited: true },
        { feature: 'calls', unlimited: true, resetPeriod: 'MONTH' },
        { feature: 'seats', limit: 3 },
      ],
    },
  ],
}
