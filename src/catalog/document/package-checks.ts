/** Whether the entitlements and prices of a plan or add-on fit the features they name. */
import * as decimal from '../../kernel/decimal.js'
import { type Suggestions, shortened } from '../../kernel/nearest.js'
import { type ResetPeriod, resetRules } from '../../metering/model/usage-period.js'
import { maxNumericValue, type PriceTier } from '../model/package.js'
import type { EntitlementDefinition, FeatureDefinition, PriceDefinition } from './document.js'
import { checkDistinct, type Index, type Report } from './located.js'
import { priceKey } from './normalise.js'

/** `entitlements` is null where one could not be read. `prices` are those of the same package. */
export function checkEntitlements(
  entitlements: (EntitlementDefinition | null)[],
  prices: (PriceDefinition | null)[],
  path: string,
  features: Index<FeatureDefinition>,
  report: Report,
): void {
  const pathOf = new Map<string, string>()
  const sold = new Set(prices.map((price) => (price?.billingModel === 'PER_UNIT' ? price.feature : null)))
  // One that could not be read may be what sells it.
  const mayBeSold = prices.includes(null)
  for (const [position, entitlement] of entitlements.entries()) {
    if (entitlement === null) continue
    const inner = `${path}[${position}]`
    const first = pathOf.get(entitlement.feature)
    if (first) report(`${inner}.feature`, `'${shortened(entitlement.feature)}' has an entitlement already, at ${first}`)
    else pathOf.set(entitlement.feature, inner)
    checkResetRule(entitlement, `${inner}.resetRule`, report)
    const feature = features.find(entitlement.feature, `${inner}.feature`, report)
    if (!feature) continue
    const isSold = mayBeSold || sold.has(feature.refId)
    checkEntitlement(entitlement, feature, { isSold, path: inner, report, suggestions: features.suggestions })
  }
}

function checkEntitlement(
  entitlement: EntitlementDefinition,
  feature: FeatureDefinition,
  { isSold, path, report, suggestions }: { isSold: boolean; path: string; report: Report; suggestions: Suggestions },
): void {
  const { limit, unlimited, softLimit, values } = entitlement
  if (feature.type === 'NUMBER') {
    if (limit === null && !unlimited && !isSold)
      report(path, `needs limit or unlimited, as '${feature.refId}' is a NUMBER and no PER_UNIT price sells it here`)
    if (limit !== null && unlimited) report(`${path}.limit`, 'contradicts unlimited: true')
    if (softLimit && unlimited) report(`${path}.softLimit`, 'contradicts unlimited: true')
    if (softLimit && feature.meter === 'None')
      report(`${path}.softLimit`, `'${feature.refId}' has no meter, so nothing can exceed its limit`)
    if (limit !== null && feature.meter === 'None' && !(Number.isInteger(Number(limit)) && Number(limit) <= maxNumericValue)) {
      report(`${path}.limit`, `must be a whole number up to ${maxNumericValue}, as '${feature.refId}' has no meter`)
    }
  } else {
    const message = `'${feature.refId}' is a ${feature.type}, which has no limit`
    if (limit !== null) report(`${path}.limit`, message)
    if (unlimited) report(`${path}.unlimited`, message)
    if (softLimit) report(`${path}.softLimit`, message)
  }
  checkValues(values, feature, { path: `${path}.values`, report, suggestions })
  checkReset(entitlement.resetPeriod, feature, `${path}.resetPeriod`, report)
}

/** More values than these are not listed in a message. */
const maxShownValues = 20

function checkValues(
  values: string[],
  { refId, type, enumValues }: FeatureDefinition,
  { path, report, suggestions }: { path: string; report: Report; suggestions: Suggestions },
): void {
  if (type !== 'ENUM') {
    if (values.length > 0) report(path, `'${refId}' is a ${type}, which has no values`)
    return
  }
  if (values.length === 0) {
    const more = enumValues.length > maxShownValues ? ', …' : ''
    report(path, `is required: some of ${enumValues.slice(0, maxShownValues).join(', ')}${more}`)
    return
  }
  const known = new Set(enumValues)
  for (const [position, value] of values.entries()) {
    if (!known.has(value))
      report(`${path}[${position}]`, `'${shortened(value)}' is not a value of '${refId}'${suggestions.of(value, enumValues)}`)
  }
  checkDistinct(values, path, report)
}

function checkReset(resetPeriod: ResetPeriod | null, feature: FeatureDefinition, path: string, report: Report): void {
  if (resetPeriod === null) return
  if (feature.meter === 'Fluctuating') report(path, `'${feature.refId}' is Fluctuating: its usage goes up and down and is never reset`)
  if (feature.meter === 'None') report(path, `'${feature.refId}' has no meter, so there is no usage to reset`)
}

