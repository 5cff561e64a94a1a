import type { CatalogSizes } from '../../../catalog/model/sizes.js'

/** How long the lists of the schema are in a catalog of these sizes, by type and field; undefined: that is not the catalog's to say. */
export function catalogListSizes(sizes: CatalogSizes): (typeName: string, fieldName: string) => number | undefined {
  const { plans, billingPeriods, tiers } = sizes
  const ofPackage = ({ entitlements, prices }: CatalogSizes['plan'] | CatalogSizes['addon']) => ({
    entitlements,
    packageEntitlements: entitlements,
    prices,
  })
  const known: Readonly<Record<string, Readonly<Record<string, number>>>> = {
    Query: { getPaywall: plans },
    Paywall: { plans, paywallCalculatedPricePoints: plans * billingPeriods },
    Plan: {
      ...ofPackage(sizes.plan),
      compatibleAddons: sizes.plan.compatibleAddons,
      inheritedEntitlements: sizes.plan.inheritedEntitlements,
      inheritedPackageEntitlements: sizes.plan.inheritedEntitlements,
    },
    Addon: { ...ofPackage(sizes.addon), dependencies: sizes.addon.dependencies },
    Price: { tiers },
  }
  return (typeName, fieldName) => known[typeName]?.[fieldName]
}
