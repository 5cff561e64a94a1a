import { expect } from 'chai'
import { PendingUsage } from '../../../../src/sdk/server/pending-usage.js'
import type { UsageReport } from '../../../../src/sdk/types.js'

const report = (value: number, changes: Partial<UsageReport> = {}): UsageReport => ({ customerId: 'c', featureId: 'f', value, ...changes })

describe('usage that is being reported', () => {
  it('is counted until it is known what became of it', () => {
    const pending = new PendingUsage()
    expect([pending.isEmpty, pending.of({ customerId: 'c' }, 'f')]).to.deep.equal([true, 0])
    const [first, second] = [pending.add(report(2)), pending.add(report(3, { updateBehavior: 'DELTA' }))]
    expect([pending.isEmpty, pending.of({ customerId: 'c' }, 'f')]).to.deep.equal([false, 5])
    first()
    expect([pending.isEmpty, pending.of({ customerId: 'c' }, 'f')]).to.deep.equal([false, 3])
    second()
    expect([pending.isEmpty, pending.of({ customerId: 'c' }, 'f')]).to.deep.equal([true, 0])
  })

  it('is 0 afterwards, also where doubles are off', () => {
    const pending = new PendingUsage()
    const takeOff = [0.1, 0.2, 0.3].map((value) => pending.add(report(value)))
    for (const take of takeOff) take()
    expect([pending.isEmpty, pending.of({ customerId: 'c' }, 'f')]).to.deep.equal([true, 0])
  })

  it('is that of one holder and one feature', () => {
    const pending = new PendingUsage()
    pending.add(report(1))
    pending.add(report(2, { resourceId: 'r' }))
    pending.add(report(16, { resourceId: 's' }))
    pending.add(report(4, { featureId: 'g' }))
    pending.add(report(8, { customerId: 'd' }))
    expect(pending.of({ customerId: 'c' }, 'f')).to.equal(1)
    expect(pending.of({ customerId: 'c', resourceId: 'r' }, 'f')).to.equal(2)
    expect(pending.of({ customerId: 'c', resourceId: 's' }, 'f')).to.equal(16)
    expect(pending.of({ customerId: 'c' }, 'g')).to.equal(4)
    expect(pending.of({ customerId: 'd' }, 'f')).to.equal(8)
    expect(pending.of({ customerId: 'd', resourceId: 'r' }, 'f')).to.equal(0)
  })

  it('is not guessed where a report replaces what was used', () => {
    const pending = new PendingUsage()
    const takeOff = pending.add(report(5, { updateBehavior: 'SET' }))
    expect([pending.isEmpty, pending.of({ customerId: 'c' }, 'f')]).to.deep.equal([true, 0])
    takeOff()
    expect(pending.isEmpty).to.equal(true)
  })
})
