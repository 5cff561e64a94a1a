import { expect } from 'chai'
import type { TrackedPeriod } from '../../../../src/metering/counting/bindings.js'
import { KnownMembers } from '../../../../src/metering/counting/known-members.js'

describe('members that are known', () => {
  const periodOf = (start: number): TrackedPeriod => ({ start, end: start + 1, isComplete: true, meterVersion: 1 })

  it('are those that were added, of the period that they were added to', () => {
    const known = new KnownMembers()
    const [one, other] = [periodOf(1), periodOf(2)]
    known.add(one, ['a', 'b'])
    known.add(one, ['b', 'c'])
    expect([...known.of(one)]).to.deep.equal(['a', 'b', 'c'])
    expect([...known.of(other)]).to.deep.equal([])
    const { bytes } = known
    known.add(one, ['a'])
    expect(known.bytes).to.equal(bytes)
    known.forget(one)
    expect([[...known.of(one)], known.bytes]).to.deep.equal([[], 0])
  })

  it('are fewer where they are long', () => {
    const known = new KnownMembers()
    const periods = Array.from({ length: 300 }, (_, n) => periodOf(n))
    for (const [n, period] of periods.entries()) known.add(period, [`${n}`.padEnd(1_000_000, 'x')])
    expect(known.bytes).to.be.within(70_000_000, 84_000_000)
    expect([known.of(periods[0]!).size, known.of(periods[299]!).size]).to.deep.equal([0, 1])
  })

  it('are weighed as they become more', () => {
    const known = new KnownMembers()
    const [one, other] = [periodOf(1), periodOf(2)]
    known.add(one, ['a'])
    for (let n = 0; n < 60; n++) known.add(other, [`${n}`.padEnd(1_000_000, 'x')])
    expect(known.bytes).to.be.above(60_000_000)
    for (let n = 60; n < 120; n++) {
      known.add(other, [`${n}`.padEnd(1_000_000, 'x')])
      expect(known.bytes).to.be.below(84_000_000)
    }
    // One counter of more than there is room for begins anew; the others stay.
    expect(known.of(other).size).to.be.below(60)
    expect(known.of(one).size).to.equal(1)
  })
})
