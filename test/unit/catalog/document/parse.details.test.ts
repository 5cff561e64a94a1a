import { expect } from 'chai'
import { parseCatalogText, readCatalogText } from '../../../../src/catalog/document/parse.js'
import { isDeeper, maxCatalogBytes, maxCatalogDepth, textFault } from '../../../../src/catalog/document/text-limits.js'
import { documentWith, entitling, parsed, planWith, pricing, refusals } from '../documents.js'

const flat = { billingModel: 'FLAT_FEE', billingPeriod: 'MONTHLY', currency: 'USD', amount: 5 }
const perSeat = { billingModel: 'PER_UNIT', billingPeriod: 'MONTHLY', currency: 'USD', feature: 'seats', amount: 5 }
const perStorage = { ...perSeat, feature: 'storage' }
const usage = { ...perSeat, billingModel: 'USAGE_BASED', feature: 'calls' }
const tiered = { ...usage, amount: null, tiersMode: 'VOLUME' }
const settings = (given: object, plans: unknown[] = []) => documentWith({ products: [{ refId: 'cloud', settings: given }], plans })
const products = [{ refId: 'cloud' }, { refId: 'desk' }]
const foreign = { refId: 'other', product: 'desk' }
const paths = (problems: string[]) => problems.map((problem) => problem.split(': ')[0])

describe('a catalog document is accepted', () => {
  const trial = { duration: 1000, units: 'DAY' }
  const cases: [string, unknown][] = [
    ['with the version that it was made from', { version: 'v1' }],
    ['without one', { version: null }],
    ['with the largest value of a number without a meter', entitling({ feature: 'storage', limit: 2 ** 31 - 1 })],
    ['with the largest limit', entitling({ feature: 'calls', limit: 2 ** 53 - 1, softLimit: true })],
    ['with a level without limit', entitling({ feature: 'seats', unlimited: true })],
    ['with the largest block of what has no meter', pricing({ ...perStorage, blockSize: 2 ** 31 - 1, maxQuantity: 2 ** 31 - 1 })],
    ['with a larger block of what has one', pricing({ ...perSeat, blockSize: 2 ** 31, minQuantity: 0 })],
    ['with one quantity that can be bought', pricing({ ...perSeat, minQuantity: 3, maxQuantity: 3 })],
    ['with usage of what is sold in blocks', pricing({ ...usage, blockSize: 5 })],
    ['with one tier', pricing({ ...tiered, tiers: [{ flatPrice: 1 }] })],
    [
      'with tiers of units and fees',
      pricing({ ...tiered, tiersMode: 'GRADUATED', tiers: [{ upTo: 1, unitPrice: 1, flatPrice: 1 }, { unitPrice: 0 }] }),
    ],
    ['with prices that differ in one thing', pricing(flat, { ...flat, currency: 'EUR' }, { ...flat, country: 'AT' }, perSeat, usage)],
    ['with a trial of what is agreed', documentWith({ plans: [planWith({ pricingType: 'CUSTOM', defaultTrial: trial })] })],
    ['with everything off', { coupons: [{ refId: 'c', percentOff: 100, durationInMonths: 1200, maxRedemptions: 1 }] }],
    [
      'with amounts off',
      {
        coupons: [
          {
            refId: 'c',
            amountsOff: [
              { amount: 1, currency: 'EUR' },
              { amount: 1, currency: 'USD' },
            ],
          },
        ],
      },
    ],
    [
      'with a trial that its product begins with',
      settings({ newCustomer: 'TRIAL_PERIOD', newCustomerPlan: 'basic' }, [planWith({ prices: [flat], defaultTrial: trial })]),
    ],
    [
      'with a free plan at both ends',
      settings({ newCustomer: 'FREE_PLAN', newCustomerPlan: 'basic', endOfSubscription: 'DOWNGRADE_TO_FREE', downgradePlan: 'basic' }, [
        planWith({}),
      ]),
    ],
    ['with one name for a plan and an add-on', documentWith({ plans: [planWith({})], addons: [planWith({})] })],
    [
      'with a base plan of two',
      documentWith({ plans: [planWith({}), planWith({ refId: 'a', basePlan: 'basic' }), planWith({ refId: 'b', basePlan: 'basic' })] }),
    ],
  ]
  for (const [name, input] of cases) it(name, () => expect(refusals(input)).to.deep.equal([]))
})

