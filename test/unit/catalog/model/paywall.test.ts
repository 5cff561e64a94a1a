import { expect } from 'chai'
import type { PackageVersion, Price } from '../../../../src/catalog/model/package.js'
import { currencySymbol, offer } from '../../../../src/catalog/model/paywall.js'
import * as decimal from '../../../../src/kernel/decimal.js'
import { ended } from '../../../support/steps.js'
import { entitled, feature, plan, price } from '../../subscription/support.js'

const d = decimal.fromNumber
const nobody = { currency: null, countryCode: null }
const offered = (...plans: PackageVersion[]) => ended(offer({ plans, buyer: nobody, isForAllCountries: false }))
const pointOf = (...prices: Parameters<typeof price>[0][]) =>
  offered(plan('p', { prices: prices.map((fields) => price(fields)) })).pricePoints[0]

describe('an offer', () => {
  it('begins with what costs nothing and ends with what is agreed on, the cheapest first between them', () => {
    const { plans } = offered(
      plan('custom', { pricingType: 'CUSTOM', prices: [] }),
      plan('dear', { prices: [price({ amount: d(20) })] }),
      plan('cheap', { prices: [price({ amount: d(9.5) })] }),
      plan('free', { pricingType: 'FREE', prices: [] }),
    )
    expect(plans.map(({ refId }) => refId)).to.deep.equal(['free', 'cheap', 'dear', 'custom'])
  })

  it('shows a plan in the currency that it is quoted in when it is not in the buyer’s', () => {
    const { plans, currency } = ended(
      offer({
        plans: [
          plan('a', { prices: [price(), price({ currency: 'EUR', billingCountryCode: 'DE' })] }),
          plan('b', { prices: [price({ amount: d(99) })] }),
        ],
        buyer: { currency: null, countryCode: 'DE' },
        isForAllCountries: false,
      }),
    )
    expect(currency).to.equal('EUR')
    expect(plans.map(({ prices }) => prices.map((shown) => shown.currency))).to.deep.equal([['EUR'], ['USD']])
  })

  it('has no currency without prices', () => {
    expect(offered(plan('free', { pricingType: 'FREE', prices: [] }))).to.deep.include({ currency: null, pricePoints: [] })
  })
})

describe('what a plan is offered with', () => {
  const seats = feature('seats', { meterType: 'Fluctuating' })
  const perSeat = (fields: Partial<Price> = {}) =>
    price({ billingModel: 'PER_UNIT', featureId: seats.id, featureRefId: 'seats', ...fields })
  const limitOf = (version: PackageVersion) => offered(version).plans[0]!.entitlements[0]!.usageLimit
  const least = perSeat({ minUnitQuantity: 6, blockSize: 4 })

  it('is as much as is bought at least, and no less than its limit', () => {
    expect(limitOf(plan('p', { entitlements: [entitled(seats)], prices: [least] }))).to.equal('8')
    expect(limitOf(plan('p', { entitlements: [entitled(seats)], prices: [least, perSeat({ billingPeriod: 'ANNUALLY' })] }))).to.equal('1')
    expect(limitOf(plan('p', { entitlements: [entitled(seats, { limit: 9 })], prices: [least] }))).to.equal('9')
    expect(limitOf(plan('p', { entitlements: [entitled(seats, { hasUnlimitedUsage: true })], prices: [least] }))).to.equal(null)
  })

  it('is as it was written where it inherits, or sells nothing by the unit', () => {
    expect(limitOf(plan('p', { entitlements: [entitled(seats)], prices: [least], basePlanVersionId: 'base' }))).to.equal(null)
    expect(limitOf(plan('p', { entitlements: [entitled(seats, { limit: 3 })] }))).to.equal('3')
  })
})

