import { expect } from 'chai'
import fc from 'fast-check'
import { encodeFields } from '../../../../src/sidecar/grpc/encoding.js'
import { countFields, type Shape, scalars } from '../../../../src/sidecar/grpc/field-count.js'

const most = 1_000
const unknown: Shape = new Map()
/** Of a message that has a text, and one message of the same kind. */
const nested: Shape = new Map<number, Shape | 2>([
  [1, scalars.text],
  [2, new Map([[1, scalars.text]])],
])

describe('the number of fields of an encoded message', () => {
  const countOf = (bytes: readonly number[], shape = unknown) => countFields(Buffer.from(bytes), shape, most)

  it('is that of its fields, however long each of them is', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(0, 1, 127, 128, 300, 16_383, 16_384), { maxLength: 20 }), (lengths) => {
        const list = encodeFields(lengths.map((length) => ({ field: 1, bytes: Buffer.alloc(length, 0xff) })))
        expect(countFields(list, unknown, most)).to.equal(lengths.length)
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
      expect(countOf(bytes), name).to.equal(1)
      expect(countOf([...bytes, ...fields.text, ...bytes]), name).to.equal(3)
    }
  })

  it('is counted with those of the messages in it, and not with what only looks like one', () => {
    const texts = [0x0a, 0, 0x0a, 0]
    expect(countOf([0x12, 4, ...texts, ...texts], nested)).to.equal(5)
    expect(countOf([0x0a, 4, ...texts, ...texts], nested), 'a text').to.equal(3)
    expect(countOf([0x1a, 4, ...texts, ...texts], nested), 'not known').to.equal(3)
  })

  it('is counted up to one more than may be', () => {
    const list = encodeFields(Array.from({ length: 50 }, () => ({ field: 1, bytes: Buffer.alloc(0) })))
    expect([49, 50, 10].map((few) => countFields(list, nested, few))).to.deep.equal([50, 50, 11])
    const inside = encodeFields([{ field: 2, bytes: list }])
    expect([49, 50, 51, 10].map((few) => countFields(inside, nested, few))).to.deep.equal([50, 51, 51, 11])
  })

  it('is none of what no encoder writes, which a decoder would read in another way', () => {
    const broken: Record<string, number[]> = {
      'a group': [0x1b, 0x1c],
      'the end of a group': [0x1c],
      'a wire type that there is not': [0x1e, 0],
      'a number for a text': [0x08, 0],
      'eight bytes for a text': [0x09, 0, 0, 0, 0, 0, 0, 0, 0],
      'a number for a message': [0x10, 0],
      'a tag of six bytes': [0x8a, 0x80, 0x80, 0x80, 0x80, 0x00, 0],
      'a length of six bytes': [0x0a, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00],
      'a length beyond the end': [0x0a, 2, 0],
      'a length beyond the end of its message': [0x12, 2, 0x0a, 1, 0x0a, 0],
      'a number that ends with the message': [0x18, 0x80],
      'a number that is cut': [0x19, 0, 0, 0],
      'no length': [0x0a],
    }
    for (const [name, bytes] of Object.entries(broken)) expect(() => countOf(bytes, nested), name).to.throw('is not encoded as')
  })

  it('takes numbers of 32 bits as encoders write them, those below zero too', () => {
    const numbers: Shape = new Map<number, 0 | 8>([
      [1, scalars.shortVarint],
      [2, scalars.varint],
    ])
    const varint = (length: number) => [...Array<number>(length - 1).fill(0xff), 1]
    for (const length of [1, 4, 5, 10]) expect(countOf([0x08, ...varint(length)], numbers), `${length}`).to.equal(1)
    for (const length of [6, 9, 11]) expect(() => countOf([0x08, ...varint(length)], numbers), `${length}`).to.throw('is not encoded as')
    for (const length of [1, 6, 10]) expect(countOf([0x10, ...varint(length)], numbers), `${length}`).to.equal(1)
  })
})
