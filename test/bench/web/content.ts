/** What the `graphql` benchmarks work with. */

/** Twenty entitlements of all types. */
const features = Array.from({ length: 20 }, (_, index) => {
  const common = { refId: `feature-${index}`, displayName: `Feature ${index}` }
  if (index % 4 === 1) return { ...common, type: 'BOOLEAN' }
  if (index % 4 === 3) return { ...common, type: 'NUMBER' }
  return { ...common, type: 'NUMBER', meter: 'Incremental', units: 'call', unitsPlural: 'calls' }
})

const entitlementOf = ({ refId, type, ...feature }: { refId: string; type: string; meter?: string }) => {
  if (type === 'BOOLEAN') return { feature: refId }
  return feature.meter ? { feature: refId, limit: 1_000, resetPeriod: 'MONTH' } : { feature: refId, limit: 25 }
}

export const webCatalog = {
  features,
  products: [{ refId: 'cloud', displayName: 'Cloud' }],
  plans: [{ refId: 'big', product: 'cloud', displayName: 'Big', pricingType: 'FREE', entitlements: features.map(entitlementOf) }],
}

/** As deployed SDKs ask. */
export const entitlementQuery = `query Entitlement($query: FetchEntitlementQuery!) {
  entitlement(query: $query) {
    isGranted accessDeniedReason usageLimit hasUnlimitedUsage hasSoftLimit currentUsage requestedUsage resetPeriod
    usagePeriodAnchor usagePeriodStart usagePeriodEnd entitlementUpdatedAt usageUpdatedAt
    feature { refId displayName featureType meterType featureUnits featureUnitsPlural }
  }
}`
