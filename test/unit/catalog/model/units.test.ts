import { expect } from 'chai'
import { sellsUnits, unitsGiven, withImplied } from '../../../../src/catalog/model/units.js'
import * as decimal from '../../../../src/kernel/decimal.js'
import { entitled, feature, price } from '../../subscription/support.js'

describe('what is given for units', () => {
  const cases: [units: number, blockSize: number | null, given: string][] = [
    [12, null, '12'],
    [0, null, '0'],
    [1, 5, '5'],
    [5, 5, '5'],
    [6, 5, '10'],
    [0, 5, '0'],
    [2.5, 1, '3'],
  ]
  for (const [units, blockSize, given] of cases) {
    it(`${units} in blocks of ${blockSize ?? 'one'}: ${given}`, () =>
      expect(unitsGiven({ tiers: null, blockSize }, decimal.fromNumber(units))).to.equal(given))
  }
})

describe('the entitlements that prices imply', () => {
  const seats = feature('seats', { meterType: 'Fluctuating' })
  const perSeat = price({ id: 'per-seat', billingModel: 'PER_UNIT', featureId: seats.id, featureRefId: 'seats' })
  const { feature: _, ...written } = entitled(seats, { limit: 4 })

  it('are of what is sold by the unit, once, and give as much as is bought', () => {
    const [implied, ...others] = withImplied([], [price(), perSeat, { ...perSeat, id: 'per-seat-and-year', billingPeriod: 'ANNUALLY' }])
    expect(others).to.deep.equal([])
    expect(implied).to.deep.include({
      id: 'per-seat',
      featureId: seats.id,
      usageLimit: null,
      hasSoftLimit: false,
      hasUnlimitedUsage: false,
      resetPeriod: null,
      behavior: 'Increment',
    })
  })
  it('are none of what is entitled to, of a flat fee and of usage', () => {
    expect(withImplied([written], [perSeat])).to.deep.equal([written])
    expect(withImplied([], [price(), { ...perSeat, billingModel: 'USAGE_BASED' }])).to.deep.equal([])
  })
})

describe('a version that sells units', () => {
  const perSeat = price({ billingModel: 'PER_UNIT', featureId: 'seats' })
  it('has a price per unit, whatever others it has', () => {
    expect(sellsUnits({ prices: [price(), perSeat] })).to.equal(true)
    expect(sellsUnits({ prices: [price()] })).to.equal(false)
    expect(sellsUnits({ prices: [] })).to.equal(false)
  })

  it('implies entitlements to features only, and beside those to others', () => {
    const { feature: _, ...toCalls } = entitled(feature('calls'))
    expect(withImplied([], [{ ...perSeat, featureId: null }])).to.deep.equal([])
    const all = withImplied([toCalls], [perSeat])
    expect(all.map(({ featureId }) => featureId)).to.deep.equal([toCalls.featureId, 'seats'])
    expect(all[1]).to.deep.include({ enumValues: [], order: 1 })
  })
})
