import { expect } from 'chai'
import { ReaderFigures } from '../../../../src/reader/states/figures.js'

describe('the figures of a reader', () => {
  it('are all there before the first check, and 0: what is counted up from them is a number', () => {
    const { isRealTime, lookups, fallbacks, reconnections, ...others } = new ReaderFigures()
    expect(isRealTime).to.equal(false)
    expect([lookups, fallbacks, reconnections].map((counts) => Object.keys(counts).length)).to.deep.equal([3, 5, 2])
    for (const counts of [lookups, fallbacks, reconnections, others]) for (const count of Object.values(counts)) expect(count).to.equal(0)
  })
})
