import { expect } from 'chai'
import * as fc from 'fast-check'
import { stringify } from 'yaml'
import { compareCatalogs } from '../../../../src/catalog/document/difference.js'
import { contentVersion, exportCatalog } from '../../../../src/catalog/document/export.js'
import { normalise } from '../../../../src/catalog/document/normalise.js'
import { parseCatalogText } from '../../../../src/catalog/document/parse.js'
import { documents } from '../arbitrary.js'
import { documentWith, parsed, planWith } from '../documents.js'

const archiveMissing = true
const forAll = (claim: (input: Record<string, unknown>) => void) =>
  fc.assert(
    fc.property(documents, (input) => {
      claim(input)
    }),
    { numRuns: 60 },
  )

describe('the normal form of a catalog', function () {
  // Sixty catalogs, and their YAML, take seconds where the machine is busy.
  this.timeout(10_000)

  it('is its own normal form', () => {
    forAll((input) => expect(normalise(parsed(input))).to.deep.equal(parsed(input)))
  })

  it('differs from itself in nothing', () => {
    forAll((input) => expect(compareCatalogs(parsed(input), parsed(input), { archiveMissing })).to.deep.equal([]))
  })

  it('does not depend on the order in which definitions were written', () => {
    const reversed = (input: Record<string, unknown>) =>
      Object.fromEntries(
        Object.entries(input)
          .reverse()
          .map(([section, items]) => [section, [...(items as unknown[])].reverse()]),
      )
    forAll((input) => expect(parsed(reversed(input))).to.deep.equal(parsed(input)))
  })

  it('is a document itself', () => {
    forAll((input) => expect(parsed(parsed(input))).to.deep.equal(parsed(input)))
  })

  it('is what an export reads back as, through YAML and through JSON', () => {
    forAll((input) => {
      const written = exportCatalog(parsed(input))
      for (const text of [stringify(written), JSON.stringify(written)]) {
        expect(parseCatalogText(text, { current: null, archiveMissing })).to.deep.include({ catalog: parsed(input) })
      }
    })
  })

  it('has a version that is another one exactly where there is a difference', () => {
    fc.assert(
      fc.property(documents, documents, fc.boolean(), (first, second, isSame) => {
        const [one, other] = [parsed(first), isSame ? parsed(exportCatalog(parsed(first))) : parsed(second)]
        const isDifferent = compareCatalogs(one, other, { archiveMissing }).length > 0
        expect(contentVersion(one) !== contentVersion(other)).to.equal(isDifferent)
      }),
      { numRuns: 60 },
    )
  })

  it('has a version that any change makes another one, and undoing it the first again', () => {
    const plan = (limit: number) => documentWith({ plans: [planWith({ entitlements: [{ feature: 'calls', limit }] })] })
    const [first, second, third] = [3, 4, 3].map((limit) => contentVersion(parsed(plan(limit))))
    expect(first)
      .to.match(/^v[0-9a-f]{16}$/)
      .and.not.equal(second)
    expect(third).to.equal(first)
  })

  it('keeps the order of entitlements and of the values of an ENUM, which is how they are displayed', () => {
    const features = [
      { refId: 'size', type: 'ENUM', enumValues: ['small', 'large'] },
      { refId: 'b', type: 'BOOLEAN' },
      { refId: 'a', type: 'BOOLEAN' },
    ]
    const catalog = parsed(documentWith({ features, plans: [planWith({ entitlements: [{ feature: 'b' }, { feature: 'a' }] })] }))
    expect(catalog.features.map(({ refId }) => refId)).to.deep.equal(['a', 'b', 'size'])
    expect(catalog.features[2]!.enumValues).to.deep.equal(['small', 'large'])
    expect(catalog.plans[0]!.entitlements.map(({ feature }) => feature)).to.deep.equal(['b', 'a'])
  })

  it('orders prices by what they are for, and what has no order alphabetically', () => {
    const price = { billingModel: 'FLAT_FEE', billingPeriod: 'MONTHLY', currency: 'USD', amount: 1 }
    const prices = [price, { ...price, currency: 'EUR', country: 'DE' }, { ...price, currency: 'EUR' }]
    const addons = [planWith({ refId: 'z' }), planWith({ refId: 'y' })]
    const catalog = parsed(documentWith({ plans: [planWith({ prices, compatibleAddons: ['z', 'y'] })], addons }))
    expect(catalog.plans[0]!.prices.map(({ currency, country }) => [currency, country])).to.deep.equal([
      ['EUR', null],
      ['EUR', 'DE'],
      ['USD', null],
    ])
    expect(catalog.plans[0]!.compatibleAddons).to.deep.equal(['y', 'z'])
  })

  it('exports what a person would write', () => {
    const entitlements = [
      { feature: 'calls', limit: '0.5', unlimited: false, resetPeriod: 'MONTH' },
      { feature: 'seats', limit: '9007199254740990.5' },
    ]
    const additionalMetaData = { limit: '5', empty: null, none: [] }
    expect(exportCatalog(parsed(documentWith({ plans: [planWith({ entitlements, additionalMetaData })] }))).plans).to.deep.equal([
      {
        refId: 'basic',
        displayName: 'basic',
        product: 'cloud',
        pricingType: 'FREE',
        entitlements: [
          { feature: 'calls', limit: 0.5, behavior: 'Override', resetPeriod: 'MONTH', resetRule: 'SubscriptionStart' },
          { feature: 'seats', limit: '9007199254740990.5', behavior: 'Override' },
        ],
        additionalMetaData,
      },
    ])
  })
})
