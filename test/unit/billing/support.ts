import type { Content, Standing, Terms } from '../../../src/billing/rules/billing.js'
import type { PackageVersion, Price } from '../../../src/catalog/model/package.js'
import * as decimal from '../../../src/kernel/decimal.js'

export const d = (value: number | string): decimal.Decimal => decimal.fromText(String(value))

let lastId = 0

export function price(given: Partial<Price> = {}): Price {
  const featureRefId = given.featureRefId ?? null
  return {
    id: `price-${++lastId}`,
    billingModel: featureRefId === null ? 'FLAT_FEE' : 'PER_UNIT',
    billingPeriod: 'MONTHLY',
    currency: 'USD',
    billingCountryCode: null,
    amount: given.tiers ? null : d(10),
    featureId: featureRefId && `id of ${featureRefId}`,
    featureRefId,
    unitTransformation: null,
    tiersMode: given.tiers ? 'GRADUATED' : null,
    tiers: null,
    blockSize: null,
    minUnitQuantity: null,
    maxUnitQuantity: null,
    ...given,
  }
}

export function version(refId: string, prices: Price[], kind: PackageVersion['kind'] = 'PLAN'): PackageVersion {
  return {
    id: `version of ${refId}`,
    packageId: `package ${refId}`,
    refId,
    kind,
    versionNumber: 1,
    productId: 'product',
    productRefId: 'product',
    displayName: refId,
    description: null,
    pricingType: prices.length > 0 ? 'PAID' : 'FREE',
    basePlanVersionId: null,
    trial: null,
    maxQuantity: null,
    entitlements: [],
    prices,
    additionalMetaData: null,
    compatibleAddonIds: [],
    dependencies: [],
  } as PackageVersion
}

export function content(prices: Price[], given: Partial<Content> = {}): Content {
  return { plan: version('plan', prices), addons: [], quantities: [], billingPeriod: 'MONTHLY', billingCountryCode: null, ...given }
}

export function terms(given: Partial<Terms> = {}): Terms {
  return {
    currency: 'USD',
    collectionMethod: 'INVOICE',
    discount: null,
    priceOverrides: [],
    minimumSpend: null,
    taxPercentage: null,
    awaitsPayment: true,
    ...given,
  }
}

export const percentOff = (percent: number | string): NonNullable<Terms['discount']> => ({
  source: 'subscriptionCoupon',
  couponId: 'coupon',
  name: null,
  percentOff: d(percent),
  amountsOff: null,
  startDate: 0,
  durationInMonths: null,
})

export const amountOff = (amount: number | string, currency = 'USD'): NonNullable<Terms['discount']> => ({
  ...percentOff(1),
  percentOff: null,
  amountsOff: [{ amount: d(amount), currency }],
})

/** What stands with one line of the amount. */
export function standing(amount: number | string, period: Standing['period'], currency = 'USD', net: number | string = amount): Standing {
  const line = {
    type: 'BaseCharge',
    description: 'plan',
    priceId: 'price',
    quantity: d(1),
    unitAmount: d(amount),
    amount: d(amount),
  } as const
  return { period, currency, lines: [line], gross: d(amount), net: d(net) }
}
