import { isUtf8 } from 'node:buffer'
import { expect } from 'chai'
import fc from 'fast-check'
import { longBytes, Utf8Text } from '../../../../src/web/http/utf8-text.js'

/** What becomes of the bytes when they arrive cut at these places; null: they are refused. */
function decoded(bytes: Buffer, cuts: readonly number[]): string | null {
  const text = new Utf8Text()
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]
  for (const [index, to] of places.slice(1).entries()) text.add(bytes.subarray(places[index], to))
  return text.end()
}

const cuts = fc.array(fc.nat(200), { maxLength: 12 })

describe('text that arrives in pieces', () => {
  it('is the text that was sent, wherever its characters are cut', () => {
    const characters = fc.string({ unit: fc.constantFrom('a', '"', 'é', 'ü', '€', '漢', '😀', '\u0000', '\u{10ffff}'), maxLength: 40 })
    fc.assert(fc.property(characters, cuts, (sent, at) => void expect(decoded(Buffer.from(sent), at)).to.equal(sent)))
  })

  it('is refused exactly when its bytes are no UTF-8, wherever they are cut', () => {
    const byte = fc.constantFrom(0x41, 0x7f, 0x80, 0xa0, 0xbf, 0xc0, 0xc3, 0xe2, 0xed, 0xef, 0xf0, 0xf4, 0xf5, 0xff)
    fc.assert(
      fc.property(fc.array(byte, { maxLength: 12 }), cuts, (some, at) => {
        const bytes = Buffer.from(some)
        expect(decoded(bytes, at)).to.equal(isUtf8(bytes) ? bytes.toString() : null)
      }),
    )
  })

  it('is so also when it is long, while others arrive, and after others that were refused or given up', () => {
    const sent = fc.record({ unit: fc.constantFrom('a', 'é', '€', '😀'), bytes: fc.integer({ min: 1, max: 4 * longBytes }) })
    const size = fc.integer({ min: 10_000, max: 300_000 })
    const property = fc.property(fc.array(sent, { minLength: 1, maxLength: 4 }), size, (some, cut) => {
      const texts = some.map(({ unit, bytes }, index) => `${index}${unit.repeat(Math.ceil(bytes / Buffer.byteLength(unit)))}`)
      const arriving = texts.map((text) => ({ bytes: Buffer.from(text), text: new Utf8Text() }))
      for (let at = 0; at < 5 * longBytes; at += cut)
        for (const { bytes, text } of arriving) if (at < bytes.length) text.add(bytes.subarray(at, at + cut))
      expect(arriving.map(({ text }) => text.end())).to.deep.equal(texts)
      const broken = new Utf8Text()
      broken.add(Buffer.alloc(2 * longBytes, 0xff))
      expect(broken.end()).to.equal(null)
      const givenUp = new Utf8Text()
      givenUp.add(Buffer.alloc(2 * longBytes, 0x61))
      givenUp.drop()
    })
    fc.assert(property, { numRuns: 20 })
  })

  it('weighs what its characters take: two bytes each when one of them may need two', () => {
    const weightOf = (...pieces: string[]) => {
      const text = new Utf8Text()
      for (const piece of pieces) text.add(Buffer.from(piece))
      return text.bytes
    }
    const ascii = 'a'.repeat(1_000)
    expect([weightOf(ascii), weightOf('é'.repeat(1_000)), weightOf(ascii, '€'), weightOf('€', ascii)]).to.deep.equal([
      1_000, 4_000, 2_006, 2_006,
    ])
  })

  it('is refused when it ends within a character', () => {
    expect(decoded(Buffer.from('€').subarray(0, 2), [])).to.equal(null)
  })
})
