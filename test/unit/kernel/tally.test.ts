import { expect } from 'chai'
import { Tally } from '../../../src/kernel/tally.js'

describe('a tally', () => {
  it('says how much there is of each owner, of all, and beyond one each', () => {
    const tally = new Tally()
    expect([tally.add('a', 3), tally.add('b', 1), tally.add('a', 2)]).to.deep.equal([3, 1, 5])
    expect([tally.of('a'), tally.of('b'), tally.of('c'), tally.inAll, tally.more]).to.deep.equal([5, 1, 0, 6, 4])
    expect([tally.add('a', -5), tally.add('b', -1)]).to.deep.equal([0, 0])
    expect([tally.of('a'), tally.inAll, tally.more]).to.deep.equal([0, 0, 0])
  })
})
