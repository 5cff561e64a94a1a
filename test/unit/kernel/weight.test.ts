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

  it('of texts look for wide characters where that is worth it', () => {
    expect(textBytes('я'.repeat(63))).to.equal(80)
    expect(textBytes('я'.repeat(64))).to.equal(144)
  })

  const inMemory: [value: unknown, bytes: number][] = [
    ['x'.repeat(10), 4],
    ['x'.repeat(11), 32],
    [2 ** 31 - 1, 0],
    [2 ** 31, 16],
    [-(2 ** 31), 16],
    [1.5, 16],
    [[], 48],
    [[1, 'x'.repeat(11)], 48 + 8 + 8 + 32],
    [{}, 24],
    [{ a: 1.5 }, 24 + 8 + 16],
  ]
  for (const [value, bytes] of inMemory) {
    it(`of ${JSON.stringify(value)} in memory are ${bytes}`, () => expect(heapBytes(value)).to.equal(bytes))
  }

  const asJson: [value: unknown, enough: number, length: number][] = [
    [1, 100, 8],
    [null, 100, 5],
    [true, 100, 5],
    [undefined, 100, 0],
    [[1, 1], 100, 20],
    [{ ab: 1 }, 100, 16],
    [[1, 1, 1], 11, 20],
    [[1, [1, 1, 1]], 12, 14],
    [{ a: 1, b: 1, c: 1 }, 15, 28],
    [{ a: 1, b: { c: 1 } }, 16, 22],
  ]
  for (const [value, enough, length] of asJson) {
    it(`of ${JSON.stringify(value)} as JSON are ${length} when ${enough} are enough`, () => {
      expect(jsonLength(value, enough)).to.equal(length)
    })
  }
})
