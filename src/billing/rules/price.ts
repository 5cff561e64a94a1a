/** What a quantity costs by one price of the catalog. Pure and exact: nothing is rounded here. */
import type { Price, PriceTier } from '../../catalog/model/package.js'
import * as decimal from '../../kernel/decimal.js'
import { type Exact, exactly, product } from '../../kernel/money.js'
import { toAnsweredUnits } from '../../metering/model/unit-transformation.js'

/**
 * The units that a price charges of the usage between two moments of a billing period, from what the period has come to until each of them: so that
 * parts of a period are the units of the whole. Usage below zero is none.
 */
export function unitsUsed(
  { unitTransformation }: Pick<Price, 'unitTransformation'>,
  { until, before = decimal.zero }: { until: decimal.Decimal; before?: decimal.Decimal },
): decimal.Decimal {
  const units = (usage: decimal.Decimal) => toAnsweredUnits(decimal.max(usage, decimal.zero), unitTransformation ?? null)
  return decimal.max(decimal.subtract(units(until), units(before)), decimal.zero)
}

/** For one billing period, before rounding. A quantity of 0 or less costs nothing, flat parts of tiers included. */
export function costOf(price: Pick<Price, 'amount' | 'tiers' | 'tiersMode' | 'blockSize'>, quantity: decimal.Decimal): Exact {
  if (decimal.compare(quantity, decimal.zero) <= 0) return 0n
  const { amount, tiers, tiersMode, blockSize } = price
  if (tiers) return tiersMode === 'VOLUME' ? volume(tiers, quantity) : graduated(tiers, decimal.toBillionths(quantity))
  if (amount === null) return 0n
  if (blockSize === null) return product(quantity, amount)
  return product(decimal.divideToWhole(quantity, decimal.fromNumber(blockSize), 'UP'), amount)
}

/**
 * Each part of the quantity (in billionths) at the price of the tier that it falls in. What is beyond the last tier costs what the last tier does.
 * In whole numbers throughout, which is twice as fast as in decimals: estimates spend most of their time here.
 */
function graduated(tiers: readonly PriceTier[], quantity: bigint): Exact {
  let cost = 0n
  let below = 0n
  for (const [index, { upTo, unitPrice, flatPrice }] of tiers.entries()) {
    if (quantity <= below) break
    const end = upTo === null || index === tiers.length - 1 ? quantity : decimal.toBillionths(upTo)
    const top = end < quantity ? end : quantity
    if (unitPrice !== null) cost += (top - below) * decimal.toBillionths(unitPrice)
    if (flatPrice !== null) cost += exactly(flatPrice)
    below = top
  }
  return cost
}

/** The whole quantity at the price of the tier that it reaches. */
function volume(tiers: readonly PriceTier[], quantity: decimal.Decimal): Exact {
  const tier = tiers.find(({ upTo }) => upTo === null || decimal.compare(quantity, upTo) <= 0) ?? tiers.at(-1)
  if (!tier) return 0n
  return (tier.unitPrice === null ? 0n : product(quantity, tier.unitPrice)) + (tier.flatPrice === null ? 0n : exactly(tier.flatPrice))
}

interface TierPart {
  tier: PriceTier
  /** Where the tier begins; its first unit is above it. */
  above: decimal.Decimal
  /** What of the quantity is charged by it. */
  quantity: decimal.Decimal
}

/** How a quantity falls on tiers: what `costOf` adds up. Nothing for a price without tiers, and for a quantity of 0. */
export function tierParts({ tiers, tiersMode }: Pick<Price, 'tiers' | 'tiersMode'>, quantity: decimal.Decimal): TierPart[] {
  const parts: TierPart[] = []
  let above = decimal.zero
  for (const [index, tier] of (tiers ?? []).entries()) {
    if (decimal.compare(quantity, above) <= 0) break
    const end = tier.upTo === null || index === tiers!.length - 1 ? null : tier.upTo
    const isReached = end === null || decimal.compare(quantity, end) <= 0
    if (tiersMode !== 'VOLUME') parts.push({ tier, above, quantity: decimal.subtract(isReached ? quantity : end, above) })
    else if (isReached) parts.push({ tier, above, quantity })
    if (isReached) break
    above = end
  }
  return parts
}
