import { expect } from 'chai'
import { currencyFor, pricesFor } from '../../../../src/catalog/model/price-choice.js'
import { price } from '../../subscription/support.js'

const dollars = price({ id: 'usd' })
const yearly = price({ id: 'usd-year', billingPeriod: 'ANNUALLY' })
const euros = price({ id: 'eur', currency: 'EUR' })
const german = price({ id: 'eur-de', currency: 'EUR', billingCountryCode: 'DE' })
const francs = price({ id: 'chf', currency: 'CHF', billingCountryCode: 'CH' })
const nobody = { currency: null, countryCode: null }

describe('which currency a buyer is charged in', () => {
  const cases: [string, Parameters<typeof currencyFor>, string | null][] = [
    ['dollars when nothing else decides', [[francs, euros, dollars], nobody], 'USD'],
    ['the first quoted without dollars', [[euros], nobody], 'EUR'],
    ['that of the country’s own price', [[dollars, german], { currency: null, countryCode: 'DE' }], 'EUR'],
    ['not that of another country’s price', [[dollars, german], { currency: null, countryCode: 'FR' }], 'USD'],
    ['the customer’s own before the country’s', [[dollars, german], { currency: 'USD', countryCode: 'DE' }], 'USD'],
    ['not the customer’s own where nothing is quoted in it', [[dollars], { currency: 'JPY', countryCode: null }], 'USD'],
    ['none where only other countries are quoted', [[francs], { currency: null, countryCode: 'DE' }], null],
    ['none without prices', [[], nobody], null],
  ]
  for (const [title, args, expected] of cases) it(title, () => expect(currencyFor(...args)).to.equal(expected))
})

describe('which prices hold for a buyer', () => {
  const ids = (...args: Parameters<typeof pricesFor>) => pricesFor(...args).map(({ id }) => id)
  const all = [dollars, yearly, euros, german]

  it('those of the currency and billing period', () => {
    expect(ids(all, { currency: 'USD', countryCode: null }, 'MONTHLY')).to.deep.equal(['usd'])
    expect(ids(all, { currency: 'USD', countryCode: null }, null)).to.deep.equal(['usd', 'usd-year'])
    expect(ids(all, { currency: null, countryCode: null }, null)).to.deep.equal([])
  })

  it('the country’s own instead of the one for every country', () => {
    expect(ids(all, { currency: 'EUR', countryCode: 'DE' }, 'MONTHLY')).to.deep.equal(['eur-de'])
    expect(ids(all, { currency: 'EUR', countryCode: 'FR' }, 'MONTHLY')).to.deep.equal(['eur'])
  })

  it('the country’s own beside those of other things', () => {
    const seats = price({ id: 'seats', currency: 'EUR', billingModel: 'PER_UNIT', featureId: 'seats' })
    expect(ids([euros, german, seats], { currency: 'EUR', countryCode: 'DE' }, 'MONTHLY')).to.deep.equal(['eur-de', 'seats'])
  })
})

describe('the own price of a country', () => {
  it('stands for the price of the same model, period and feature, and for no other', () => {
    const own = price({ id: 'own', billingCountryCode: 'DE', billingModel: 'PER_UNIT', featureId: 'seats' })
    const others = [
      price({ id: 'model', billingModel: 'USAGE_BASED', featureId: 'seats' }),
      price({ id: 'period', billingModel: 'PER_UNIT', featureId: 'seats', billingPeriod: 'ANNUALLY' }),
      price({ id: 'feature', billingModel: 'PER_UNIT', featureId: 'rooms' }),
      price({ id: 'same', billingModel: 'PER_UNIT', featureId: 'seats' }),
    ]
    const shown = pricesFor([...others, own], { currency: 'USD', countryCode: 'DE' }, null)
    expect(shown.map(({ id }) => id)).to.deep.equal(['model', 'period', 'feature', 'own'])
  })
})