describe('a catalog document is refused', () => {
  const place = 'plans[0].prices[0]'
  const cases: [string, unknown, ...string[]][] = [
    ['with a version that is no text', { version: 5, colour: 1 }, 'colour', 'version'],
    ['with one refId for two products', documentWith({ products: [...products, { refId: 'cloud' }] }), 'products[2].refId'],
    ['with one refId for two plans', documentWith({ plans: [planWith({}), planWith({})] }), 'plans[1].refId'],
    ['with one refId for two add-ons', documentWith({ addons: [planWith({}), planWith({})] }), 'addons[1].refId'],
    [
      'with one refId for two coupons',
      {
        coupons: [
          { refId: 'c', percentOff: 1 },
          { refId: 'c', percentOff: 1 },
        ],
      },
      'coupons[1].refId',
    ],
    [
      'with what an ENUM has not',
      entitling({ feature: 'regions', values: ['eu'], limit: 1, unlimited: true, softLimit: true, resetPeriod: 'DAY' }),
      'plans[0].entitlements[0].limit',
      'plans[0].entitlements[0].unlimited',
      'plans[0].entitlements[0].softLimit',
      'plans[0].entitlements[0].resetPeriod',
    ],
    ['with values of a NUMBER', entitling({ feature: 'calls', limit: 1, values: ['a'] }), 'plans[0].entitlements[0].values'],
    [
      'with a limit that is negative or none',
      entitling({ feature: 'calls', limit: Number.POSITIVE_INFINITY }),
      'plans[0].entitlements[0].limit',
    ],
    [
      'with what a flat fee has not',
      pricing({ ...flat, tiers: [{ unitPrice: 1 }], tiersMode: 'VOLUME', maxQuantity: 1 }),
      `${place}.tiers`,
      `${place}.tiersMode`,
      `${place}.maxQuantity`,
    ],
    ['with a least quantity of usage', pricing({ ...usage, minQuantity: 1 }), `${place}.minQuantity`],
    ['with a least quantity that is no value', pricing({ ...perStorage, minQuantity: 2 ** 31 }), `${place}.minQuantity`],
    [
      'with a first tier of nothing',
      pricing({ ...tiered, tiers: [{ upTo: 0, unitPrice: 1 }, { unitPrice: 1 }] }),
      `${place}.tiers[0].upTo`,
    ],
    [
      'with an amount and tiers of what is sold by the unit',
      pricing({ ...perSeat, tiersMode: 'VOLUME', tiers: [{ unitPrice: 1 }] }),
      place,
    ],
    [
      'with a plan that is agreed and has prices',
      documentWith({ plans: [planWith({ pricingType: 'CUSTOM', prices: [flat] })] }),
      'plans[0].pricingType',
    ],
    ['with an add-on that is paid and has none', documentWith({ addons: [planWith({ pricingType: 'PAID' })] }), 'addons[0].prices'],
    [
      'with what belongs to another product',
      {
        ...settings({ newCustomer: 'FREE_PLAN', newCustomerPlan: 'other', endOfSubscription: 'DOWNGRADE_TO_FREE', downgradePlan: 'other' }),
        products: [
          {
            refId: 'cloud',
            settings: {
              newCustomer: 'FREE_PLAN',
              newCustomerPlan: 'other',
              endOfSubscription: 'DOWNGRADE_TO_FREE',
              downgradePlan: 'other',
            },
          },
          { refId: 'desk' },
        ],
        plans: [foreign, planWith({ compatibleAddons: ['other'] })],
        addons: [foreign, planWith({ dependencies: ['other'] })],
      },
      'products[0].settings.newCustomerPlan',
      'products[0].settings.downgradePlan',
      'plans[1].compatibleAddons[0]',
      'addons[1].dependencies[0]',
    ],
    [
      'with what is not there',
      {
        ...settings({ newCustomer: 'TRIAL_PERIOD', newCustomerPlan: 'x', endOfSubscription: 'DOWNGRADE_TO_FREE', downgradePlan: 'y' }),
        addons: [planWith({ product: 'z', dependencies: ['x', 'x'] })],
      },
      'products[0].settings.newCustomerPlan',
      'products[0].settings.downgradePlan',
      'addons[0].product',
      'addons[0].dependencies[0]',
      'addons[0].dependencies[1]',
      'addons[0].dependencies[1]',
    ],
    [
      'with what is not there in what cannot be read',
      documentWith({
        plans: [
          {
            refId: 5,
            product: 'nope',
            basePlan: 'no base',
            compatibleAddons: [7, 'no add-on'],
            entitlements: [{ feature: 'no', limit: -1 }],
            __proto: 1,
          },
        ],
        addons: [{ refId: 5, product: 'cloud', dependencies: ['none'], constructor: 'x', prices: [{ feature: 'no' }] }],
      }),
      'plans[0].__proto',
      'plans[0].refId',
      'plans[0].compatibleAddons[0]',
      'plans[0].entitlements[0].limit',
      'plans[0].product',
      'plans[0].basePlan',
      'plans[0].compatibleAddons[1]',
      'plans[0].entitlements[0].feature',
      'addons[0].constructor',
      'addons[0].refId',
      'addons[0].prices[0].billingModel',
      'addons[0].prices[0].billingPeriod',
      'addons[0].prices[0].currency',
      'addons[0].dependencies[0]',
      'addons[0].prices[0].feature',
    ],
    [
      'with plans in a circle that others lead to',
      documentWith({
        plans: [planWith({ basePlan: 'a' }), planWith({ refId: 'a', basePlan: 'b' }), planWith({ refId: 'b', basePlan: 'a' })],
      }),
      'plans[2].basePlan',
    ],
  ]
  for (const [name, input, ...at] of cases) it(name, () => expect(paths(refusals(input))).to.deep.equal(at))

  it('with the circle alone, not what leads to it', () => {
    const plans = [planWith({ basePlan: 'a' }), planWith({ refId: 'a', basePlan: 'b' }), planWith({ refId: 'b', basePlan: 'a' })]
    expect(refusals(documentWith({ plans }))).to.deep.equal(['plans[2].basePlan: leads back to itself: a -> b -> a'])
  })

  it('with the first and the last of a long circle', () => {
    const circle = (count: number) =>
      refusals(
        documentWith({
          plans: Array.from({ length: count }, (_, index) => planWith({ refId: `p${index}`, basePlan: `p${(index + 1) % count}` })),
        }),
      )[0]!
    const names = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => `p${from + index}`).join(' -> ')
    expect(circle(20)).to.equal(`plans[19].basePlan: leads back to itself: ${names(0, 20)} -> p0`)
    expect(circle(21)).to.equal(`plans[20].basePlan: leads back to itself: ${names(0, 10)} -> … -> ${names(11, 21)} -> p0`)
  })

  it('with a thousand problems, and how many more there are', () => {
    const problems = (count: number) => refusals({ features: Array.from({ length: count }, (_, index) => ({ refId: `f${index}` })) })
    expect([problems(1_000).length, problems(1_000)[999]]).to.deep.equal([1_000, 'features[999].type: is required'])
    expect(problems(1_002).slice(999)).to.deep.equal(['features[999].type: is required', ': there are 2 problems more'])
  })

  it('with some of the values of an ENUM', () => {
    const message = (count: number) => {
      const enumValues = Array.from({ length: count }, (_, index) => `v${index}`)
      return refusals({ ...entitling({ feature: 'e' }), features: [{ refId: 'e', type: 'ENUM', enumValues }] })[0]!
    }
    expect(message(20)).to.match(/some of v0, .*, v19$/)
    expect(message(21)).to.match(/some of v0, .*, v19, …$/)
  })

  it('with what is in force last, by its name, and in the order of the document', () => {
    const current = parsed(
      documentWith({ products: [{ refId: 'b c' }, { refId: 'cloud' }], plans: [planWith({ refId: 'p', product: 'b c', basePlan: null })] }),
    )
    const taken = {
      products: [{ refId: 'cloud', settings: { downgradePlan: 'x' } }],
      features: [{ refId: 'calls', type: 'ENUM', enumValues: ['a'] }],
    }
    expect(paths(refusals(taken, { current, archiveMissing: false }))).to.deep.equal([
      'features[0].type',
      'features[0].meter',
      'products[0].settings.downgradePlan',
    ])
    const base = parsed(documentWith({ addons: [planWith({ refId: 'a' })], plans: [planWith({ compatibleAddons: ['a'] })], products }))
    expect(
      paths(
        refusals(
          { addons: [planWith({ refId: 'a', product: 'desk' })], plans: [{ refId: 'new', product: 'x' }] },
          { current: base, archiveMissing: false },
        ),
      ),
    ).to.deep.equal(['plans[0].product', 'plans["basic"].compatibleAddons[0]', 'addons[0].product'])
  })
})

