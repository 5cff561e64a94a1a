import { expect } from 'chai'
import fc from 'fast-check'
import { changeKinds } from '../../../../src/changes/model/change.js'
import { packEntry, streamEntryVersion, unpackEntry } from '../../../../src/updates/wire/stream-entry.js'

const anyText = fc.constantFrom('acme', '', '"quoted"', 'ü')

describe('entries of the change stream', () => {
  it('are read as they were written', () => {
    const anyEntry = fc.record({
      kind: fc.constantFrom(...changeKinds),
      customerId: anyText,
      resourceId: fc.option(anyText),
      version: fc.integer({ min: 0 }),
    })
    fc.assert(
      fc.property(anyEntry, (entry) => {
        expect(unpackEntry(packEntry(entry))).to.deep.equal(entry)
      }),
    )
  })

  it('have their version’s form', () => {
    // Whoever changes the form raises the version: both are written here.
    expect({
      version: streamEntryVersion,
      text: packEntry({ kind: 'usage', customerId: 'acme', resourceId: null, version: 5 }),
    }).to.deep.equal({ version: 1, text: '[1,"usage","acme",null,5]' })
  })

  it('say at least that something changed when the kind is new, and nothing when the form is', () => {
    expect(unpackEntry('[1,"later","acme",null,5]')).to.include({ kind: 'entitlements', customerId: 'acme' })
    expect(unpackEntry('[2,"usage","acme",null,5]')).to.equal(null)
    expect(unpackEntry('["usage","acme",null,5]')).to.equal(null)
  })
})
