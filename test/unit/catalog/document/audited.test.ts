import { expect } from 'chai'
import { auditedChange } from '../../../../src/catalog/document/audited.js'
import type { CatalogChange } from '../../../../src/catalog/document/difference.js'
import type { CatalogDocument } from '../../../../src/catalog/document/document.js'
import { planCatalog } from '../../../../src/catalog/document/plan.js'
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
  planCatalog({ input: after }, before, { archiveMissing: true, expectedVersion: null }).changes.map((change) => auditedChange('e', change))

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
    expect(auditedChange('e', { change: update, was: whole.plans[0]!, is: whole.plans[0]! })).to.deep.equal({
      environmentId: 'e',
      kind: 'PLAN',
      id: 'basic',
      before: { displayName: 'Basic', 'entitlements["seats"].limit': null },
      after: { displayName: 'Base', 'entitlements["seats"].limit': 5 },
    })
  })
})
