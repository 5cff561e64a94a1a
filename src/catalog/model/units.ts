/**
 * What is sold by the unit. A package that has a PER_UNIT price for a feature sells it: who buys units of it may use as many.
 */
import * as decimal from '../../kernel/decimal.js'
import type { PackageEntitlement, PackageVersion, Price } from './package.js'

/** An entitlement as a version keeps it: its feature is added when the version is answered. */
type FrozenEntitlement = Omit<PackageEntitlement, 'feature'>

/** What is given for the units: a block that is begun is charged as a whole, and given as one. */
export function unitsGiven({ tiers, blockSize }: Pick<Price, 'tiers' | 'blockSize'>, units: decimal.Decimal): decimal.Decimal {
  if (tiers || blockSize === null) return units
  const size = decimal.fromNumber(blockSize)
  return decimal.multiply(decimal.divideToWhole(units, size, 'UP'), size)
}

/** What is bought of a price per unit where nobody says how many: the least that can be. */
export const leastUnits = ({ minUnitQuantity }: Pick<Price, 'minUnitQuantity'>): decimal.Decimal => decimal.fromNumber(minUnitQuantity ?? 1)

export const isPerUnit = ({ billingModel }: Pick<Price, 'billingModel'>): boolean => billingModel === 'PER_UNIT'

/**
 * The entitlements, and those that prices per unit imply: of a feature that is sold and not entitled to. They have no limit of their own, so they give
 * what is bought, and add to what is inherited. Each is known by the first of its prices.
 */
export function withImplied(
  entitlements: readonly FrozenEntitlement[],
  prices: readonly Omit<Price, 'unitTransformation'>[],
): FrozenEntitlement[] {
  const all = [...entitlements]
  const entitledTo = new Set(entitlements.map(({ featureId }) => featureId))
  for (const price of prices) {
    const { id, featureId } = price
    if (!isPerUnit(price) || featureId === null || entitledTo.has(featureId)) continue
    entitledTo.add(featureId)
    all.push({
      id,
      featureId,
      usageLimit: null,
      hasUnlimitedUsage: false,
      hasSoftLimit: false,
      enumValues: [],
      behavior: 'Increment',
      resetPeriod: null,
      resetRule: null,
      displayNameOverride: null,
      order: all.length,
    })
  }
  return all
}

/** Whether the version sells something by the unit. */
export const sellsUnits = ({ prices }: Pick<PackageVersion, 'prices'>): boolean => prices.some(isPerUnit)
