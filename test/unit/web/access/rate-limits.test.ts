import { expect } from 'chai'
import { Problem } from '../../../../src/kernel/problem.js'
import type { Identity } from '../../../../src/web/access/auth.js'
import { costPerCustomer, costPerKey, RateLimits } from '../../../../src/web/access/rate-limits.js'

const identity = (keyId: string, customerId: string | null = null) => ({ keyId, environmentId: 'e', customerId }) as Identity
const outcome = (work: Promise<void>) =>
  work.then(
    () => 'taken',
    (error: Problem) => (typeof error.details.retryAfterMs === 'number' ? error.reason : error),
  )

describe('the rate of large answers', () => {
  it('is that of the key, however large the last one is, and no other’s', async () => {
    const limits = new RateLimits({ perKey: 1e9, perCustomer: 1e9 })
    expect(await outcome(limits.takeCost(identity('loud'), costPerKey - 10))).to.equal('taken')
    expect(await outcome(limits.takeCost(identity('loud'), costPerKey))).to.equal('taken')
    expect(await outcome(limits.takeCost(identity('loud'), 1))).to.equal('RATE_LIMIT_EXCEEDED')
    expect(await outcome(limits.takeCost(identity('quiet'), costPerKey))).to.equal('taken')
  })

  it('is that of the customer too, and the key’s others have theirs', async () => {
    const limits = new RateLimits({ perKey: 1e9, perCustomer: 1e9 })
    expect(await outcome(limits.takeCost(identity('client', 'loud'), costPerCustomer))).to.equal('taken')
    expect(await outcome(limits.takeCost(identity('client', 'loud'), 1))).to.equal('RATE_LIMIT_EXCEEDED')
    expect(await outcome(limits.takeCost(identity('client', 'quiet'), 1))).to.equal('taken')
  })
})
