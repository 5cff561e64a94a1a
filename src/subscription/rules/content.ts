/** What a subscription holds beside its plan, and whether the plan sells it. Pure. */
import { type BillingPeriod, maxLimit, maxNumericValue, type PackageVersion, type Price } from '../../catalog/model/package.js'
import { isPerUnit, leastUnits, unitsGiven } from '../../catalog/model/units.js'
import * as decimal from '../../kernel/decimal.js'
import { invalidInput } from '../../kernel/problem.js'
import { addonRequires, incompatibleAddon } from './problems.js'
import type { HeldAddon, HeldQuantity, PlanContent, Subscription } from './subscription.js'

type Content = Pick<PlanContent, 'plan' | 'addons' | 'quantities'>

interface Seller {
  price: Price
  version: PackageVersion
  /** How many of the package are held. */
  held: number
}

/** By feature that is sold by the unit, in the plan or in one of the add-ons: the first price of a feature is the one that counts. */
function sellersOf({ plan, addons }: Pick<PlanContent, 'plan' | 'addons'>): ReadonlyMap<string, Seller> {
  const sellers = new Map<string, Seller>()
  for (const { version, quantity: held } of [{ version: plan, quantity: 1 }, ...addons]) {
    for (const price of version.prices.filter(isPerUnit))
      if (!sellers.has(price.featureId!)) sellers.set(price.featureId!, { price, version, held })
  }
  return sellers
}

/** The price per unit of a feature, in the plan or in one of the add-ons; null: it is not sold per unit. */
export function perUnitPrice({ plan, addons }: Pick<PlanContent, 'plan' | 'addons'>, featureId: string): Price | null {
  for (const { prices } of [plan, ...addons.map(({ version }) => version)]) {
    const price = prices.find((one) => isPerUnit(one) && one.featureId === featureId)
    if (price) return price
  }
  return null
}

/** How many units are bought of a feature that is sold per unit: what was chosen, else the least; null: it is not sold. */
export function boughtQuantity(content: Content, featureId: string): decimal.Decimal | null {
  const price = perUnitPrice(content, featureId)
  return price && (content.quantities.find((held) => held.featureId === featureId)?.quantity ?? leastUnits(price))
}

/** Of the quantities those that are sold, each within what may be bought: they were chosen when something else was sold. */
export function fittingQuantities({ plan, addons, quantities }: Content): HeldQuantity[] {
  const sellers = sellersOf({ plan, addons })
  return quantities.flatMap((held) => {
    const price = sellers.get(held.featureId)?.price
    if (!price) return []
    const { minUnitQuantity: least, maxUnitQuantity: most } = price
    const raised = least === null ? held.quantity : decimal.max(held.quantity, decimal.fromNumber(least))
    const isTooMuch = most !== null && decimal.compare(raised, decimal.fromNumber(most)) > 0
    return [{ ...held, quantity: isTooMuch ? decimal.fromNumber(most) : raised }]
  })
}

/** The feature of the only price per unit of the plan: what `unitQuantity` counts. */
export function onlyUnit(plan: PackageVersion): { featureId: string; featureRefId: string } {
  const units = new Map(
    plan.prices.flatMap(({ billingModel, featureId, featureRefId }) =>
      billingModel === 'PER_UNIT' && featureId && featureRefId ? [[featureId, featureRefId] as const] : [],
    ),
  )
  const [only, ...others] = units
  if (!only || others.length > 0)
    throw invalidInput(`Plan "${plan.refId}" has ${units.size} prices per unit: name the feature in billableFeatures.`, {
      path: 'unitQuantity',
    })
  return { featureId: only[0], featureRefId: only[1] }
}

/** Features (our ids) that the plan, an add-on or the subscription itself entitles to; not what the plan inherits. */
export function heldFeatureIds({ plan, addons, ownEntitlements }: Pick<Subscription, 'plan' | 'addons' | 'ownEntitlements'>): string[] {
  const sold = [plan, ...addons.map(({ version }) => version)].flatMap(({ entitlements }) => entitlements)
  return [...sold, ...ownEntitlements].map(({ featureId }) => featureId)
}

