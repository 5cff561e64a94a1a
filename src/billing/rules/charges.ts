/** What a subscription is charged by: the prices of its plan and add-ons that hold for its buyer, with the agreed ones instead of theirs. Pure. */
import type { PackageVersion, Price } from '../../catalog/model/package.js'
import { currencyFor, pricesFor } from '../../catalog/model/price-choice.js'
import { isPerUnit, leastUnits, unitsGiven } from '../../catalog/model/units.js'
import * as decimal from '../../kernel/decimal.js'
import { round } from '../../kernel/money.js'
import type { Content, Line, LineType, PriceOverride, Terms } from './billing.js'
import { costOf } from './price.js'

export interface Charge {
  price: Price
  version: PackageVersion
  /** Units bought (of an add-on: of all that are held together), or how many of the add-on are held. Of usage: 0, it is known when the period has ended. */
  quantity: decimal.Decimal
  /** The price was agreed for this subscription only. */
  isAgreed: boolean
}

/** What decides which prices a content is charged by. */
export type SoldTerms = Pick<Terms, 'currency' | 'priceOverrides'>

/**
 * The currency that the plan is sold in to the customer: what is sold in another one is not charged, and that must not be the plan. Where nothing is to be
 * paid for the plan itself, that of its add-ons; null: there are no prices.
 */
export function currencyOf({ plan, addons, billingPeriod, billingCountryCode }: Content, customerCurrency: string | null): string | null {
  const currencyIn = (prices: readonly Price[]) => {
    const sold = prices.filter((price) => price.billingPeriod === billingPeriod)
    return currencyFor(sold, { currency: customerCurrency, countryCode: billingCountryCode })
  }
  return currencyIn(plan.prices) ?? currencyIn(addons.flatMap(({ version }) => version.prices))
}

/** In the order of the packages: the plan's, then the add-ons'. Nothing without a currency. */
export function chargesOf(content: Content, { currency, priceOverrides }: SoldTerms): { fixed: Charge[]; usage: Charge[] } {
  const fixed: Charge[] = []
  const usage: Charge[] = []
  const sold = [{ version: content.plan, quantity: 1 }, ...content.addons]
  const counted = new Set<string>()
  const overrides = new Map<string, PriceOverride[]>()
  for (const override of priceOverrides) {
    const others = overrides.get(whatIsReplaced(override))
    if (others) others.push(override)
    else overrides.set(whatIsReplaced(override), [override])
  }
  const chosen = new Map(content.quantities.map(({ featureId, quantity }) => [featureId, quantity]))
  for (const { version, quantity: held } of sold) {
    for (const listed of pricesIn(content, version, currency)) {
      const price = overridden(listed, overrides.get(whatIsSold(version, listed)))
      const charge = { price, version, isAgreed: price !== listed }
      if (price.billingModel === 'FLAT_FEE') fixed.push({ ...charge, quantity: decimal.fromNumber(held) })
      else if (price.billingModel === 'USAGE_BASED') usage.push({ ...charge, quantity: decimal.zero })
      // Units are bought once, whoever sells them too: the plan before its add-ons.
      else if (!counted.has(price.featureId!)) {
        counted.add(price.featureId!)
        // What was bought, else the least that can be.
        const units = chosen.get(price.featureId!) ?? leastUnits(price)
        fixed.push({ ...charge, quantity: held === 1 ? units : decimal.multiply(units, decimal.fromNumber(held)) })
      }
    }
  }
  return { fixed, usage }
}

function pricesIn(content: Content, version: PackageVersion, currency: string | null): Price[] {
  const buyer = { currency: currency as Price['currency'] | null, countryCode: content.billingCountryCode }
  const prices = pricesFor(version.prices, buyer, content.billingPeriod)
  // An invoice begins with what is due in any case.
  return [...prices.filter(isFlat), ...prices.filter((price) => !isFlat(price))]
}

const isFlat = ({ billingModel }: Price): boolean => billingModel === 'FLAT_FEE'

/** What is bought of a feature, and of which package. */
export interface Bought {
  versionId: string
  /** What may be used for it: with the whole of a block that is begun. */
  units: decimal.Decimal
}

/** By feature (our id), of everything that the content is charged for by the unit. */
export function boughtUnits(content: Content, terms: SoldTerms): Map<string, Bought> {
  const perUnit = chargesOf(content, terms).fixed.filter(({ price }) => isPerUnit(price))
  return new Map(
    perUnit.map(({ price, version, quantity }) => [price.featureId!, { versionId: version.id, units: unitsGiven(price, quantity) }]),
  )
}

/** `overrides`: those of what the price sells. */
function overridden(price: Price, overrides: readonly PriceOverride[] = []): Price {
  const own = overrides.find((override) => isIn(override, price.currency))
  if (!own) return price
  const tiersMode = own.tiers ? (price.tiersMode ?? 'GRADUATED') : null
  return { ...price, amount: own.tiers ? null : own.amount, tiers: own.tiers, tiersMode, blockSize: own.blockSize ?? price.blockSize }
}

const isIn = ({ currency: own = null }: PriceOverride, currency: string | null): boolean => own === null || own === currency

/** A feature, or the flat fee, of the plan or of an add-on. */
const nameOf = (addonRefId: string | null, featureRefId: string | null): string => JSON.stringify([addonRefId, featureRefId])
const whatIsReplaced = ({ addonRefId, featureRefId }: PriceOverride): string => nameOf(addonRefId, featureRefId)
const whatIsSold = ({ kind, refId }: PackageVersion, { featureRefId }: Price): string =>
  nameOf(kind === 'ADDON' ? refId : null, featureRefId)

/** Tells of overrides whether the content is charged by a price that they replace. */
export function overridingIn(content: Content, currency: string | null): (override: PriceOverride) => boolean {
  const versions = [content.plan, ...content.addons.map(({ version }) => version)]
  const sold = new Set(versions.flatMap((version) => pricesIn(content, version, currency).map((price) => whatIsSold(version, price))))
  return (override) => sold.has(whatIsReplaced(override)) && isIn(override, currency)
}

/** What an invoice says of the package that something is sold by. */
type Seller = Pick<PackageVersion, 'kind' | 'displayName'>

/** The line of a charge for a whole period, rounded once. */
export function lineOf({
  price,
  version,
  quantity,
}: Pick<Charge, 'price' | 'quantity'> & { version: Seller }): Omit<Line, 'period' | 'isProration'> {
  return {
    type: lineType(price, version),
    description: price.featureRefId === null ? version.displayName : `${version.displayName}: ${price.featureRefId}`,
    priceId: price.id,
    quantity,
    unitAmount: price.amount,
    amount: round(costOf(price, quantity), price.currency),
  }
}

function lineType(price: Price, version: Seller): LineType {
  if (price.tiers) return 'TierCharge'
  if (price.billingModel === 'USAGE_BASED') return 'PayAsYouGoCharge'
  if (price.billingModel === 'PER_UNIT') return 'InAdvanceCommitmentCharge'
  return version.kind === 'ADDON' ? 'AddonCharge' : 'BaseCharge'
}
