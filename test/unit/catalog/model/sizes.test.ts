import { expect } from 'chai'
import type { PackageVersion } from '../../../../src/catalog/model/package.js'
import { catalogSizes } from '../../../../src/catalog/model/sizes.js'
import * as decimal from '../../../../src/kernel/decimal.js'
import { ended } from '../../../support/steps.js'
import { addon, entitled, feature, plan, price } from '../../subscription/support.js'

const [calls, seats, sites] = ['calls', 'seats', 'sites'].map((refId) => entitled(feature(refId)))
const tier = { upTo: null, unitPrice: decimal.fromNumber(1), flatPrice: null }
const sizesOf = (latest: PackageVersion[], versions = latest) =>
  ended(catalogSizes(latest, new Map(versions.map((version) => [version.id, version]))))

describe('the sizes of a catalog', () => {
  it('are 0 when nothing is sold', () => {
    const none = { entitlements: 0, prices: 0 }
    expect(sizesOf([])).to.deep.include({
      plans: 0,
      plan: { ...none, compatibleAddons: 0, inheritedEntitlements: 0 },
      addon: { ...none, dependencies: 0 },
      tiers: 0,
    })
  })

  it('are averages of plans and of add-ons, and the plans of the largest product', () => {
    const base = plan('base', { entitlements: [calls!, seats!], compatibleAddonIds: ['a', 'b', 'c'] })
    const heir = plan('heir', {
      basePlanVersionId: base.id,
      entitlements: [sites!],
      prices: [price(), price({ tiers: [tier, tier, tier] }), price({ tiers: [tier] })],
      compatibleAddonIds: ['a'],
    })
    const other = plan('other', { productId: 'another', prices: [] })
    const extra = addon('extra', { entitlements: [calls!], prices: [price()], dependencies: ['x', 'y'] as never })
    const spare = addon('spare', { prices: [price(), price()], dependencies: ['x'] as never })
    const sizes = sizesOf([base, heir, other, extra, spare])
    expect(sizes).to.deep.include({
      plans: 2,
      plan: { entitlements: 1, prices: 4 / 3, compatibleAddons: 4 / 3, inheritedEntitlements: 2 / 3 },
      addon: { entitlements: 0.5, prices: 1.5, dependencies: 1.5 },
      tiers: 4 / 7,
    })
  })

  it('has the plans of the product that has the most, however many products there are', () => {
    const plans = ['a', 'b', 'c', 'd'].map((refId) => plan(refId, { productId: `product ${refId}` }))
    expect(sizesOf([...plans, plan('e', { productId: 'product a' })]).plans).to.equal(2)
  })
})
