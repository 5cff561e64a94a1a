import { expect } from 'chai'
import { planCatalog } from '../../../../src/catalog/document/plan.js'
import { catalogMoved, catalogRefused, checkRevived } from '../../../../src/catalog/document/refusal.js'
import { documentWith, emptyCatalog, planWith } from '../documents.js'

describe('the refusal of a catalog', () => {
  const problem = (index: number) => ({ path: `plans[${index}].product`, message: 'is required' })

  it('names the first problems for people and carries all of them for programs', () => {
    const problems = Array.from({ length: 7 }, (_, index) => problem(index))
    const refused = catalogRefused(problems)
    expect(refused).to.include({ code: 'INVALID_ARGUMENT', reason: 'BAD_USER_INPUT' })
    expect(refused.message).to.match(
      /^The catalog has 7 problems: plans\[0\]\.product is required; .*plans\[4\]\.product is required … and 2 more$/,
    )
    expect(refused.details).to.deep.equal({ problems })
  })

  it('names as many as it can, and no more', () => {
    const message = (count: number) => catalogRefused(Array.from({ length: count }, (_, index) => problem(index))).message
    expect(message(5)).to.match(/^The catalog has 5 problems: .*plans\[4\]\.product is required$/)
    expect(message(6)).to.match(/plans\[4\]\.product is required … and 1 more$/)
  })

  it('because somebody else was faster says what is there now, and what has become of the change', () => {
    for (const outcome of [{ changes: [] }, { problems: [problem(0)] }]) {
      const moved = catalogMoved({ expectedVersion: 'v1', version: 'v2', outcome })
      expect(moved).to.include({ code: 'FAILED_PRECONDITION', reason: 'CATALOG_VERSION_MISMATCH' })
      expect(moved.message).to.include('not at version "v1" but at "v2"')
      expect(moved.details).to.deep.equal({ expectedVersion: 'v1', version: 'v2', ...outcome })
    }
  })

  it('reads well for one problem and for one without a place', () => {
    expect(catalogRefused([problem(0)]).message).to.equal('The catalog has a problem: plans[0].product is required')
    expect(catalogRefused([{ path: '', message: 'must be a map' }]).message).to.equal('The catalog has a problem: must be a map')
  })
})

describe('a definition that comes back from the archive', () => {
  const wanted = documentWith({ plans: [planWith({})], addons: [{ refId: 'basic', product: 'cloud' }] })
  const { changes } = planCatalog({ input: wanted }, emptyCatalog, { archiveMissing: false, expectedVersion: null })
  const archived = { feature: [], plan: [], addon: [] }

  it('may be what it was', () => {
    const calls = { refId: 'calls', type: 'NUMBER', meter: 'Incremental' } as const
    expect(checkRevived(changes, { ...archived, feature: [calls], plan: [{ refId: 'basic', product: 'cloud' }] })).to.deep.equal([])
  })

  it('may not be anything else', () => {
    const problems = checkRevived(changes, {
      feature: [{ refId: 'calls', type: 'ENUM', meter: 'None' }],
      plan: [{ refId: 'basic', product: 'another' }],
      addon: [{ refId: 'basic', product: 'cloud' }],
    })
    expect(problems.map(({ path }) => path)).to.deep.equal(['features["calls"].type', 'features["calls"].meter', 'plans["basic"].product'])
    expect(problems[0]!.message).to.include('ENUM')
    const addons = checkRevived(changes, { ...archived, addon: [{ refId: 'basic', product: 'another' }] })
    expect(addons.map(({ path }) => path)).to.deep.equal(['addons["basic"].product'])
  })
})
