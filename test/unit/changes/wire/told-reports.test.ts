import { expect } from 'chai'
import fc from 'fast-check'
import { packTold, toldVersion, unpackTold } from '../../../../src/changes/wire/told-reports.js'
import { fromText } from '../../../../src/kernel/decimal.js'

const anyText = fc.constantFrom('acme', 'a,b', 'line\nbreak', '"quoted"', 'ü')
const anyTime = fc.option(fc.integer({ min: 0, max: 5 }))

describe('told reports', () => {
  it('are read as they were written, with the usage and version of their counters', () => {
    const anyCounters = fc.array(fc.record({ usage: fc.integer(), version: fc.integer({ min: 1 }) }), { minLength: 1, maxLength: 4 })
    const anyReport = fc.record({
      counter: fc.nat(),
      customerId: anyText,
      resourceId: fc.option(anyText),
      featureId: anyText,
      periodStart: anyTime,
      periodEnd: anyTime,
    })
    fc.assert(
      fc.property(anyCounters, fc.array(anyReport, { minLength: 1, maxLength: 6 }), (counters, reports) => {
        const told = reports.map((report) => ({ ...report, counter: report.counter % counters.length }))
        const usages = counters.map(({ usage }) => usage)
        const versions = counters.map(({ version }) => version)
        expect(unpackTold([packTold(told), usages, versions].join('\n'))).to.deep.equal(
          told.map(({ counter, customerId, resourceId, featureId, periodStart, periodEnd }) => {
            const usage = { currentUsage: fromText(String(usages[counter])), periodStart, periodEnd, updatedAt: versions[counter] }
            return { customerId, resourceId, featureId, usage }
          }),
        )
      }),
    )
  })

  it('have their version’s form, and name a period once that they have in common', () => {
    const report = (customerId: string, resourceId: string | null) => {
      return { counter: 0, customerId, resourceId, featureId: 'calls', periodStart: 1, periodEnd: null }
    }
    // Whoever changes the form raises the version: both are written here.
    expect({ version: toldVersion, text: packTold([report('acme', null), report('other', 'r')]) }).to.deep.equal({
      version: 1,
      text: '[1,[[1,null]],[[0,"acme","calls",0],[0,"other","calls",0,"r"]]]',
    })
  })

  it('are not read when they are of another version', () => {
    expect(() => unpackTold('[2,[],[]]')).to.throw('version 2')
  })

  const refused: [what: string, told: string][] = [
    ['nothing', ''],
    ['no usage', '[1,[[1,2]],[[0,"acme","calls",0]]]\n\n5'],
    ['no version', '[1,[[1,2]],[[0,"acme","calls",0]]]\n7'],
    ['a version of 0', '[1,[[1,2]],[[0,"acme","calls",0]]]\n7\n0'],
    ['a customer that is no text', '[1,[[1,2]],[[0,3,"calls",0]]]\n7\n5'],
    ['a feature that is no text', '[1,[[1,2]],[[0,"acme",null,0]]]\n7\n5'],
  ]
  for (const [what, told] of refused) it(`are not read with ${what}`, () => expect(() => unpackTold(told)).to.throw())
})
