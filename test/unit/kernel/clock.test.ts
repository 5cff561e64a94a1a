import { expect } from 'chai'
import { FrozenClock, systemClock } from '../../../src/kernel/clock.js'

describe('clocks', () => {
  it('of the system tell its time', () => {
    const before = Date.now()
    expect(systemClock.now()).to.be.within(before, Date.now())
  })

  it('that are frozen stand still until they are set', () => {
    const clock = new FrozenClock(1_000)
    expect([clock.now(), clock.now()]).to.deep.equal([1_000, 1_000])
    clock.set(500)
    expect(clock.now()).to.equal(500)
  })
})
