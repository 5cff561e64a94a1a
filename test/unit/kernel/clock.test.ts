import { expect } from 'chai'
import { FrozenClock, isoOrNull, systemClock } from '../../../src/kernel/clock.js'

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

describe('a time as JSON has it', () => {
  it('is ISO 8601 in UTC, with milliseconds, and null of none', () => {
    expect([isoOrNull(0), isoOrNull(1_803_893_400_007), isoOrNull(null)]).to.deep.equal([
      '1970-01-01T00:00:00.000Z',
      '2027-03-01T09:30:00.007Z',
      null,
    ])
  })
})
