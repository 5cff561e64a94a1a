import { expect } from 'chai'
import fc from 'fast-check'
import type { HeldChange } from '../../../../src/changes/model/change.js'
import {
  announcementOf,
  announcementVersion,
  heardChannel,
  packHeard,
  unpackAnnouncement,
  unpackHeard,
} from '../../../../src/changes/wire/announcements.js'
import { fromText } from '../../../../src/kernel/decimal.js'

const anyText = fc.constantFrom('acme', '', '"quoted"', 'ü')
const anyTime = fc.option(fc.integer({ min: 0 }))
const anyUsage = fc.record({
  currentUsage: fc.integer().map((value) => fromText(String(value))),
  periodStart: anyTime,
  periodEnd: anyTime,
  updatedAt: fc.integer({ min: 0 }),
})
const anyChange: fc.Arbitrary<HeldChange> = fc.oneof(
  fc.record({ customerId: fc.option(anyText), version: anyTime }),
  fc.record({
    customerId: fc.option(anyText),
    version: anyTime,
    usage: fc.record({ resourceId: fc.option(anyText), featureId: anyText, usage: anyUsage }),
  }),
)
const anyTicket = fc.option(fc.record({ sender: anyText, number: fc.nat() }))

describe('announcements', () => {
  it('are read as they were written', () => {
    fc.assert(
      fc.property(fc.array(anyChange, { maxLength: 5 }), anyTicket, (changes, ticket) => {
        const [, text] = announcementOf('prefix', 'environment', changes, ticket ?? undefined)
        expect(unpackAnnouncement(text)).to.deep.equal({ changes, ticket })
      }),
    )
  })

  it('have their version’s form', () => {
    const usage = { currentUsage: fromText('5'), periodStart: 1, periodEnd: 2, updatedAt: 3 }
    const changes = [
      { customerId: 'acme', version: 3, usage: { resourceId: 'r', featureId: 'calls', usage } },
      { customerId: null, version: null },
    ]
    const [, text] = announcementOf('prefix', 'environment', changes, { sender: 'web', number: 7 })
    // Whoever changes the form raises the version: both are written here.
    expect({ version: announcementVersion, text }).to.deep.equal({
      version: 1,
      text: '{"v":1,"sender":"web","number":7,"changes":[["acme",3,"r","calls","5",1,2,3],[null,null]]}',
    })
  })

  it('are not read when they are of another version', () => {
    expect(() => unpackAnnouncement('{"v":2,"changes":[]}')).to.throw('version 2')
    expect(unpackAnnouncement('{"changes":[["acme",1]]}')).to.deep.equal({ changes: [{ customerId: 'acme', version: 1 }], ticket: null })
  })

  it('are acknowledged by number and name', () => {
    fc.assert(
      fc.property(fc.nat(), fc.uuid(), (number, by) => {
        expect(unpackHeard(packHeard(number, by))).to.deep.equal({ number, by })
      }),
    )
    expect(packHeard(7, 'web')).to.equal('7 web')
  })

  it('without a whole ticket are waited for by nobody', () => {
    for (const text of ['{"changes":[],"sender":"web"}', '{"changes":[],"number":7}'])
      expect(unpackAnnouncement(text).ticket, text).to.equal(null)
  })

  it('that are acknowledged without a name are by nobody', () => {
    expect(unpackHeard('7')).to.deep.equal({ number: 7, by: '' })
  })

  it('have channels that old and new processes agree on', () => {
    expect(announcementOf('tollgate', 'environment', [])[0]).to.equal('tollgate:held-changes:environment')
    expect(heardChannel('tollgate', 'web')).to.equal('tollgate:held-changes-heard:web')
  })
})
