import { expect } from 'chai'
import * as fc from 'fast-check'
import { type CatalogChange, compareCatalogs } from '../../../../src/catalog/document/difference.js'
import type { CatalogDocument } from '../../../../src/catalog/document/document.js'
import { overlay } from '../../../../src/catalog/document/normalise.js'
import { documents } from '../arbitrary.js'
import { documentWith, emptyCatalog, parsed, planWith, someFeatures } from '../documents.js'

const steps = (changes: CatalogChange[]) => changes.map(({ action, kind, refId }) => `${action} ${kind} ${refId}`)
const difference = (from: CatalogDocument, to: unknown, archiveMissing = true) =>
  compareCatalogs(from, parsed(to, { current: from, archiveMissing }), { archiveMissing })

const ladder = (limit: number, fields: Record<string, unknown> = {}) =>
  documentWith({
    plans: [
      planWith({ refId: 'a-top', basePlan: 'b-mid' }),
      planWith({ refId: 'b-mid', basePlan: 'c-free' }),
      planWith({ refId: 'c-free', entitlements: [{ feature: 'calls', limit, resetPeriod: 'MONTH' }], ...fields }),
    ],
  })

const flat = { billingModel: 'FLAT_FEE', billingPeriod: 'MONTHLY', currency: 'USD', amount: 5 }