function checkResetRule({ resetPeriod, resetRule }: EntitlementDefinition, path: string, report: Report): void {
  if (resetRule === null) return
  const rules = resetPeriod === null ? null : resetRules[resetPeriod]
  if (rules === null) report(path, 'needs a resetPeriod')
  else if (!rules.includes(resetRule)) report(path, `must be one of ${rules.join(', ')} with ${resetPeriod}`)
}

/** `prices` is null where one could not be read. */
export function checkPrices(prices: (PriceDefinition | null)[], path: string, features: Index<FeatureDefinition>, report: Report): void {
  const pathOf = new Map<string, string>()
  for (const [position, price] of prices.entries()) {
    if (price === null) continue
    const inner = `${path}[${position}]`
    const key = priceKey(price)
    const first = pathOf.get(key)
    if (first) report(inner, `is the same as ${first}: one price per feature, billing period, currency and country`)
    else pathOf.set(key, inner)
    checkPrice(price, inner, features, report)
  }
}

function checkPrice(price: PriceDefinition, path: string, features: Index<FeatureDefinition>, report: Report): void {
  const { billingModel, amount, tiers, tiersMode, minQuantity, maxQuantity } = price
  const refuse = (keys: ('feature' | 'tiers' | 'tiersMode' | 'blockSize' | 'minQuantity' | 'maxQuantity')[]) => {
    for (const key of keys) if (price[key] !== null) report(`${path}.${key}`, `does not go with ${billingModel}`)
  }
  if (billingModel === 'FLAT_FEE') {
    refuse(['feature', 'tiers', 'tiersMode', 'blockSize', 'minQuantity', 'maxQuantity'])
    if (amount === null) report(`${path}.amount`, 'is required')
    return
  }
  if (billingModel === 'USAGE_BASED') refuse(['minQuantity', 'maxQuantity'])
  if (price.feature === null) {
    report(`${path}.feature`, `is required with ${billingModel}: what is counted`)
  } else {
    const feature = features.find(price.feature, `${path}.feature`, report)
    if (feature && feature.type !== 'NUMBER') report(`${path}.feature`, `'${feature.refId}' is a ${feature.type}, which cannot be counted`)
    else if (feature?.meter === 'None' && billingModel === 'USAGE_BASED')
      report(`${path}.feature`, `'${feature.refId}' has no meter, so its usage is not known`)
    else if (feature?.meter === 'None') checkUnits(price, feature, path, report)
  }
  if ((amount === null) === (tiers === null)) report(path, 'needs exactly one of amount and tiers')
  if (tiers !== null && price.blockSize !== null) report(`${path}.blockSize`, 'does not go with tiers')
  if (tiers === null && tiersMode !== null) report(`${path}.tiersMode`, 'needs tiers')
  if (tiers !== null && tiersMode === null) report(`${path}.tiersMode`, 'is required with tiers: GRADUATED or VOLUME')
  if (tiers !== null) checkTiers(tiers, `${path}.tiers`, report)
  if (minQuantity !== null && maxQuantity !== null && minQuantity > maxQuantity)
    report(`${path}.maxQuantity`, 'must be at least minQuantity')
}

/** What is bought is the value, which has to be one. */
function checkUnits(price: PriceDefinition, feature: FeatureDefinition, path: string, report: Report): void {
  for (const key of ['blockSize', 'minQuantity', 'maxQuantity'] as const) {
    if ((price[key] ?? 0) > maxNumericValue)
      report(`${path}.${key}`, `must be at most ${maxNumericValue}, as '${feature.refId}' has no meter`)
  }
}

export function checkTiers(tiers: readonly PriceTier[], path: string, report: Report): void {
  if (tiers.length === 0) report(path, 'must not be empty')
  let previous: decimal.Decimal = decimal.zero
  for (const [position, { upTo, unitPrice, flatPrice }] of tiers.entries()) {
    const inner = `${path}[${position}]`
    const isLast = position === tiers.length - 1
    if (unitPrice === null && flatPrice === null) report(inner, 'needs unitPrice, flatPrice or both')
    if (isLast && upTo !== null) report(`${inner}.upTo`, 'must be left out in the last tier, which has no end')
    if (!isLast && upTo === null) report(`${inner}.upTo`, 'is required in every tier but the last')
    if (upTo === null) continue
    if (decimal.compare(upTo, previous) <= 0) report(`${inner}.upTo`, `must be above ${previous}, where the tier before ends`)
    previous = upTo
  }
}
