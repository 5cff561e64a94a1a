import { expect } from 'chai'
import fc from 'fast-check'
import { epochOf, idOf, isReached } from '../../../../src/updates/wire/position.js'

const id = fc.tuple(fc.nat(), fc.nat({ max: 50 }))
const epoch = fc.stringMatching(/^[0-9a-f]{16}\.\d{1,19}-\d$/)

describe('position in a change stream', () => {
  it('says its id and its epoch', () => {
    fc.assert(
      fc.property(id, epoch, ([ms, sequence], of) => {
        const position = `${ms}-${sequence}@${of}`
        expect([idOf(position), epochOf(position)]).to.deep.equal([`${ms}-${sequence}`, of])
      }),
    )
  })

  it('is none without an id in front, and of no epoch when it says none', () => {
    for (const text of ['', 'nonsense', '5', '5-', '@e', 'x5-1@e', '5-1']) expect(idOf(text), text).to.equal(null)
    for (const text of ['', 'nonsense', '5-1']) expect(epochOf(text), text).to.equal('')
  })

  it('is reached in the order of time, then of the sequence', () => {
    const at = ([ms, sequence]: [number, number]) => `${ms}-${sequence}@e`
    fc.assert(
      fc.property(id, id, (one, other) => {
        const isBefore = one[0] === other[0] ? one[1] <= other[1] : one[0] < other[0]
        expect(isReached(at(one), at(other))).to.equal(isBefore)
      }),
    )
    expect(isReached('9-9@e', '10-1@e')).to.equal(true)
  })

  it('is reached by itself, and by what was written later in its millisecond', () => {
    const cases: [position: string, other: string, isReachedBy: boolean][] = [
      ['5-1@e', '5-1@e', true],
      ['5-1@e', '5-2@e', true],
      ['5-2@e', '5-1@e', false],
      // What is none was before all.
      ['nonsense', '0-1@e', true],
      ['nonsense', '0-0@e', true],
      ['0-1@e', 'nonsense', false],
      ['1-0@e', 'nonsense', false],
    ]
    for (const [position, other, isReachedBy] of cases) expect(isReached(position, other), `${position} ${other}`).to.equal(isReachedBy)
  })
})
