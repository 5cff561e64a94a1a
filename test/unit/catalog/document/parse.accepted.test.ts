import { expect } from 'chai'
import { parseCatalogText } from '../../../../src/catalog/document/parse.js'
import { documentWith, emptyCatalog, entitling, parsed, planWith, pricing, refusals } from '../documents.js'

const firstEntitlement = (entitlement: unknown) => parsed(entitling(entitlement)).plans[0]!.entitlements[0]!

describe('a catalog document that is right', () => {
  it('may be empty', () => {
    expect(parsed({})).to.deep.equal(emptyCatalog)
    expect(parsed({ features: null, plans: [] })).to.deep.equal(emptyCatalog)
  })

  it('may leave out the limit of what the package sells by the unit', () => {
    const perSeat = { billingModel: 'PER_UNIT', billingPeriod: 'MONTHLY', currency: 'USD', amount: 5, feature: 'seats' }
    const sold = { entitlements: [{ feature: 'seats', softLimit: true }], prices: [perSeat] }
    const both = documentWith({ plans: [planWith(sold)], addons: [{ refId: 'more', product: 'cloud', ...sold }] })
    const { plans, addons } = parsed(both)
    for (const { entitlements } of [...plans, ...addons])
      expect(entitlements[0]).to.include({ feature: 'seats', limit: null, softLimit: true })
    expect(parsed(documentWith({ plans: [planWith({ prices: [perSeat] })] })).plans[0]!.entitlements).to.deep.equal([])
    // What cannot be read may be what sells it.
    expect(refusals(documentWith({ plans: [planWith({ ...sold, prices: [{ ...perSeat, amount: 'x' }] })] }))).to.have.length(1)
  })

  it('gets every default filled in', () => {
    const catalog = parsed({
      features: [{ refId: 'calls', type: 'NUMBER' }],
      products: [{ refId: 'cloud' }],
      plans: [{ refId: 'basic', product: 'cloud' }],
      addons: [{ refId: 'more', product: 'cloud' }],
      coupons: [{ refId: 'ten', percentOff: 10 }],
    })
    expect(catalog.features[0]).to.deep.equal({
      refId: 'calls',
      displayName: 'calls',
      description: null,
      type: 'NUMBER',
      meter: 'None',
      units: null,
      unitsPlural: null,
      enumValues: [],
      events: null,
      unitTransformation: null,
      additionalMetaData: null,
    })
    expect(catalog.products[0]).to.deep.equal({
      refId: 'cloud',
      displayName: 'cloud',
      description: null,
      settings: {
        newCustomer: 'PLAN_SELECTION',
        newCustomerPlan: null,
        endOfSubscription: 'CANCEL_SUBSCRIPTION',
        downgradePlan: null,
        downgradeTiming: 'IMMEDIATE',
        cancellationTiming: 'IMMEDIATE',
        usageOnPlanChange: 'ALWAYS_RESET',
        multipleSubscriptions: false,
      },
      additionalMetaData: null,
    })
    const sold = { displayName: 'basic', description: null, pricingType: 'FREE', entitlements: [], prices: [], additionalMetaData: null }
    expect(catalog.plans[0]).to.deep.equal({
      ...sold,
      refId: 'basic',
      product: 'cloud',
      basePlan: null,
      compatibleAddons: [],
      defaultTrial: null,
    })
    expect(catalog.addons[0]).to.deep.equal({
      ...sold,
      refId: 'more',
      displayName: 'more',
      product: 'cloud',
      maxQuantity: null,
      dependencies: [],
    })
    expect(catalog.coupons[0]).to.deep.equal({
      refId: 'ten',
      name: 'ten',
      description: null,
      percentOff: '10',
      amountsOff: null,
      durationInMonths: null,
      maxRedemptions: null,
      additionalMetaData: null,
    })
  })

  it('keeps limits and amounts as exact decimals, written as number or as text', () => {
    const written: [unknown, string][] = [
      [10, '10'],
      [0, '0'],
      [0.1, '0.1'],
      [1e-9, '0.000000001'],
      ['10.500', '10.5'],
      ['0.000000001', '0.000000001'],
      [9007199254740991, '9007199254740991'],
      ['9007199254740990.999999999', '9007199254740990.999999999'],
    ]
    for (const [limit, kept] of written) expect(firstEntitlement({ feature: 'calls', limit }).limit, String(limit)).to.equal(kept)
    const price = { billingModel: 'FLAT_FEE', billingPeriod: 'MONTHLY', currency: 'USD', amount: '29.90' }
    expect(parsed(pricing(price)).plans[0]!.prices[0]!.amount).to.equal('29.9')
  })

  it('gives every reset a rule', () => {
    for (const resetPeriod of ['HOUR', 'DAY', 'WEEK', 'MONTH', 'YEAR']) {
      expect(firstEntitlement({ feature: 'calls', limit: 1, resetPeriod }).resetRule, resetPeriod).to.equal('SubscriptionStart')
    }
    expect(firstEntitlement({ feature: 'calls', limit: 1, resetPeriod: 'WEEK', resetRule: 'EverySunday' }).resetRule).to.equal(
      'EverySunday',
    )
    expect(firstEntitlement({ feature: 'calls', limit: 1 }).resetRule).to.equal(null)
  })

  it('lets a plan override and an add-on add, unless they say otherwise', () => {
    const entitlements = [
      { feature: 'calls', limit: 1 },
      { feature: 'seats', limit: 1, behavior: 'Override' },
    ]
    const addons = [{ refId: 'more', product: 'cloud', entitlements }]
    const catalog = parsed(documentWith({ plans: [planWith({ entitlements })], addons }))
    expect(catalog.plans[0]!.entitlements.map(({ behavior }) => behavior)).to.deep.equal(['Override', 'Override'])
    expect(catalog.addons[0]!.entitlements.map(({ behavior }) => behavior)).to.deep.equal(['Increment', 'Override'])
  })

  it('tells what is paid by its prices', () => {
    const price = { billingModel: 'FLAT_FEE', billingPeriod: 'MONTHLY', currency: 'USD', amount: 1 }
    expect(parsed(pricing(price)).plans[0]!.pricingType).to.equal('PAID')
    expect(parsed(pricing()).plans[0]!.pricingType).to.equal('FREE')
    expect(parsed(documentWith({ plans: [planWith({ pricingType: 'CUSTOM' })] })).plans[0]!.pricingType).to.equal('CUSTOM')
  })

  it('measures a feature from raw events', () => {
    const filters = [
      [
        { field: 'eventName', operation: 'EQUALS', value: 'completion' },
        { field: 'retries', operation: 'GREATER_THAN', value: 0 },
      ],
      [
        { field: 'region', operation: 'IN', values: ['eu', ''] },
        { field: 'cached', operation: 'EQUALS', value: false },
        { field: 'error', operation: 'IS_NULL' },
      ],
    ]
    const feature = { refId: 'tokens', type: 'NUMBER', meter: 'Incremental', events: { aggregation: 'SUM', field: 'tokens', filters } }
    const transformed = { ...feature, unitTransformation: { divide: 1000, round: 'UP' } }
    const [read] = parsed({ features: [transformed] }).features
    expect(read?.events).to.deep.equal({ aggregation: 'SUM', field: 'tokens', filters })
    expect(read?.unitTransformation).to.deep.equal({ divide: 1000, round: 'UP' })
    expect(parsed({ features: [{ ...feature, events: { aggregation: 'COUNT' } }] }).features[0]?.events?.filters).to.deep.equal([])
  })

  it('takes any identifier that the rest of the platform takes', () => {
    for (const refId of ['customer:1', 'a/b', '..', 'Zoë', '客户', 'x'.repeat(255), "o'brien", '100%', 'a b', '__proto__', 'constructor']) {
      const catalog = parsed({
        features: [{ refId, type: 'BOOLEAN' }],
        products: [{ refId }],
        plans: [{ refId, product: refId, entitlements: [{ feature: refId }] }],
      })
      expect(catalog.plans[0]!.entitlements[0]!.feature).to.equal(refId)
    }
  })

  it('may name what only the catalog in force defines, unless that would be archived', () => {
    const current = parsed(documentWith({ plans: [planWith({})] }))
    const addition = { plans: [{ refId: 'top', product: 'cloud', basePlan: 'basic', entitlements: [{ feature: 'sso' }] }] }
    expect(parsed(addition, { current, archiveMissing: false }).plans.map(({ refId }) => refId)).to.deep.equal(['top'])
    expect(refusals(addition, { current, archiveMissing: true })).to.deep.equal([
      "plans[0].entitlements[0].feature: there is no feature 'sso'",
      "plans[0].product: there is no product 'cloud'",
      "plans[0].basePlan: there is no plan 'basic'",
    ])
  })

  it('may be YAML or JSON text', () => {
    const options = { current: null, archiveMissing: false }
    const yaml = parseCatalogText('features:\n  - { refId: sso, type: BOOLEAN } # one\n', options)
    expect(yaml).to.deep.equal(parseCatalogText('{"features": [{"refId": "sso", "type": "BOOLEAN"}]}', options))
    expect(yaml).to.have.nested.property('catalog.features[0].refId', 'sso')
  })
})
