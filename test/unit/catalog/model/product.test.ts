import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { couponExists } from '../../../../src/catalog/model/coupon.js'
import { nearestFeature } from '../../../../src/catalog/model/feature.js'
import { productNotFound } from '../../../../src/catalog/model/problems.js'
import { changeTimings, endSettings, usageOnPlanChangeSettings } from '../../../../src/catalog/model/product.js'
import { feature } from '../../subscription/support.js'

describe('what a product says about its subscriptions', () => {
  it('is among what its table may have', () => {
    const schema = readFileSync('prisma/schema.prisma', 'utf8')
    for (const setting of [...endSettings, ...changeTimings, ...usageOnPlanChangeSettings]) expect(schema).to.include(setting)
  })
})

describe('the feature that was probably meant', () => {
  const catalog = new Map(
    ['calls', 'cells', 'seats'].map((refId) => [refId, { ...feature(refId), isArchived: refId === 'calls', enumValues: [] }]),
  )
  it('is one that is sold, and known by the caller’s identifier', () => {
    expect(nearestFeature(catalog, 'seast')).to.equal('seats')
    // Archived: the next one that is near.
    expect(nearestFeature(catalog, 'calls')).to.equal('cells')
    expect(nearestFeature(catalog, 'tokens')).to.equal(null)
  })
})

describe('problems with the catalog', () => {
  it('name what they are about', () => {
    const missing = productNotFound('crm')
    expect(missing).to.include({ code: 'NOT_FOUND', reason: 'PRODUCT_NOT_FOUND' })
    expect(missing.details).to.deep.equal({ productId: 'crm' })
    expect(missing.message).to.include('"crm"')
    const taken = couponExists('spring')
    expect(taken).to.include({ code: 'ALREADY_EXISTS', reason: 'DUPLICATED_ENTITY_NOT_ALLOWED' })
    expect(taken.details).to.deep.equal({ refId: 'spring' })
    expect(taken.message).to.include('"spring"')
  })
})
