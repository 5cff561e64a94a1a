import { LRUCache } from 'lru-cache'
import type { CatalogSizes } from '../../../catalog/model/sizes.js'
import type { CatalogReader } from '../../../catalog/reader.js'

/** How long the lists of the schema are in a catalog, by type and field; undefined: that is not the catalog's to say. */
export type CatalogListSizes = (typeName: string, fieldName: string) => number | undefined

/** By environment. What they are for is an estimate, so they may be of a moment ago; after it one statement says whether the catalog is the same. */
export const keptListSizes = (offers: Pick<CatalogReader, 'sizes'>) =>
  new LRUCache<string, CatalogListSizes>({
    max: 1_000,
    ttl: 10_000,
    fetchMethod: async (environmentId) => catalogListSizes(await offers.sizes(environmentId)),
  })

export function catalogListSizes(sizes: CatalogSizes): CatalogListSizes {
  const known = sizesOf(sizes)
  return (typeName, fieldName) => known[typeName]?.[fieldName]
}

type Sizes = Readonly<Record<string, Readonly<Record<string, number>>>>

function sizesOf({ plans, billingPeriods, tiers, plan, addon }: CatalogSizes): Sizes {
  const ofPackage = ({ entitlements, prices }: CatalogSizes['plan'] | CatalogSizes['addon']) => ({
    entitlements,
    packageEntitlements: entitlements,
    prices,
  })
  return {
    Query: { getPaywall: plans },
    Paywall: { plans, paywallCalculatedPricePoints: plans * billingPeriods },
    Plan: {
      ...ofPackage(plan),
      compatibleAddons: plan.compatibleAddons,
      inheritedEntitlements: plan.inheritedEntitlements,
      inheritedPackageEntitlements: plan.inheritedEntitlements,
    },
    Addon: { ...ofPackage(addon), dependencies: addon.dependencies },
    Price: { tiers },
  }
}

const nothing: CatalogSizes = {
  plans: 0,
  billingPeriods: 0,
  plan: { entitlements: 0, prices: 0, compatibleAddons: 0, inheritedEntitlements: 0 },
  addon: { entitlements: 0, prices: 0, dependencies: 0 },
  tiers: 0,
}

/** The lists (`Type.field`) whose length is the catalog's to say. */
export const catalogLists: ReadonlySet<string> = new Set(
  Object.entries(sizesOf(nothing)).flatMap(([type, fields]) => Object.keys(fields).map((field) => `${type}.${field}`)),
)
