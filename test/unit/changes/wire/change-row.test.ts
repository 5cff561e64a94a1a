import { expect } from 'chai'
import { type ChangeRow, changesOf } from '../../../../src/changes/wire/change-row.js'

const usage = { currentUsage: '5', periodStart: 1, periodEnd: 2, updatedAt: 30 }
const common = { id: 'row', createdAt: 40 }
const row = (parts: Partial<ChangeRow>): ChangeRow => {
  return { ...common, kind: 'entitlements', customerId: 'acme', resourceId: null, version: '20', payload: null, told: null, ...parts }
}

describe('a row of the outbox', () => {
  it('tells of a customer’s entitlements, or that they are to be forgotten', () => {
    for (const kind of ['entitlements', 'purge'])
      expect(changesOf(row({ kind, resourceId: 'site' }))).to.deep.equal([
        { ...common, kind, customerId: 'acme', resourceId: 'site', version: 20, payload: null },
      ])
  })

  it('tells of one customer’s usage', () => {
    const payload = { featureId: 'calls', usage }
    expect(changesOf(row({ kind: 'usage', payload }))).to.deep.equal([
      { ...common, kind: 'usage', customerId: 'acme', resourceId: null, version: 20, payload },
    ])
  })

  const ofMany = [
    { ...common, kind: 'usage', customerId: 'other', resourceId: 'site', version: 30, payload: { featureId: 'calls', usage } },
  ]

  it('tells of the usage of many, each with the version of its own', () => {
    const payload = { usages: [{ customerId: 'other', resourceId: 'site', featureId: 'calls', usage }] }
    expect(changesOf(row({ kind: 'usage', customerId: null, payload }))).to.deep.equal(ofMany)
    expect(changesOf(row({ kind: 'usage', customerId: null, payload: { usages: [] } }))).to.deep.equal([])
  })

  it('tells of it in lines', () => {
    const told = '[1,[[1,2]],[[0,"other","calls",0,"site"]]]\n5\n30'
    expect(changesOf(row({ kind: 'usage', customerId: null, told }))).to.deep.equal(ofMany)
  })

  it('without usages tells of none', () => {
    for (const payload of [null, {}]) expect(changesOf(row({ kind: 'usage', customerId: null, payload }))).to.deep.equal([])
  })

  it('tells of the catalog, whoever is on it', () => {
    for (const payload of [null, {}, { packages: [] }, { packages: [{ packageRefId: 'pro' }] }])
      expect(changesOf(row({ kind: 'package', customerId: null, payload }))).to.deep.equal([
        { ...common, kind: 'package', customerId: null, resourceId: null, version: 20, payload },
      ])
  })

  const ofNoRelease: [what: string, parts: Partial<ChangeRow>, says: string][] = [
    ['another kind', { kind: 'weather' }, 'of the kind weather'],
    ['nobody’s entitlements', { customerId: null }, 'entitlements without a customer'],
    ['no usage', { kind: 'usage' }, 'without the usage'],
    ['usage of no feature', { kind: 'usage', payload: { usage } }, 'without the usage'],
    ['no usage of a feature', { kind: 'usage', payload: { featureId: 'calls' } }, 'without the usage'],
    ['usage as a number', { kind: 'usage', payload: { featureId: 'calls', usage: { ...usage, currentUsage: 5 } } }, 'without the usage'],
    ['usage that is no number', { kind: 'usage', payload: { featureId: 'calls', usage: { ...usage, currentUsage: 'x' } } }, "'x'"],
    ['usage of no time', { kind: 'usage', payload: { featureId: 'calls', usage: { ...usage, updatedAt: '30' } } }, 'without the usage'],
    ['usages that are none', { kind: 'usage', customerId: null, payload: { usages: 'many' } }, 'something else than usages'],
    ['usage of nobody', { kind: 'usage', customerId: null, payload: { usages: [{ featureId: 'calls', usage }] } }, 'something else'],
    ['nobody’s usage among others', { kind: 'usage', customerId: null, payload: { usages: [{ customerId: 'a' }] } }, 'something else'],
    [
      'usage of nobody after that of somebody',
      { kind: 'usage', customerId: null, payload: { usages: [{ customerId: 'a', featureId: 'calls', usage }, null] } },
      'something else',
    ],
    ['packages that are none', { kind: 'package', payload: { packages: 'all' } }, 'something else than packages'],
    ['a package that is none', { kind: 'package', payload: { packages: [{}, 'pro'] } }, 'something else than packages'],
    ['no package', { kind: 'package', payload: { packages: [{}, null] } }, 'something else than packages'],
  ]
  for (const [what, parts, says] of ofNoRelease) {
    it(`is refused, saying why, with ${what}`, () => expect(() => changesOf(row(parts))).to.throw(says))
  }
})
