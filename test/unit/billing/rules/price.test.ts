import { expect } from 'chai'
import { chargesOf, currencyOf, lineOf } from '../../../../src/billing/rules/charges.js'
import { costOf, tierParts, unitsUsed } from '../../../../src/billing/rules/price.js'
import { exactly, round } from '../../../../src/kernel/money.js'
import { content, d, price, terms, version } from '../support.js'

const tier = (upTo: number | null, unitPrice: number | string | null, flatPrice: number | null = null) => ({
  upTo: upTo === null ? null : d(upTo),
  unitPrice: unitPrice === null ? null : d(unitPrice),
  flatPrice: flatPrice === null ? null : d(flatPrice),
})
const cost = (given: Parameters<typeof price>[0], quantity: number | string) => round(costOf(price(given), d(quantity)), 'USD')

describe('the cost of a price', () => {
  const tiers = [tier(10, 1, 5), tier(100, '0.5', 20), tier(null, '0.0001')]

  it('charges the flat part of each tier that is reached, and of none that is not', () => {
    expect(cost({ tiers }, 10)).to.equal('15')
    expect(cost({ tiers }, 11)).to.equal('35.5')
    expect(cost({ tiers }, 100)).to.equal('80')
  })

  it('charges by volume the flat part of the tier that is reached only', () => {
    expect(cost({ tiers, tiersMode: 'VOLUME' }, 10)).to.equal('15')
    expect(cost({ tiers, tiersMode: 'VOLUME' }, 11)).to.equal('25.5')
  })

  it('charges a part of a unit', () => expect(cost({ tiers }, '10.5')).to.equal('35.25'))

  it('charges a tier that has only a flat part', () => expect(cost({ tiers: [tier(10, null, 7), tier(null, 1)] }, 3)).to.equal('7'))

  it('sells begun blocks whole', () => {
    expect(cost({ amount: d(2), blockSize: 1000 }, 1000)).to.equal('2')
    expect(cost({ amount: d(2), blockSize: 1000 }, '1000.1')).to.equal('4')
    expect(cost({ amount: d(2), blockSize: 1000 }, 0)).to.equal('0')
  })

  it('adds up unit prices below a minor unit before it rounds', () => {
    expect(cost({ amount: d('0.0001') }, 49)).to.equal('0')
    expect(cost({ amount: d('0.0001') }, 50)).to.equal('0.01')
    expect(cost({ amount: d('0.0001') }, 1_234_567)).to.equal('123.46')
  })
})

describe('how a quantity falls on tiers', () => {
  const tiers = [tier(10, 1), tier(100, 0.5, 3), tier(null, 0.1)]

  it('GRADUATED: a part for each that is reached; VOLUME: all of it in one', () => {
    const parts = (tiersMode: 'GRADUATED' | 'VOLUME', quantity: number) =>
      tierParts({ tiers, tiersMode }, d(quantity)).map(({ above, quantity: units }) => [above, units])
    expect(parts('GRADUATED', 150.5)).to.deep.equal([
      ['0', '10'],
      ['10', '90'],
      ['100', '50.5'],
    ])
    expect(parts('GRADUATED', 10)).to.deep.equal([['0', '10']])
    expect(parts('VOLUME', 10.5)).to.deep.equal([['10', '10.5']])
    expect(parts('VOLUME', 0)).to.deep.equal([])
    expect(tierParts({ tiers: null, tiersMode: null }, d(3))).to.deep.equal([])
  })

  it('adds up to what it costs', () => {
    for (const tiersMode of ['GRADUATED', 'VOLUME'] as const) {
      for (const quantity of [0.5, 9, 10, 11, 99.25, 100, 100.5, 12_345]) {
        const sum = tierParts({ tiers, tiersMode }, d(quantity)).reduce(
          (cost, part) =>
            cost +
            costOf({ amount: part.tier.unitPrice, tiers: null, tiersMode: null, blockSize: null }, part.quantity) +
            exactly(part.tier.flatPrice ?? d(0)),
          0n,
        )
        expect(sum, `${tiersMode} ${quantity}`).to.equal(costOf({ amount: null, tiers, tiersMode, blockSize: null }, d(quantity)))
      }
    }
  })
})

