import { expect } from 'chai'
import { parseCatalog } from '../../../../src/catalog/document/parse.js'
import { documentWith, parsed, planWith, refusals, someFeatures } from '../documents.js'

const feature = (fields: object) => ({ features: [{ refId: 'f', type: 'BOOLEAN', ...fields }] })
const text = (length: number) => 'x'.repeat(length)

describe('long texts of a catalog', () => {
  it('are refused where they are longer than the API takes them, each with its path', () => {
    const filters = [[{ field: text(256), operation: 'EQUALS', value: text(256) }]]
    const document = documentWith({
      features: [
        ...someFeatures,
        {
          refId: 'f',
          type: 'NUMBER',
          meter: 'Incremental',
          units: text(256),
          displayName: text(1_001),
          events: { aggregation: 'COUNT', filters },
        },
      ],
      plans: [planWith({ description: text(4_001), entitlements: [{ feature: 'sso', displayNameOverride: text(256) }] })],
      coupons: [{ refId: 'c', name: text(1_001), percentOff: 5, additionalMetaData: { a: text(65_600) } }],
    })
    expect(refusals(document)).to.have.members(
      [
        'features[FEATURE].displayName: has 1001 characters: at most 1000 are taken',
        'features[FEATURE].units: has 256 characters: at most 255 are taken',
        'features[FEATURE].events.filters[0][0].field: has 256 characters: at most 255 are taken',
        'features[FEATURE].events.filters[0][0].value: has 256 characters: at most 255 are taken',
        'plans[0].description: has 4001 characters: at most 4000 are taken',
        'plans[0].entitlements[0].displayNameOverride: has 256 characters: at most 255 are taken',
        'coupons[0].name: has 1001 characters: at most 1000 are taken',
        'coupons[0].additionalMetaData: has 65608 bytes as JSON: at most 65536 are taken',
      ].map((problem) => problem.replace('FEATURE', String(someFeatures.length))),
    )
  })

  it('are taken as long as they may be', () => {
    parsed(feature({ displayName: text(1_000), description: text(4_000), additionalMetaData: { a: text(65_528) } }))
  })

  it('may stay as they are in force', () => {
    const long = { description: text(5_000), additionalMetaData: { a: text(70_000) } }
    const current = parsed(feature({}))
    current.features[0] = { ...current.features[0]!, ...long }
    const again = (fields: object) => parseCatalog(feature(fields), { current, archiveMissing: false })
    expect(again(long)).to.have.property('catalog')
    expect(again({ ...long, description: `${long.description} and more` }))
      .to.have.property('problems')
      .that.deep.equals([{ path: 'features[0].description', message: 'has 5009 characters: at most 4000 are taken' }])
  })
})