describe('the difference of two catalogs', () => {
  it('creates what is new, each after what it names', () => {
    const wanted = documentWith({
      features: [{ refId: 'tokens', type: 'NUMBER', meter: 'Incremental', events: { aggregation: 'COUNT' } }],
      plans: [planWith({ refId: 'a', basePlan: 'z' }), planWith({ refId: 'z' })],
      addons: [planWith({ refId: 'a', dependencies: ['z'] }), planWith({ refId: 'z' })],
      coupons: [{ refId: 'ten', percentOff: 10 }],
    })
    expect(steps(difference(emptyCatalog, wanted))).to.deep.equal([
      'create feature tokens',
      'create meter tokens',
      'create product cloud',
      'create addon z',
      'create addon a',
      'create plan z',
      'create plan a',
      'create coupon ten',
    ])
  })

  it('archives what is missing only when asked to, last and in reverse', () => {
    const current = parsed(ladder(10))
    expect(steps(difference(current, {}, false))).to.deep.equal([])
    expect(
      steps(difference(current, documentWith({ features: someFeatures.slice(0, 1), plans: [planWith({ refId: 'new' })] }))),
    ).to.deep.equal([
      'create plan new',
      'archive plan a-top',
      'archive plan b-mid',
      'archive plan c-free',
      'archive feature storage',
      'archive feature seats',
      'archive feature regions',
      'archive feature calls',
    ])
  })

  it('names no fields of what is created or archived, also where what it inherits changes', () => {
    const created = planWith({ refId: 'a-new', basePlan: 'c-free' })
    const wanted = ladder(20)
    const changes = difference(parsed(ladder(10)), { ...wanted, plans: [...(wanted.plans as unknown[]), created] })
    expect(changes.find(({ refId }) => refId === 'a-new')).to.deep.equal({ kind: 'plan', refId: 'a-new', action: 'create', fields: [] })
    for (const { action, fields } of difference(parsed(ladder(10)), {})) expect([action, fields]).to.deep.equal(['archive', []])
  })

  it('says which fields changed, from what to what', () => {
    const current = parsed(documentWith({ products: [{ refId: 'cloud' }] }))
    const wanted = documentWith({
      features: [{ ...someFeatures[0], description: 'One login', additionalMetaData: { a: 1 } }, ...someFeatures.slice(1)],
      products: [{ refId: 'cloud', settings: { downgradeTiming: 'END_OF_BILLING_PERIOD' } }],
    })
    expect(difference(current, wanted)).to.deep.equal([
      {
        kind: 'feature',
        refId: 'sso',
        action: 'update',
        fields: [
          { path: 'description', from: null, to: 'One login' },
          { path: 'additionalMetaData', from: null, to: { a: 1 } },
        ],
      },
      {
        kind: 'product',
        refId: 'cloud',
        action: 'update',
        fields: [{ path: 'settings.downgradeTiming', from: 'IMMEDIATE', to: 'END_OF_BILLING_PERIOD' }],
      },
    ])
  })

  it('takes data of the host application for one value', () => {
    const coupons = (additionalMetaData: object) => documentWith({ coupons: [{ refId: 'c', percentOff: 5, additionalMetaData }] })
    expect(difference(parsed(coupons({ a: 1, prices: 'high' })), coupons({ a: 2, prices: 'low' }))[0]?.fields).to.deep.equal([
      { path: 'additionalMetaData', from: { a: 1, prices: 'high' }, to: { a: 2, prices: 'low' } },
    ])
  })

  it('publishes a plan whose content changes, naming entitlements by feature and prices by what they are for', () => {
    const current = parsed(
      documentWith({ plans: [planWith({ entitlements: [{ feature: 'calls', limit: 10 }, { feature: 'sso' }], prices: [flat] })] }),
    )
    const entitlements = [
      { feature: 'seats', limit: 2 },
      { feature: 'calls', limit: 20 },
    ]
    const [change, ...others] = difference(current, documentWith({ plans: [planWith({ entitlements, prices: [{ ...flat, amount: 6 }] })] }))
    expect(others).to.deep.equal([])
    expect(change).to.include({ kind: 'plan', refId: 'basic', action: 'publish' })
    expect(change!.fields.map(({ path }) => path)).to.deep.equal([
      'entitlements["seats"]',
      'entitlements["calls"].limit',
      'entitlements["sso"]',
      'prices[flat MONTHLY USD].amount',
    ])
    expect(change!.fields[0]).to.deep.include({ from: null }).and.to.have.nested.property('to.limit', '2')
    expect(change!.fields[1]).to.deep.include({ from: '10', to: '20' })
    expect(change!.fields[2]).to.deep.include({ to: null })
    expect(change!.fields[3]).to.deep.include({ from: '5', to: '6' })
  })

  it('publishes a plan whose entitlements are displayed in another order', () => {
    const withOrder = (...features: string[]) =>
      documentWith({ plans: [planWith({ entitlements: features.map((feature) => ({ feature, limit: 1 })) })] })
    expect(difference(parsed(withOrder('calls', 'seats')), withOrder('seats', 'calls'))[0]?.fields).to.deep.equal([
      { path: 'entitlements.order', from: ['"calls"', '"seats"'], to: ['"seats"', '"calls"'] },
    ])
  })

  it('publishes an add-on whose content changes', () => {
    const addons = (maxQuantity: number) => documentWith({ addons: [planWith({ refId: 'more', maxQuantity })] })
    expect(difference(parsed(addons(5)), addons(6))).to.deep.equal([
      { kind: 'addon', refId: 'more', action: 'publish', fields: [{ path: 'maxQuantity', from: 5, to: 6 }] },
    ])
  })

  it('publishes the plans that inherit changed entitlements, after their base plan', () => {
    expect(difference(parsed(ladder(10)), ladder(20))).to.deep.equal([
      { kind: 'plan', refId: 'c-free', action: 'publish', fields: [{ path: 'entitlements["calls"].limit', from: '10', to: '20' }] },
      { kind: 'plan', refId: 'b-mid', action: 'publish', fields: [{ path: 'basePlan.entitlements["calls"].limit', from: '10', to: '20' }] },
      {
        kind: 'plan',
        refId: 'a-top',
        action: 'publish',
        fields: [{ path: 'basePlan.basePlan.entitlements["calls"].limit', from: '10', to: '20' }],
      },
    ])
  })

  it('also when the document leaves them out and they stay', () => {
    const wanted = { plans: [planWith({ refId: 'c-free', entitlements: [{ feature: 'calls', limit: 20, resetPeriod: 'MONTH' }] })] }
    expect(steps(difference(parsed(ladder(10)), wanted, false))).to.deep.equal([
      'publish plan c-free',
      'publish plan b-mid',
      'publish plan a-top',
    ])
  })

  it('publishes a plan for what changes of itself and of its base plan alike', () => {
    const both = (limit: number, description: string) =>
      documentWith({
        plans: [
          planWith({ refId: 'top', basePlan: 'free', description }),
          planWith({ refId: 'free', entitlements: [{ feature: 'seats', limit }] }),
        ],
      })
    expect(difference(parsed(both(1, 'one seat')), both(2, 'two seats')).at(-1)).to.deep.equal({
      kind: 'plan',
      refId: 'top',
      action: 'publish',
      fields: [
        { path: 'description', from: 'one seat', to: 'two seats' },
        { path: 'basePlan.entitlements["seats"].limit', from: '1', to: '2' },
      ],
    })
  })

  it('publishes a base plan alone when what changes is not inherited', () => {
    expect(steps(difference(parsed(ladder(10)), ladder(10, { description: 'Free for ever' })))).to.deep.equal(['publish plan c-free'])
  })

  it('treats the meter of a feature as a thing of its own', () => {
    const tokens = (events?: unknown) => documentWith({ features: [{ refId: 'tokens', type: 'NUMBER', meter: 'Incremental', events }] })
    const counting = { aggregation: 'COUNT' }
    const summing = { aggregation: 'SUM', field: 'tokens' }
    expect(steps(difference(parsed(tokens()), tokens(counting)))).to.deep.equal(['create meter tokens'])
    expect(difference(parsed(tokens(counting)), tokens(summing))).to.deep.equal([
      {
        kind: 'meter',
        refId: 'tokens',
        action: 'update',
        fields: [
          { path: 'aggregation', from: 'COUNT', to: 'SUM' },
          { path: 'field', from: null, to: 'tokens' },
        ],
      },
    ])
    for (const archiveMissing of [true, false]) {
      expect(steps(difference(parsed(tokens(counting)), tokens(), archiveMissing))).to.deep.equal(['archive meter tokens'])
    }
  })

  it('does not see the order of keys or a negative zero, which a database does not keep', () => {
    const current = parsed(documentWith({ coupons: [{ refId: 'c', percentOff: 5, additionalMetaData: { a: -0, b: { c: 1, d: 2 } } }] }))
    const stored = structuredClone(current)
    stored.coupons[0]!.additionalMetaData = { b: { d: 2, c: 1 }, a: 0 }
    expect(current.coupons[0]!.additionalMetaData).to.deep.equal({ a: 0, b: { c: 1, d: 2 } })
    expect(compareCatalogs(stored, current, { archiveMissing: true })).to.deep.equal([])
  })

  it('is empty once everything it says was done', () => {
    fc.assert(
      fc.property(documents, documents, fc.boolean(), (one, other, archiveMissing) => {
        const [current, wanted] = [parsed(one), parsed(other)]
        const result = archiveMissing ? wanted : overlay(current, wanted)
        expect(compareCatalogs(result, wanted, { archiveMissing })).to.deep.equal([])
        const isSame = JSON.stringify(current) === JSON.stringify(result)
        expect(compareCatalogs(current, wanted, { archiveMissing }).length === 0).to.equal(isSame)
      }),
      { numRuns: 40 },
    )
  }).timeout(20_000)
})
