/** The one form of a catalog: two documents that mean the same are equal, whatever order they were written in. */
import type { AddonDefinition, CatalogDocument, MetaData, MeterDefinition, PlanDefinition, PriceDefinition } from './document.js'

/**
 * The document with every list whose order says nothing in a fixed order: definitions by refId, prices by what they are for, names,
 * and held values alphabetically. The order of entitlements and of an ENUM's values is how they are displayed and stays, and so does that of a
 * coupon's amounts: the first is the one that clients are shown who know of one.
 * Normalising twice changes nothing.
 */
export function normalise(document: CatalogDocument): CatalogDocument {
  return {
    features: sortBy(document.features, refIdOf).map((feature) => ({
      ...normaliseMeta(feature),
      events: sortKeys(feature.events) as MeterDefinition | null,
    })),
    products: sortBy(document.products, refIdOf).map(normaliseMeta),
    plans: sortBy(document.plans, refIdOf).map((plan) => ({
      ...normalisePackage(plan),
      compatibleAddons: [...plan.compatibleAddons].sort(),
    })),
    addons: sortBy(document.addons, refIdOf).map((addon) => ({ ...normalisePackage(addon), dependencies: [...addon.dependencies].sort() })),
    coupons: sortBy(document.coupons, refIdOf).map(normaliseMeta),
  }
}

/** Null when there is nothing; else with the keys of every map in order, as PostgreSQL's jsonb keeps none. */
export function normaliseMetaData(metaData: MetaData): MetaData {
  return metaData === null || Object.keys(metaData).length === 0 ? null : (sortKeys(metaData) as MetaData)
}

/** JSON as it reads back from a database: the keys of every map in order, and no negative zero. */
export function sortKeys(value: unknown): unknown {
  if (value === 0) return 0
  if (Array.isArray(value)) return value.map(sortKeys)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(sortBy(Object.entries(value), ([key]) => key).map(([key, inner]) => [key, sortKeys(inner)]))
}

/**
 * What is in force once `wanted` is applied without archiving what it leaves out: the definitions of `wanted`, and those of `current`
 * that it does not name. Normalised.
 */
export function overlay(current: CatalogDocument, wanted: CatalogDocument): CatalogDocument {
  return normalise({
    features: addMissing(wanted.features, current.features),
    products: addMissing(wanted.products, current.products),
    plans: addMissing(wanted.plans, current.plans),
    addons: addMissing(wanted.addons, current.addons),
    coupons: addMissing(wanted.coupons, current.coupons),
  })
}

/** `items`, and those of `others` whose refId none of them has. */
export function addMissing<T extends { refId: string | null }>(items: T[], others: T[]): T[] {
  const named = new Set(items.map(({ refId }) => refId))
  return [...items, ...others.filter((item) => !named.has(item.refId))]
}

/** What a price is for, as text; no two prices of a package have the same. */
export function priceKey({ feature, billingPeriod, currency, country }: PriceDefinition): string {
  const subject = feature === null ? 'flat' : JSON.stringify(feature)
  return [subject, billingPeriod, currency, country].filter((part) => part !== null).join(' ')
}

function normalisePackage<T extends PlanDefinition | AddonDefinition>(item: T): T {
  return {
    ...normaliseMeta(item),
    entitlements: item.entitlements.map((entitlement) => ({ ...entitlement, values: [...entitlement.values].sort() })),
    prices: sortBy(item.prices, priceKey),
  }
}

const normaliseMeta = <T extends { additionalMetaData: MetaData }>(item: T): T => ({
  ...item,
  additionalMetaData: normaliseMetaData(item.additionalMetaData),
})

const refIdOf = ({ refId }: { refId: string }) => refId

/** By code units, so that the order is the same on every machine. */
function sortBy<T>(items: readonly T[], key: (item: T) => string): T[] {
  return [...items].sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0))
}
