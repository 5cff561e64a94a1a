/** Which prices of a package hold for a buyer: a package may quote several, per billing period, currency and country. */
import type { Currency } from './currency.js'
import type { BillingPeriod, Price } from './package.js'

export interface Buyer {
  /** The currency that the customer is charged in; null: none yet. */
  currency: string | null
  /** ISO 3166-1 alpha-2; null: unknown. */
  countryCode: string | null
}

/** What currency a buyer sees when nothing else decides and it is quoted. */
const preferredCurrency: Currency = 'USD'

/**
 * The customer's own currency where prices are quoted in it, else that of the country's own prices, else US dollars, else the first one quoted.
 * Null: there are no prices.
 */
export function currencyFor(prices: readonly Price[], { currency, countryCode }: Buyer): Currency | null {
  const anywhere = prices.filter((price) => price.billingCountryCode === null || price.billingCountryCode === countryCode)
  const own = anywhere.find((price) => price.currency === currency)
  const local = countryCode === null ? undefined : anywhere.find((price) => price.billingCountryCode === countryCode)
  const preferred = anywhere.find((price) => price.currency === preferredCurrency)
  return (own ?? local ?? preferred ?? anywhere[0])?.currency ?? null
}

/** In one currency; of two prices of the same thing the country's own wins. In the order of the package. */
export function pricesFor(
  prices: readonly Price[],
  buyer: Buyer & { currency: Currency | null },
  billingPeriod: BillingPeriod | null,
): Price[] {
  const quoted = prices.filter((price) => {
    const isHere = price.billingCountryCode === null || price.billingCountryCode === buyer.countryCode
    return isHere && price.currency === buyer.currency && (billingPeriod === null || price.billingPeriod === billingPeriod)
  })
  const local = new Set(quoted.flatMap((price) => (price.billingCountryCode === null ? [] : [thingOf(price)])))
  return quoted.filter((price) => price.billingCountryCode !== null || !local.has(thingOf(price)))
}

/** What is sold by a price, whatever it costs where. */
const thingOf = ({ billingModel, billingPeriod, featureId }: Price): string => `${billingModel} ${billingPeriod} ${featureId}`