/** @throws Problem when the plan does not go with an add-on or a quantity, or an add-on lacks another one that it needs */
export function checkContent({ addons, plan, quantities }: Content): void {
  const compatible = new Set(plan.compatibleAddonIds)
  for (const { version, quantity } of addons) {
    if (!compatible.has(version.packageId)) throw incompatibleAddon(version.refId, plan.refId)
    if (!Number.isInteger(quantity) || quantity < 1)
      throw invalidInput(`The quantity of add-on "${version.refId}" must be a whole number above 0.`, { addonId: version.refId })
    if (version.maxQuantity !== null && quantity > version.maxQuantity)
      throw invalidInput(`Add-on "${version.refId}" can be held ${version.maxQuantity} times at most.`, {
        addonId: version.refId,
        maxQuantity: version.maxQuantity,
      })
  }
  const heldAddons = new Set(addons.map(({ version }) => version.refId))
  for (const { version } of addons) {
    const missing = version.dependencies.find((refId) => !heldAddons.has(refId))
    if (missing !== undefined) throw addonRequires(version.refId, missing)
  }
  const sellers = sellersOf({ plan, addons })
  for (const { featureId, featureRefId, quantity } of quantities) {
    const price = sellers.get(featureId)?.price
    if (!price) throw invalidInput(`Feature "${featureRefId}" is not sold per unit in plan "${plan.refId}".`, { featureId: featureRefId })
    const units = decimal.toNumber(quantity)
    if (units < (price.minUnitQuantity ?? 0) || units > (price.maxUnitQuantity ?? Number.POSITIVE_INFINITY))
      throw invalidInput(
        `The quantity of "${featureRefId}" must be from ${price.minUnitQuantity ?? 0} to ${price.maxUnitQuantity ?? 'any'}.`,
        { featureId: featureRefId },
      )
  }
  checkWhatIsGiven(sellers, quantities)
}

/** What is bought becomes a limit, so it must be one. */
function checkWhatIsGiven(sellers: ReadonlyMap<string, Seller>, quantities: readonly HeldQuantity[]): void {
  const chosen = new Map(quantities.map(({ featureId, quantity }) => [featureId, quantity]))
  const settings = new Map<PackageVersion, ReadonlySet<string>>()
  for (const [featureId, { price, version, held }] of sellers) {
    const units = chosen.get(featureId) ?? leastUnits(price)
    const given = decimal.toNumber(unitsGiven(price, decimal.multiply(units, decimal.fromNumber(held))))
    const settingsOf = settings.get(version) ?? settingsIn(version)
    settings.set(version, settingsOf)
    const isSetting = settingsOf.has(featureId)
    const most = isSetting ? maxNumericValue : maxLimit
    const refId = price.featureRefId!
    if (given > most) throw invalidInput(`At most ${most} of "${refId}" can be held.`, { featureId: refId })
    if (isSetting && !Number.isInteger(given))
      throw invalidInput(`The quantity of "${refId}" must be a whole number: it has no meter.`, { featureId: refId })
  }
}

/** Its features (our ids) that have no meter. */
const settingsIn = ({ entitlements }: PackageVersion): ReadonlySet<string> =>
  new Set(entitlements.flatMap(({ featureId, feature }) => (feature.meterType === 'None' ? [featureId] : [])))

/** The asked billing period, else the one that the plan is sold for (monthly when there are both). Null for a plan without prices. */
export function chooseBillingPeriod(plan: PackageVersion, asked: BillingPeriod | null): BillingPeriod | null {
  const sold = [...new Set(plan.prices.map((price) => price.billingPeriod))]
  if (sold.length === 0) return null
  if (asked === null) return sold.includes('MONTHLY') ? 'MONTHLY' : sold[0]!
  if (!sold.includes(asked))
    throw invalidInput(`Plan "${plan.refId}" is not sold ${asked}: choose ${sold.join(' or ')}.`, { path: 'billingPeriod' })
  return asked
}

/** Whether add-ons and quantities are the same, in any order. */
export function isSameContent(
  a: { addons: HeldAddon[]; quantities: HeldQuantity[] },
  b: { addons: HeldAddon[]; quantities: HeldQuantity[] },
): boolean {
  const content = ({ addons, quantities }: typeof a) =>
    [
      ...addons.map(({ version, quantity }) => `${version.packageId}:${quantity}`),
      ...quantities.map(({ featureId, quantity }) => `${featureId}:${quantity}`),
    ]
      .sort()
      .join()
  return content(a) === content(b)
}
