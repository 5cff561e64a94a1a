import { expect } from 'chai'
import fc from 'fast-check'
import { heapBytes, jsonLength, textBytes } from '../../../src/kernel/weight.js'

describe('weights', () => {
  it('of JSON are its length, but for escapes and numbers', () => {
    const plain = fc.jsonValue({ noUnicodeString: true } as never)
    fc.assert(
      fc.property(plain, (value) => {
        const text = JSON.stringify(value)
        const escapes = (text.match(/\\(?:u....|.)/g) ?? []).reduce((sum, { length }) => sum + length - 1, 0)
        const numbers = (text.match(/\d/g) ?? []).length
        expect(jsonLength(value)).to.be.within(text.length - escapes - numbers - 10, 2 * text.length + 10)
      }),
    )
    expect(jsonLength({ a: 'text', at: new Date(0), b: undefined })).to.equal(JSON.stringify({ a: 'text', at: new Date(0) }).length + 1)
  })

  it('of JSON are not counted to the end when that is enough', () => {
    const rows = Array.from({ length: 10_000 }, () => ({ a: 1 }))
    expect(jsonLength(rows, 100)).to.be.within(100, 200)
    expect(jsonLength({ a: rows, b: rows }, 100)).to.be.within(100, 200)
    expect(jsonLength('x'.repeat(1_000), 100)).to.equal(1_002)
  })

  it('of texts are by their widest character', () => {
    expect(textBytes('')).to.equal(16)
    expect(textBytes('x'.repeat(1_000))).to.equal(1_016)
    expect(textBytes('é'.repeat(1_000))).to.equal(1_016)
    expect(textBytes(`${'x'.repeat(999)}я`)).to.equal(2_016)
  })

  it('of data grow with what is in it', () => {
    const [a, b] = [{ name: 'x'.repeat(100), at: 1_800_000_000_000 }, [1, 2, 3]]
    expect(heapBytes({ a, b })).to.equal(24 + 16 + heapBytes(a) + heapBytes(b))
    expect(heapBytes(a)).to.be.within(160, 200)
    expect(heapBytes([])).to.be.below(heapBytes(b))
    for (const none of [null, undefined, true, 5]) expect(heapBytes(none)).to.equal(0)
  })
})