describe('what a subscription is charged by', () => {
  const seats = price({ featureRefId: 'seats', amount: d(12), minUnitQuantity: 2 })
  const plan = [price({ amount: d(30) }), seats, price({ featureRefId: 'calls', billingModel: 'USAGE_BASED', amount: d('0.01') })]
  const amounts = (sold: ReturnType<typeof content>, agreed = terms()) =>
    chargesOf(sold, agreed).fixed.map((charge) => lineOf(charge).amount)

  it('takes the least quantity where none was bought', () => expect(amounts(content(plan))).to.deep.equal(['30', '24']))

  it('keeps usage for the end of the period', () => {
    expect(chargesOf(content(plan), terms()).usage.map(({ price }) => price.featureRefId)).to.deep.equal(['calls'])
  })

  it('multiplies the flat fee of an add-on, and sells units once, whoever sells them too', () => {
    const addon = version('more', [price({ amount: d('1.5') }), price({ featureRefId: 'seats', amount: d(1) })], 'ADDON')
    expect(
      amounts(content(plan, { addons: [{ version: addon, quantity: 3 }], quantities: [{ featureId: seats.featureId!, quantity: d(5) }] })),
    ).to.deep.equal(['30', '60', '4.5'])
  })

  it('prefers the country’s own price, and the customer’s currency where it is sold in it', () => {
    const sold = content([
      price({ amount: d(30) }),
      price({ amount: d(25), billingCountryCode: 'IN' }),
      price({ amount: d(28), currency: 'EUR' }),
    ])
    expect(currencyOf(sold, 'EUR')).to.equal('EUR')
    expect(currencyOf(sold, 'JPY')).to.equal('USD')
    expect(amounts(sold)).to.deep.equal(['30'])
    expect(amounts({ ...sold, billingCountryCode: 'IN' })).to.deep.equal(['25'])
    expect(amounts(sold, terms({ currency: 'EUR' }))).to.deep.equal(['28'])
  })

  it('is charged in a currency that the plan is sold in, also where only its add-ons are sold in the customer’s or the country’s', () => {
    const inYen = version('more', [price({ amount: d(300), currency: 'JPY' }), price({ amount: d(2) })], 'ADDON')
    const inRupees = version(
      'local',
      [price({ amount: d(90), currency: 'INR', billingCountryCode: 'IN' }), price({ amount: d(1) })],
      'ADDON',
    )
    const sold = content([price({ amount: d(30) })], { addons: [inYen, inRupees].map((addon) => ({ version: addon, quantity: 1 })) })
    expect(currencyOf(sold, 'JPY')).to.equal('USD')
    expect(currencyOf({ ...sold, billingCountryCode: 'IN' }, null)).to.equal('USD')
    expect(amounts(sold, terms({ currency: currencyOf(sold, 'JPY') }))).to.deep.equal(['30', '2', '1'])
    // Nothing is to be paid for the plan itself.
    expect(currencyOf({ ...sold, plan: content([]).plan }, 'JPY')).to.equal('JPY')
  })

  it('charges only the prices of its billing period', () => {
    const sold = content([price({ amount: d(30) }), price({ amount: d(300), billingPeriod: 'ANNUALLY' })], { billingPeriod: 'ANNUALLY' })
    expect(amounts(sold)).to.deep.equal(['300'])
  })

  it('puts agreed prices in place of the catalog’s', () => {
    const own = { addonRefId: null, featureRefId: 'seats', amount: d(10), tiers: null, blockSize: null }
    const base = { addonRefId: null, featureRefId: null, amount: d(1), tiers: null, blockSize: null }
    expect(amounts(content(plan), terms({ priceOverrides: [own, base] }))).to.deep.equal(['1', '20'])
    expect(amounts(content(plan), terms({ priceOverrides: [{ ...own, addonRefId: 'more' }] }))).to.deep.equal(['30', '24'])
  })
})

describe('a price', () => {
  it('costs nothing for nothing, and for less, the flat part of its tiers included', () => {
    const tiers = [tier(10, 1, 5), tier(null, 1)]
    for (const quantity of [0, -1]) {
      expect(cost({ amount: d(2) }, quantity)).to.equal('0')
      expect(cost({ tiers }, quantity)).to.equal('0')
      expect(cost({ tiers, tiersMode: 'VOLUME' }, quantity)).to.equal('0')
    }
  })
  it('without an amount and without tiers costs nothing', () => {
    expect(cost({ amount: null }, 5)).to.equal('0')
    expect(cost({ amount: null, tiers: [] }, 5)).to.equal('0')
    expect(cost({ amount: null, tiers: [], tiersMode: 'VOLUME' }, 5)).to.equal('0')
  })
  it('beyond its last tier costs what that does, also where it has an end', () => {
    const tiers = [tier(10, 1), tier(20, null, 7), tier(30, '0.5')]
    expect(cost({ tiers }, 40)).to.equal('27')
    expect(cost({ tiers, tiersMode: 'VOLUME' }, 40)).to.equal('20')
    expect(cost({ tiers, tiersMode: 'VOLUME' }, 15)).to.equal('7')
    const parts = (tiersMode: 'GRADUATED' | 'VOLUME') =>
      tierParts({ tiers, tiersMode }, d(40)).map(({ above, quantity }) => [above, quantity])
    expect(parts('GRADUATED')).to.deep.equal([
      ['0', '10'],
      ['10', '10'],
      ['20', '20'],
    ])
    expect(parts('VOLUME')).to.deep.equal([['20', '40']])
  })
  it('charges of usage what was added, in its units, and nothing for what was taken back', () => {
    const used = (until: number, before?: number, unitTransformation: Parameters<typeof unitsUsed>[0]['unitTransformation'] = null) =>
      unitsUsed({ unitTransformation }, before === undefined ? { until: d(until) } : { until: d(until), before: d(before) })
    expect([used(5), used(5, 3), used(3, 5), used(-5), used(5, -5)]).to.deep.equal(['5', '2', '0', '0', '5'])
    const thousands = { divide: 1_000, round: 'UP' } as const
    expect([used(1_001, undefined, thousands), used(2_500, 1_100, thousands), used(2_000, 1_100, thousands)]).to.deep.equal(['2', '1', '0'])
  })
})