describe('what a plan costs at least per month', () => {
  const seats = { billingModel: 'PER_UNIT' as const, featureId: 'f', featureRefId: 'seats' }

  it('is the flat fee', () => {
    expect(pointOf({ amount: d(29) })).to.include({ amount: '29', featureRefId: null, additionalChargesMayApply: false })
  })

  it('is a twelfth of the price of a year, rounded as the currency is written', () => {
    expect(pointOf({ amount: d(100), billingPeriod: 'ANNUALLY' })).to.include({ amount: '8.33', billingPeriod: 'ANNUALLY' })
    expect(pointOf({ amount: d(1000), billingPeriod: 'ANNUALLY', currency: 'JPY' })).to.include({ amount: '83' })
  })

  it('is the price of one unit, or of as many as must be bought, and says of what', () => {
    expect(pointOf({ ...seats, amount: d(8) })).to.include({ amount: '8', featureRefId: 'seats', additionalChargesMayApply: true })
    expect(pointOf({ ...seats, amount: d(8), minUnitQuantity: 3 })).to.include({ amount: '24' })
    expect(pointOf({ ...seats, amount: d(8), minUnitQuantity: 11, blockSize: 10 })).to.include({ amount: '16' })
  })

  it('adds units to the flat fee', () => {
    expect(pointOf({ amount: d(10) }, { ...seats, amount: d(2) })).to.include({ amount: '12', featureRefId: null })
  })

  it('reads tiers', () => {
    const tiers = [
      { upTo: d(2), unitPrice: d(10), flatPrice: null },
      { upTo: null, unitPrice: d(5), flatPrice: d(1) },
    ]
    const tiered = { ...seats, amount: null, tiers, minUnitQuantity: 3 }
    expect(pointOf({ ...tiered, tiersMode: 'GRADUATED' })).to.include({ amount: '26' })
    expect(pointOf({ ...tiered, tiersMode: 'VOLUME' })).to.include({ amount: '16' })
    expect(pointOf({ ...tiered, minUnitQuantity: 2, tiersMode: 'VOLUME' })).to.include({ amount: '20' })
  })

  it('leaves out what is charged by usage, and says so', () => {
    const usage = { billingModel: 'USAGE_BASED' as const, featureId: 'f', featureRefId: 'calls', amount: d(1) }
    expect(pointOf({ amount: d(29) }, usage)).to.include({ amount: '29', additionalChargesMayApply: true })
    expect(pointOf(usage)).to.equal(undefined)
  })
})

describe('the symbol of a currency', () => {
  for (const [code, symbol] of [
    ['USD', '$'],
    ['EUR', '€'],
    ['GBP', '£'],
    ['CHF', 'CHF'],
  ] as const)
    it(code, () => expect(currencySymbol(code)).to.equal(symbol))
})

describe('the order of an offer', () => {
  const refIds = (...plans: PackageVersion[]) => offered(...plans).plans.map(({ refId }) => refId)

  it('is that of names where prices are the same, whatever order they come in', () => {
    const [a, b, c] = ['a', 'b', 'c'].map((refId) => plan(refId)) as [PackageVersion, PackageVersion, PackageVersion]
    for (const order of [
      [a, b, c],
      [c, b, a],
      [b, c, a],
    ])
      expect(refIds(...order)).to.deep.equal(['a', 'b', 'c'])
  })

  it('is by what is paid for a month, and nothing is paid for what has only prices by usage', () => {
    const dear = plan('a', { prices: [price({ amount: d(20) })] })
    const cheap = plan('b', { prices: [price({ amount: d(120), billingPeriod: 'ANNUALLY' })] })
    const byUsage = plan('c', { prices: [price({ billingModel: 'USAGE_BASED', featureId: 'f', featureRefId: 'f' })] })
    expect(refIds(dear, cheap, byUsage)).to.deep.equal(['c', 'b', 'a'])
  })
})

describe('the least of what is bought', () => {
  it('is of the price of that feature alone, and of one by the unit', () => {
    const [seats, rooms] = ['seats', 'rooms'].map((refId) => feature(refId, { meterType: 'Fluctuating' }))
    const per = (of: typeof seats, fields: Partial<Price>) =>
      price({ billingModel: 'PER_UNIT', featureId: of!.id, featureRefId: of!.refId, ...fields })
    const { plans } = offered(
      plan('p', {
        entitlements: [entitled(seats!), entitled(rooms!), entitled(feature('calls'))],
        prices: [per(seats, { minUnitQuantity: 7 }), per(rooms, { minUnitQuantity: 3 }), per(seats, { billingModel: 'USAGE_BASED' })],
      }),
    )
    expect(plans[0]!.entitlements.map(({ usageLimit }) => usageLimit)).to.deep.equal(['7', '3', null])
  })

  it('is of several things where there is no fee, and of none of them alone', () => {
    const two = ['seats', 'rooms'].map((refId) => ({
      billingModel: 'PER_UNIT' as const,
      featureId: refId,
      featureRefId: refId,
      amount: d(2),
    }))
    expect(pointOf(...two)).to.include({ amount: '4', featureRefId: null })
  })

  it('is the fee, however many units its price names', () => {
    expect(pointOf({ amount: d(10), minUnitQuantity: 5 })).to.include({ amount: '10' })
  })
})
