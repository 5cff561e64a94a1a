import { expect } from 'chai'
import { Crowd, shareOf } from '../../../src/kernel/crowd.js'

describe('who else is around', () => {
  it('is whoever was seen in the last second, and never oneself', () => {
    const crowd = new Crowd()
    expect([crowd.isAround('a', 0)]).to.deep.equal([false])
    crowd.see('a', 0)
    crowd.see('a', 10)
    expect([crowd.isAround('a', 10), crowd.isAround('b', 10)]).to.deep.equal([false, true])
    crowd.see('b', 500)
    expect([crowd.isAround('a', 510), crowd.isAround('b', 510)]).to.deep.equal([true, true])
    expect([crowd.isAround('b', 1_009), crowd.isAround('b', 1_010)]).to.deep.equal([true, false])
    crowd.see('b', 1_100)
    expect([crowd.isAround('b', 1_100), crowd.isAround('a', 1_100)]).to.deep.equal([false, true])
    crowd.see('c', 1_200)
    expect(crowd.isAround('c', 1_200)).to.equal(true)
  })
})

describe('the share of one', () => {
  it('is half of what the others leave', () => {
    for (const [most, taken, own, share] of [
      [100, 0, 0, 50],
      [100, 40, 40, 50],
      [100, 40, 10, 35],
      [100, 100, 0, 0],
    ] as const)
      expect(shareOf({ most, taken, own })).to.equal(share)
  })
})
