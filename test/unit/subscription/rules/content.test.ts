import { expect } from 'chai'
import type { PackageVersion, Price } from '../../../../src/catalog/model/package.js'
import * as decimal from '../../../../src/kernel/decimal.js'
import type { Problem } from '../../../../src/kernel/problem.js'
import {
  boughtQuantity,
  checkContent,
  chooseBillingPeriod,
  fittingQuantities,
  heldFeatureIds,
  isSameContent,
  onlyUnit,
  perUnitPrice,
} from '../../../../src/subscription/rules/content.js'
import type { HeldAddon, HeldQuantity } from '../../../../src/subscription/rules/subscription.js'
import { addon, entitled, feature, held, plan, price } from '../support.js'

const d = decimal.fromNumber
const perUnit = (refId: string, fields: Partial<Price> = {}) =>
  price({ id: refId, billingModel: 'PER_UNIT', featureId: `feature-${refId}`, featureRefId: refId, ...fields })
const units = (refId: string, quantity: number): HeldQuantity => ({
  featureId: `feature-${refId}`,
  featureRefId: refId,
  quantity: d(quantity),
})
const usage = price({ id: 'usage', billingModel: 'USAGE_BASED', featureId: 'feature-seats', featureRefId: 'seats' })

/** What a refusal is about; null: it is none. */
function refusal(check: () => unknown): object | null {
  try {
    check()
    return null
  } catch (error) {
    return (error as Problem).details
  }
}

describe('what is sold per unit', () => {
  it('is what has a price per unit, in the plan or in an add-on', () => {
    const sold = { plan: plan('p', { prices: [usage, perUnit('desks')] }), addons: [held(addon('a', { prices: [perUnit('seats')] }))] }
    expect(perUnitPrice(sold, 'feature-seats')!.id).to.equal('seats')
    expect(perUnitPrice(sold, 'feature-desks')!.id).to.equal('desks')
    expect(perUnitPrice({ ...sold, addons: [] }, 'feature-seats')).to.equal(null)
  })

  it('is bought as chosen, else at least', () => {
    const sold = { plan: plan('p', { prices: [perUnit('seats', { minUnitQuantity: 3 }), perUnit('desks')] }), addons: [] }
    const bought = (quantities: HeldQuantity[], refId = 'seats') => boughtQuantity({ ...sold, quantities }, `feature-${refId}`)
    expect(bought([units('desks', 9), units('seats', 5)])).to.equal('5')
    expect(bought([units('desks', 9)])).to.equal('3')
    expect(bought([], 'desks')).to.equal('1')
    expect(bought([], 'rooms')).to.equal(null)
  })

  it('stays within what may be bought', () => {
    const fitting = (fields: Partial<Price>) =>
      fittingQuantities({
        plan: plan('p', { prices: [perUnit('seats', fields)] }),
        addons: [],
        quantities: [units('desks', 1), units('seats', 5)],
      })
    expect(fitting({})).to.deep.equal([units('seats', 5)])
    expect(fitting({ minUnitQuantity: 6, maxUnitQuantity: 9 })).to.deep.equal([units('seats', 6)])
    expect(fitting({ minUnitQuantity: 2, maxUnitQuantity: 4 })).to.deep.equal([units('seats', 4)])
    expect(fitting({ minUnitQuantity: 5, maxUnitQuantity: 5 })).to.deep.equal([units('seats', 5)])
  })

  it('is meant by a quantity without a feature where there is one of it, in whichever currencies', () => {
    const only = (...prices: Price[]) => onlyUnit(plan('p', { prices }))
    expect(only(price(), usage, perUnit('desks'), perUnit('desks', { currency: 'EUR' }))).to.deep.equal({
      featureId: 'feature-desks',
      featureRefId: 'desks',
    })
    expect(refusal(() => only(price(), usage))).to.deep.equal({ path: 'unitQuantity' })
    expect(refusal(() => only(perUnit('desks'), perUnit('seats')))).to.deep.equal({ path: 'unitQuantity' })
  })
})

it('entitlements are held by the plan, by add-ons and by the subscription itself', () => {
  const of = (refId: string) => ({ entitlements: [entitled(feature(refId))] })
  const own = { ...entitled(feature('own')), enumValues: [] }
  expect(heldFeatureIds({ plan: plan('p', of('a')), addons: [held(addon('x', of('b')))], ownEntitlements: [own] })).to.deep.equal([
    'feature-a',
    'feature-b',
    'feature-own',
  ])
})

