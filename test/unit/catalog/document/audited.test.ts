import { expect } from 'chai'
import { auditedChanges } from '../../../../src/catalog/document/audited.js'
import { type CatalogChange, compareCatalogs } from '../../../../src/catalog/document/difference.js'
import type { CatalogDocument } from '../../../../src/catalog/document/document.js'
import { documentWith, emptyCatalog, parsed, planWith } from '../documents.js'

const events = { aggregation: 'COUNT', filters: [] }
const whole = parsed(
  documentWith({
    features: [{ refId: 'tokens', type: 'NUMBER', meter: 'Incremental', events }],
    plans: [planWith({ refId: 'basic', displayName: 'Basic' })],
    addons: [planWith({ refId: 'basic', displayName: 'More' })],
    coupons: [{ refId: 'ten', percentOff: 10 }],
  }),
)
const audited = (before: CatalogDocument, after: CatalogDocument) =>
  auditedChanges('e', compareCatalogs(before, after, { archiveMissing: true }), { before, after })

describe('what the audit log says of a change of the catalog', () => {
  const kinds = ['FEATURE tokens', 'METER tokens', 'PRODUCT cloud', 'ADDON basic', 'PLAN basic', 'COUPON ten']

  it('is the whole definition of what was made, and of what was archived', () => {
    const [made, archived] = [audited(emptyCatalog, whole), audited(whole, emptyCatalog)]
    expect(made.map(({ kind, id }) => `${kind} ${id}`)).to.deep.equal(kinds)
    expect(archived.map(({ kind, id }) => `${kind} ${id}`)).to.have.members(kinds)
    for (const { kind, environmentId, before, after } of made) {
      expect([environmentId, before]).to.deep.equal(['e', null])
      expect(after, kind).to.be.an('object')
      expect(archived.find((change) => change.kind === kind)).to.deep.include({ environmentId: 'e', before: after, after: null })
    }
    const of = (kind: string) => made.find((change) => change.kind === kind)!.after!
    expect(of('FEATURE')).to.include({ refId: 'tokens', type: 'NUMBER' }).and.not.have.property('events')
    expect(of('METER')).to.include({ aggregation: 'COUNT' }).and.not.have.property('refId')
    expect([of('PLAN').displayName, of('ADDON').displayName]).to.deep.equal(['Basic', 'More'])
  })

  it('is of what was changed each path, before and after', () => {
    const update: CatalogChange = {
      kind: 'plan',
      refId: 'basic',
      action: 'publish',
      fields: [
        { path: 'displayName', from: 'Basic', to: 'Base' },
        { path: 'entitlements["seats"].limit', from: null, to: 5 },
      ],
    }
    expect(auditedChanges('e', [update], { before: whole, after: whole })).to.deep.equal([
      {
        environmentId: 'e',
        kind: 'PLAN',
        id: 'basic',
        before: { displayName: 'Basic', 'entitlements["seats"].limit': null },
        after: { displayName: 'Base', 'entitlements["seats"].limit': 5 },
      },
    ])
  })

  it('is the last definition where there are several of one name', () => {
    const [basic] = whole.plans
    const twice = { ...whole, plans: [basic!, { ...basic!, displayName: 'Again' }, { ...basic!, refId: 'other' }] }
    const create: CatalogChange = { kind: 'plan', refId: 'basic', action: 'create', fields: [] }
    const [change] = auditedChanges('e', [create], { before: emptyCatalog, after: twice })
    expect(change!.after).to.include({ displayName: 'Again' })
  })
})