describe('the text of a catalog', () => {
  const depth = (levels: number) => `a: ${'['.repeat(levels)}${']'.repeat(levels)}`
  it('has brackets that are open at a time, which are counted', () => {
    expect(textFault('['.repeat(100))).to.equal(null)
    expect(textFault('['.repeat(101))).to.not.equal(null)
    expect(textFault('{'.repeat(101))).to.not.equal(null)
    expect(textFault('[]{}'.repeat(200))).to.equal(null)
    // What was never opened closes nothing.
    expect(textFault(`${']'.repeat(50)}${'['.repeat(101)}`)).to.not.equal(null)
    expect(textFault(`${'[{'.repeat(50)}${'}]'.repeat(50)}`)).to.equal(null)
  })
  it('has marks of lists in a line, which are counted', () => {
    for (const mark of ['- ', '? ']) {
      expect(textFault(mark.repeat(100))).to.equal(null)
      expect(textFault(mark.repeat(101))).to.not.equal(null)
      expect(textFault(`${mark.repeat(60)}\n${mark.repeat(60)}`)).to.equal(null)
    }
    expect(textFault('a-b?c'.repeat(200))).to.equal(null)
  })
  it('is as long as it may be', () => {
    expect(textFault(' '.repeat(maxCatalogBytes))).to.equal(null)
    expect(textFault(' '.repeat(maxCatalogBytes + 1))).to.not.equal(null)
    expect(textFault('ä'.repeat(maxCatalogBytes / 2))).to.equal(null)
  })
  it('nests as deep as it may', () => {
    const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)])
    expect([
      isDeeper(nested(3), 3),
      isDeeper(nested(4), 3),
      isDeeper({ a: null, b: { c: {} } }, 2),
      isDeeper({ a: { b: { c: {} } } }, 2),
    ]).to.deep.equal([false, true, true, true])
    expect(isDeeper({ a: null, b: { c: 1 } }, 2)).to.equal(false)
    expect(readCatalogText(depth(maxCatalogDepth - 1))).to.have.property('input')
    expect(readCatalogText(depth(maxCatalogDepth))).to.have.property('problems')
  })
  it('says where it is none, in one line', () => {
    const problem = (text: string) => {
      const read = parseCatalogText(text, { current: null, archiveMissing: false })
      return 'problems' in read ? read.problems[0]! : null
    }
    expect(problem('plans:\n  - { refId: a\n')!.path).to.match(/^line \d+, column \d+$/)
    expect(problem('a: 1\nb: 2\na: 3')).to.include({ path: 'line 3, column 1', message: 'Map keys must be unique' })
    expect(problem('a: [1, *b]')!.message).to.not.include('\n')
    expect(problem('')).to.include({ path: '' }).and.to.have.property('message').that.includes('must be a map')
    expect(problem('? [a]\n: 1\n? [a]\n: 2')!.message).to.include('not a known key')
  })
})
