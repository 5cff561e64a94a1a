import { expect } from 'chai'
import fc from 'fast-check'
import { encodeFields } from '../../../../src/sidecar/grpc/encoding.js'
import { countFields } from '../../../../src/sidecar/grpc/item-count.js'

const most = 1_000

describe('the number of items of an encoded list', () => {
  it('is that of its fields, however long each of them is', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(0, 1, 127, 128, 300, 16_383, 16_384), { maxLength: 20 }), (lengths) => {
        const list = encodeFields(lengths.map((length) => ({ field: 1, bytes: Buffer.alloc(length, 0xff) })))
        expect(countFields(list, most)).to.equal(lengths.length)
      }),
    )
  })

  it('goes past fields of every wire type', () => {
    const fields = {
      varint: [0x08, 0xff, 0xff, 0x7f],
      fixed64: [0x09, 1, 2, 3, 4, 5, 6, 7, 8],
      text: [0x12, 2, 0xff, 0xff],
      fixed32: [0x0d, 1, 2, 3, 4],
      'a number of its own with two bytes': [0xa0, 0x06, 1],
    }
    for (const [name, bytes] of Object.entries(fields)) {
      expect(countFields(Buffer.from(bytes), most), name).to.equal(1)
      expect(countFields(Buffer.from([...bytes, ...fields.text, ...bytes]), most), name).to.equal(3)
    }
  })

  it('is counted up to one more than may be', () => {
    const list = encodeFields(Array.from({ length: 50 }, () => ({ field: 1, bytes: Buffer.alloc(0) })))
    expect([countFields(list, 49), countFields(list, 50), countFields(list, 10)]).to.deep.equal([50, 50, 11])
  })

  it('is that of what comes before anything that is no message', () => {
    expect(countFields(Buffer.alloc(0), most)).to.equal(0)
    for (const wireType of [3, 4, 6, 7]) expect(countFields(Buffer.from([0x0a, 0, 8 | wireType, 0x0a, 0]), most), `${wireType}`).to.equal(1)
    // A length without an end: it is beyond the end of the message.
    expect(countFields(Buffer.from([0x0a, 0, 0x0a, 0xff, 0xff, 0xff]), most)).to.equal(2)
    expect(countFields(Buffer.alloc(100, 0xff), most)).to.be.within(0, 1)
  })
})
