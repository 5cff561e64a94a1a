import { countGiven } from './inheritance.js'
import { billingPeriods, type PackageVersion } from './package.js'

/** How long the lists of a catalog are: of what is sold now, and on average where each record has one. Products of them are what nested lists come to. */
export interface CatalogSizes {
  /** Of the product that has the most. */
  plans: number
  billingPeriods: number
  plan: { entitlements: number; prices: number; compatibleAddons: number; inheritedEntitlements: number }
  addon: { entitlements: number; prices: number; dependencies: number }
  /** Of a price, without tiers too. */
  tiers: number
}

/** `versions` has them and what they inherit from. In steps of some of them. */
export function* catalogSizes(
  latest: readonly PackageVersion[],
  versions: ReadonlyMap<string, PackageVersion>,
): Generator<void, CatalogSizes> {
  const given = yield* countGiven(versions)
  const plansOf = new Map<string, number>()
  for (const { kind, productId } of latest) if (kind === 'PLAN') plansOf.set(productId, (plansOf.get(productId) ?? 0) + 1)
  const [plans, addons] = [latest.filter(({ kind }) => kind === 'PLAN'), latest.filter(({ kind }) => kind === 'ADDON')]
  return {
    plans: [...plansOf.values()].reduce((most, count) => Math.max(most, count), 0),
    billingPeriods: billingPeriods.length,
    plan: {
      entitlements: average(plans, ({ entitlements }) => entitlements.length),
      prices: average(plans, ({ prices }) => prices.length),
      compatibleAddons: average(plans, ({ compatibleAddonIds }) => compatibleAddonIds.length),
      inheritedEntitlements: average(plans, ({ basePlanVersionId }) => given.get(basePlanVersionId ?? '') ?? 0),
    },
    addon: {
      entitlements: average(addons, ({ entitlements }) => entitlements.length),
      prices: average(addons, ({ prices }) => prices.length),
      dependencies: average(addons, ({ dependencies }) => dependencies.length),
    },
    tiers: average(
      latest.flatMap(({ prices }) => prices),
      ({ tiers }) => tiers?.length ?? 0,
    ),
  }
}

function average<T>(all: readonly T[], lengthOf: (one: T) => number): number {
  return all.length === 0 ? 0 : all.reduce((sum, one) => sum + lengthOf(one), 0) / all.length
}
