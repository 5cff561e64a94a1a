import { expect } from 'chai'
import fc from 'fast-check'
import { Allowance } from '../../../src/environment/allowance.js'

describe('an allowance', () => {
  it('is so many points at once, and so many a second after them', () => {
    const allowance = new Allowance({ perSecond: 3 })
    expect([0, 0, 0].map(() => allowance.take('a', 1, 0))).to.deep.equal([0, 0, 0])
    expect(allowance.take('a', 1, 0)).to.be.within(1, 334)
    expect(allowance.take('b', 1, 0)).to.equal(0)
    expect(allowance.take('a', 1, 334)).to.equal(0)
    expect(allowance.take('a', 1, 335)).to.be.above(0)
  })

  it('may be overdrawn, and then takes as long to be there again', () => {
    const allowance = new Allowance({ perSecond: 100, savedMs: 3_000 })
    expect(allowance.take('a', 1_000, 0)).to.equal(0)
    expect(allowance.take('a', 1, 6_900)).to.be.above(0)
    expect(allowance.take('a', 1, 7_011)).to.equal(0)
  })

  it('is given back', () => {
    const allowance = new Allowance({ perSecond: 2 })
    for (let n = 0; n < 10; n++) {
      expect(allowance.take('a', 1, 0)).to.equal(0)
      allowance.giveBack('a', 1, 0)
    }
    expect(allowance.spent('a', 0)).to.equal(0)
  })

  it('never lets through more than a second’s and what was saved, but for the last', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ waitMs: fc.nat(400), points: fc.integer({ min: 1, max: 30 }) }), { maxLength: 200 }), (asked) => {
        const allowance = new Allowance({ perSecond: 10, savedMs: 2_000 })
        let [now, taken, last] = [0, 0, 0]
        for (const { waitMs, points } of asked) {
          now += waitMs
          const wait = allowance.take('a', points, now)
          if (wait === 0) {
            taken += points
            last = points
          }
        }
        expect(taken - last).to.be.at.most(20 + now / 100 + 1e-6)
      }),
    )
  })
})
