import { expect } from 'chai'
import type { CatalogDocument } from '../../../../src/catalog/document/document.js'
import { planCatalog } from '../../../../src/catalog/document/plan.js'
import { emptyCatalog } from '../documents.js'

const problemsOf = (input: object, current: CatalogDocument = emptyCatalog) =>
  planCatalog({ input }, current, { archiveMissing: false, expectedVersion: null }).problems.map(
    ({ path, message }) => `${path}: ${message}`,
  )

const cloud = { products: [{ refId: 'cloud' }] }
const names = (count: number) => Array.from({ length: count }, (_, index) => `n${index}`)
const planOn = (refId: string, basePlan: string | undefined) => ({ refId, product: 'cloud', basePlan })
const plansUpTo = (count: number) => names(count).map((refId, index, all) => planOn(refId, all[index - 1]))
const addonsUpTo = (count: number) =>
  names(count).map((refId, index, all) => ({ refId, product: 'cloud', dependencies: all.slice(Math.max(0, index - 1), index) }))
const tooDeep = 'leads through 33 others that stand on each other, and at most 32 are allowed'

/** In force although it is deeper than may be, as from before there was a bound. */
const deepInForce = (count: number): CatalogDocument => {
  const { changes } = planCatalog({ input: { ...cloud, plans: plansUpTo(1) } }, emptyCatalog, {
    archiveMissing: false,
    expectedVersion: null,
  })
  const [product, plan] = changes.map(({ is }) => is)
  const plans = plansUpTo(count).map(({ refId, basePlan = null }) => ({ ...plan, refId, basePlan }))
  return { ...emptyCatalog, products: [product], plans } as CatalogDocument
}

describe('how deep definitions stand on each other', function () {
  this.timeout(60_000)

  it('has a bound for base plans, and for add-ons that need each other', () => {
    expect(problemsOf({ ...cloud, plans: plansUpTo(33), addons: addonsUpTo(33) })).to.deep.equal([])
    expect(problemsOf({ ...cloud, plans: plansUpTo(34) })).to.deep.equal([`plans[33].basePlan: ${tooDeep}`])
    expect(problemsOf({ ...cloud, addons: addonsUpTo(34) })).to.deep.equal([`addons[33].dependencies: ${tooDeep}`])
  })

  it('is found out of as many as a document has, in circles too', () => {
    const [plans, addons] = [plansUpTo(6_000), addonsUpTo(6_000)]
    const all = (kind: object) => problemsOf({ ...cloud, ...kind })
    expect(all({ plans: plans.toReversed() })).to.have.length(1_001)
    expect(all({ addons: addons.toReversed() })).to.have.length(1_001)
    expect(all({ plans: [planOn('n0', 'n5999'), ...plans.slice(1)] }))
      .to.have.length(1)
      .and.match(/leads back to itself/)
  })

  it('may be as it is in force, and no deeper', () => {
    const deep = deepInForce(40)
    expect(problemsOf({ ...cloud, features: [{ refId: 'calls', type: 'NUMBER' }] }, deep)).to.deep.equal([])
    expect(problemsOf({ plans: [planOn('n39', 'n38')] }, deep)).to.deep.equal([])
    expect(problemsOf({ plans: [planOn('n40', 'n39')] }, deep)).to.deep.equal([
      'plans[0].basePlan: leads through 40 others that stand on each other, and at most 32 are allowed',
    ])
  })
})

describe('the features of a plan', function () {
  this.timeout(60_000)

  const features = names(1_001).map((refId) => ({ refId, type: 'NUMBER' }))
  const entitlements = (from: number, to: number) => features.slice(from, to).map(({ refId }) => ({ feature: refId, limit: 1 }))
  const base = { ...planOn('base', undefined), entitlements: entitlements(0, 600) }
  const heir = (from: number, to: number) => ({ ...planOn('heir', 'base'), entitlements: entitlements(from, to) })

  it('have a bound together with those that it inherits, each counted once', () => {
    expect(problemsOf({ ...cloud, features, plans: [base, heir(100, 1_000)] })).to.deep.equal([])
    expect(problemsOf({ ...cloud, features, plans: [heir(100, 1_001), base] })).to.deep.equal([
      'plans[0].entitlements: come to 1001 features with those that are inherited, and at most 1000 are allowed',
    ])
  })

  it('are those that it sells by the unit too', () => {
    const prices = [
      { billingModel: 'PER_UNIT', feature: 'n1000', amount: 1, currency: 'USD', billingPeriod: 'MONTHLY' },
      { billingModel: 'PER_UNIT', feature: 'n999', amount: 1, currency: 'USD', billingPeriod: 'MONTHLY' },
    ]
    const sells = (count: number) => ({ ...heir(600, 1_000), prices: prices.slice(2 - count) })
    expect(problemsOf({ ...cloud, features, plans: [base, sells(1)] })).to.deep.equal([])
    expect(problemsOf({ ...cloud, features, plans: [base, sells(2)] })).to.have.length(1)
  })

  it('cannot be multiplied by a chain', () => {
    const chain = names(32).map((refId, index, all) => ({
      ...planOn(refId, all[index - 1]),
      entitlements: entitlements(index * 30, index * 30 + 40),
    }))
    expect(problemsOf({ ...cloud, features, plans: chain })).to.deep.equal([])
    expect(
      problemsOf({ ...cloud, features, plans: [...chain, { ...planOn('last', 'n31'), entitlements: entitlements(0, 1_001) }] }),
    ).to.have.length(2)
  })
})