describe('what cannot be held is refused by what it is about', () => {
  const extra = (fields: Partial<PackageVersion> = {}) => addon('extra', fields)
  const check = (prices: Price[], addons: HeldAddon[], quantities: HeldQuantity[] = [], fields: Partial<PackageVersion> = {}) =>
    refusal(() => checkContent({ plan: plan('p', { prices, compatibleAddonIds: ['extra', 'more'], ...fields }), addons, quantities }))
  const rooms = entitled(feature('rooms'))

  for (const [name, found, expected] of [
    ['an add-on of another plan', () => check([], [held(addon('foreign'))]), { addonId: 'foreign', planId: 'p' }],
    ['none of an add-on', () => check([], [held(extra(), 0)]), { addonId: 'extra' }],
    ['a part of an add-on', () => check([], [held(extra(), 1.5)]), { addonId: 'extra' }],
    ['too many of an add-on', () => check([], [held(extra({ maxQuantity: 2 }), 3)]), { addonId: 'extra', maxQuantity: 2 }],
    [
      'an add-on that lacks another',
      () => check([], [held(extra({ dependencies: ['more'] }))]),
      { addonId: 'extra', requiredAddonId: 'more' },
    ],
    ['units of what is counted by usage', () => check([usage], [], [units('seats', 1)]), { featureId: 'seats' }],
    ['too few units', () => check([perUnit('seats', { minUnitQuantity: 2 })], [], [units('seats', 1)]), { featureId: 'seats' }],
    ['too many units', () => check([perUnit('seats', { maxUnitQuantity: 2 })], [], [units('seats', 3)]), { featureId: 'seats' }],
    ['more than a limit can be', () => check([perUnit('seats')], [], [units('seats', 1e16)]), { featureId: 'seats' }],
    [
      'a part of what has no meter',
      () =>
        check([perUnit('rooms')], [], [units('rooms', 1.5)], {
          entitlements: [entitled(feature('calls', { meterType: 'Incremental' })), rooms],
        }),
      { featureId: 'rooms' },
    ],
  ] as const)
    it(name, () => expect(found()).to.deep.equal(expected))

  it('says what may be bought', () => {
    const message = (fields: Partial<Price>) => {
      try {
        checkContent({ plan: plan('p', { prices: [perUnit('seats', fields)] }), addons: [], quantities: [units('seats', 1)] })
      } catch (error) {
        return (error as Error).message
      }
      return ''
    }
    expect(message({ minUnitQuantity: 2 })).to.include('from 2 to any')
    expect(message({ maxUnitQuantity: 0 })).to.include('from 0 to 0')
  })

  it('units count by the first that sells them: the plan, though an add-on does too', () => {
    const selling = extra({ prices: [perUnit('seats')], entitlements: [{ ...rooms, featureId: 'feature-seats' }] })
    expect(check([perUnit('seats')], [held(selling, 2)], [units('seats', 1.5)])).to.equal(null)
    expect(check([], [held(selling, 1)], [units('seats', 1.5)])).to.deep.equal({ featureId: 'seats' })
    // Three halves, twice.
    expect(check([], [held(selling, 2)], [units('seats', 1.5)])).to.equal(null)
  })
})

describe('the billing period of a plan', () => {
  it('is the one that is asked for, where it is sold so', () => {
    const both = plan('p', { prices: [price(), price({ billingPeriod: 'ANNUALLY' }), price({ currency: 'EUR' })] })
    expect(chooseBillingPeriod(both, 'ANNUALLY')).to.equal('ANNUALLY')
    expect(chooseBillingPeriod(both, null)).to.equal('MONTHLY')
    expect(refusal(() => chooseBillingPeriod(plan('p'), 'ANNUALLY'))).to.deep.equal({ path: 'billingPeriod' })
  })
})

describe('what is held is the same', () => {
  const content = (addons: HeldAddon[], quantities: HeldQuantity[]) => ({ addons, quantities })
  const [a, b] = [held(addon('a'), 2), held(addon('b'))]
  const both = content([a, b], [units('seats', 5), units('desks', 1)])
  it('in any order, of whichever version', () => {
    const other = content([b, { ...a, version: { ...a.version, id: 'a-v2' } }], [units('desks', 1), units('seats', 5)])
    expect(isSameContent(both, other)).to.equal(true)
  })
  for (const [name, other] of [
    ['another add-on', content([a, held(addon('c'))], both.quantities)],
    ['more of an add-on', content([{ ...a, quantity: 3 }, b], both.quantities)],
    ['an add-on less', content([a], both.quantities)],
    ['more units', content(both.addons, [units('seats', 6), units('desks', 1)])],
    ['units of another feature', content(both.addons, [units('seats', 5), units('rooms', 1)])],
    ['no units', content(both.addons, [])],
  ] as const)
    it(`but not with ${name}`, () =>
      expect(isSameContent(both, { addons: [...other.addons], quantities: [...other.quantities] })).to.equal(false))
})
