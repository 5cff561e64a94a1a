import { expect } from 'chai'
import { readCatalogText } from '../../../../src/catalog/document/parse.js'
import { maxCatalogBytes } from '../../../../src/catalog/document/text-limits.js'
import { documentWith, entitling, parsed, planWith, refusals } from '../documents.js'

const paths = (problems: string[]) => problems.map((problem) => problem.split(': ')[0])
const regions = (...enumValues: string[]) => [{ refId: 'regions', type: 'ENUM', enumValues }]
const inEurope = { entitlements: [{ feature: 'regions', values: ['eu'] }] }

describe('the problems of a catalog document', () => {
  it('are in the order of the document, also those of a tenth definition, whatever is found first', () => {
    const plans = Array.from({ length: 13 }, (_, position) => planWith({ refId: `plan-${position}` }))
    Object.assign(plans[12]!, { displayName: 5 })
    Object.assign(plans[11]!, { product: 'other' })
    Object.assign(plans[2]!, { basePlan: 'plan-3' })
    Object.assign(plans[3]!, { basePlan: 'plan-2' })
    expect(paths(refusals({ 'plans of old': 1, ...documentWith({ plans, features: [...regions('eu'), { refId: 'x' }] }) }))).to.deep.equal([
      '["plans of old"]',
      'features[1].type',
      'plans[3].basePlan',
      'plans[11].product',
      'plans[12].displayName',
    ])
  })

  it('are before those of what is in force, which is named', () => {
    const before = documentWith({
      features: regions('eu', 'us'),
      plans: [planWith({ refId: 'old', ...inEurope })],
      addons: [planWith({ refId: 'more', ...inEurope })],
    })
    const after = { features: regions('us'), plans: [planWith({ refId: 'a', basePlan: 'b' }), planWith({ refId: 'b', basePlan: 'a' })] }
    expect(paths(refusals(after, { current: parsed(before), archiveMissing: false }))).to.deep.equal([
      'plans[1].basePlan',
      'plans["old"].entitlements[0].values[0]',
      'addons["more"].entitlements[0].values[0]',
    ])
  })

  it('name the list that is none', () => {
    expect(paths(refusals(documentWith({ plans: [planWith({ entitlements: 5, prices: { a: 1 } })] })))).to.deep.equal([
      'plans[0].entitlements',
      'plans[0].prices',
    ])
    expect(paths(refusals({ features: 5 }))).to.deep.equal(['features'])
  })

  it('are none of what a host application keeps with a definition, also with one that is not read', () => {
    const metaData = { feature: 'nothing', product: 'nowhere', dependencies: ['nothing'] }
    const unread = documentWith({ plans: [planWith({ displayName: 5, additionalMetaData: metaData })] })
    expect(paths(refusals(unread))).to.deep.equal(['plans[0].displayName'])
  })

  it('name all of a circle that is not long, however long the way to it is', () => {
    const plans = Array.from({ length: 25 }, (_, position) =>
      planWith({ refId: `p${position}`, basePlan: `p${position === 24 ? 15 : position + 1}` }),
    )
    const circle = [15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 15].map((position) => `p${position}`).join(' -> ')
    expect(refusals(documentWith({ plans }))).to.deep.equal([`plans[24].basePlan: leads back to itself: ${circle}`])
  })

  it('are those of each definition that is none, and no others', () => {
    const broken = [null, 5, { refId: 5, type: 'BOOLEAN' }, { refId: 5, type: 'BOOLEAN' }]
    expect(paths(refusals({ features: broken }))).to.deep.equal(['features[0]', 'features[1]', 'features[2].refId', 'features[3].refId'])
    expect(paths(refusals(entitling(null)))).to.deep.equal(['plans[0].entitlements[0]'])
  })
})

describe('text that is no catalog', () => {
  const pathOf = (text: string) => {
    const read = readCatalogText(text)
    return 'problems' in read ? read.problems.map(({ path }) => path) : null
  }

  it('is refused where it is wrong, or as a whole', () => {
    expect(pathOf('features:\n  - [')).to.deep.equal(['line 2, column 6'])
    const wholes = [
      'features: *missing',
      `${'['.repeat(40)}${']'.repeat(40)}`,
      `${'['.repeat(200)}${']'.repeat(200)}`,
      `"${'a'.repeat(maxCatalogBytes)}"`,
      `a: &a "${'a'.repeat(maxCatalogBytes / 2)}"\nb: [*a, *a]`,
    ]
    for (const whole of wholes) expect(pathOf(whole), whole.slice(0, 10)).to.deep.equal([''])
  })

  it('is as long as it may be', () => {
    const text = `"${'a'.repeat(maxCatalogBytes - 2)}"`
    expect(readCatalogText(text)).to.deep.equal({ input: JSON.parse(text) })
  })
})

describe('what a catalog document means', () => {
  const written = (values: string[], names: string[], additionalMetaData: object | null) =>
    parsed(
      documentWith({
        plans: [planWith({ compatibleAddons: names, entitlements: [{ feature: 'regions', values }], additionalMetaData })],
        addons: [planWith({ refId: 'all', dependencies: names }), ...names.map((refId) => planWith({ refId }))],
      }),
    )

  it('is the same in whatever order names and values are written', () => {
    const [one, other] = [
      written(['us', 'eu'], ['b', 'a'], { y: { d: 1, c: 2 }, x: 1 }),
      written(['eu', 'us'], ['a', 'b'], { x: 1, y: { c: 2, d: 1 } }),
    ]
    expect(JSON.stringify(one)).to.equal(JSON.stringify(other))
    expect(one.addons.map(({ refId, dependencies }) => [refId, dependencies])).to.deep.equal([
      ['a', []],
      ['all', ['a', 'b']],
      ['b', []],
    ])
    const [plan] = one.plans
    expect([plan!.compatibleAddons, plan!.entitlements[0]!.values]).to.deep.equal([
      ['a', 'b'],
      ['eu', 'us'],
    ])
  })

  it('is nothing where there is nothing in a map', () => {
    expect([{}, null].map((empty) => written(['eu'], [], empty).plans[0]!.additionalMetaData)).to.deep.equal([null, null])
  })
})
