import { expect } from 'chai'
import fc from 'fast-check'
import { readableRow, unreadableFor } from '../../../src/platform/dead-letters.js'

describe('a job that cannot be read', () => {
  const good = { name: 'parcel', data: '{"v":1}', opts: '{"attempts":3}', timestamp: '1' }

  it('is one that belongs to a flow or a schedule, or is no JSON', () => {
    expect(unreadableFor(good)).to.equal(null)
    const wrong = { parent: '{}', parentKey: 'x', rjk: 'x', nrjid: '1', data: '[]', opts: 'null' }
    for (const [field, value] of Object.entries(wrong)) expect(unreadableFor({ ...good, [field]: value }), field).to.be.a('string')
    for (const data of ['', '7', '{', '"text"']) expect(unreadableFor({ ...good, data }), data).to.be.a('string')
    expect(unreadableFor({})).to.be.a('string')
  })

  it('becomes one that can be, whatever it said', () => {
    const text = fc.string({ unit: 'binary' })
    fc.assert(
      fc.property(fc.dictionary(fc.oneof(text, fc.constantFrom('parent', 'rjk', 'data', 'opts', 'name', '__proto__')), text), (row) => {
        expect(unreadableFor(readableRow(row, 'so', 5))).to.equal(null)
      }),
    )
  })
})
