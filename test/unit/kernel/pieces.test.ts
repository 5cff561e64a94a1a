import { expect } from 'chai'
import * as fc from 'fast-check'
import { inPieces } from '../../../src/kernel/pieces.js'
import { jsonLength } from '../../../src/kernel/weight.js'

describe('items in pieces', () => {
  it('are all there in their order, and each piece ends with the item that makes it long enough', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 50 })), fc.integer({ min: 1, max: 200 }), (items, length) => {
        const pieces = [...inPieces(items, length)]
        expect(pieces.flat()).to.deep.equal(items)
        const lengthOf = (piece: string[]) => piece.reduce((sum, item) => sum + jsonLength(item), 0)
        for (const piece of pieces.slice(0, -1)) expect(lengthOf(piece)).to.be.at.least(length)
        for (const piece of pieces) expect(lengthOf(piece.slice(0, -1))).to.be.below(length)
      }),
    )
  })

  it('are made as they are taken', () => {
    let made = 0
    function* items() {
      for (;;) yield `${++made}`.padStart(8, '0')
    }
    const pieces = inPieces(items(), 30)
    expect(pieces.next().value).to.have.length(3)
    expect(made).to.equal(3)
  })

  it('have no empty piece at their end', () => {
    expect([...inPieces(['ab', 'cd'], 4)]).to.deep.equal([['ab'], ['cd']])
    expect([...inPieces([], 4)]).to.deep.equal([])
  })
})
