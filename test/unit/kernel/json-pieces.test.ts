import { expect } from 'chai'
import fc from 'fast-check'
import { atOnceLength, jsonLengths, jsonPieces } from '../../../src/kernel/json-pieces.js'
import { jsonLength } from '../../../src/kernel/weight.js'

describe('pieces of JSON', () => {
  it('are together what it is as a whole', () => {
    const long = 'long '.repeat(30_000)
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const whole = [value, { long, value, nothing: undefined }, undefined]
        expect([...jsonPieces(whole)].join('')).to.equal(JSON.stringify(whole))
      }),
      { numRuns: 30 },
    )
  })

  it('are not much longer than what is written at once', () => {
    const names = Object.fromEntries(Array.from({ length: 9_000 }, (_, n) => [`k${n}`, 'value']))
    const pieces = [...jsonPieces(Array.from({ length: 14 }, () => names))]
    expect(pieces.filter(({ length }) => length > 1.1 * atOnceLength)).to.deep.equal([])
    expect(pieces.join('')).to.have.length.above(10 * atOnceLength)
  })

  it('have lengths that are together that of the whole', () => {
    const long = 'long '.repeat(30_000)
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        for (const whole of [value, [value, { long, value, nothing: undefined }, undefined, [long, value]]]) {
          const lengths = [...jsonLengths(whole)]
          expect(lengths.reduce((sum, length) => sum + length, 0)).to.equal(jsonLength(whole))
        }
      }),
      { numRuns: 30 },
    )
  })
})
