import { expect } from 'chai'
import type { Problem } from '../../../../src/kernel/problem.js'
import type { Identity } from '../../../../src/web/access/auth.js'
import {
  bytesPerPoint,
  costPerAddress,
  costPerCustomer,
  costPerKey,
  pageBytesPerAddress,
  pagesPerAddress,
  RateLimits,
} from '../../../../src/web/access/rate-limits.js'

const identity = (keyId: string, customerId: string | null = null) => ({ keyId, environmentId: 'e', customerId }) as Identity
function outcome(work: () => void): unknown {
  try {
    work()
    return 'taken'
  } catch (error) {
    const { details, reason } = error as Problem
    return typeof details.retryAfterMs === 'number' && details.retryAfterMs > 0 ? reason : error
  }
}

describe('the rate of requests', () => {
  const limits = (given: object) => new RateLimits({ perKey: 1e9, perCustomer: 1e9, perAddress: 1e9, ...given }, () => 1)
  const taken = (of: RateLimits, asker: Identity, address: string, times = 10) =>
    Array.from({ length: times }, () => outcome(() => of.take(asker, address))).filter((each) => each === 'taken').length

  it('is that of the key, from wherever it comes', () => {
    const of = limits({ perKey: 3 })
    expect(taken(of, identity('loud'), '192.0.2.1') + taken(of, identity('loud'), '192.0.2.2')).to.equal(3)
    expect(taken(of, identity('quiet'), '192.0.2.1')).to.equal(3)
  })

  it('is that of the address, whatever the keys, and of nobody else', () => {
    const of = limits({ perAddress: 4 })
    expect(taken(of, identity('one'), '192.0.2.1', 3) + taken(of, identity('other'), '192.0.2.1')).to.equal(4)
    expect(outcome(() => of.takeFrom('192.0.2.1'))).to.equal('RATE_LIMIT_EXCEEDED')
    expect(taken(of, identity('one'), '192.0.2.2')).to.equal(4)
  })

  it('of pages is one of its own, and takes nothing from whoever has a key there', () => {
    const of = limits({ perAddress: 4 })
    const given = (address: string, times: number) =>
      Array.from({ length: times }, () => outcome(() => of.takePage(address))).filter((each) => each === 'taken').length
    expect([given('192.0.2.1', 2 * pagesPerAddress), given('192.0.2.2', 1)]).to.deep.equal([pagesPerAddress, 1])
    expect(taken(of, identity('one'), '192.0.2.1')).to.equal(4)
  })

  it('of a customer over its own takes nothing from others with the same key', () => {
    const of = limits({ perKey: 8, perCustomer: 2 })
    expect(taken(of, identity('client', 'loud'), '192.0.2.1', 1_000)).to.equal(2)
    expect(taken(of, identity('client', 'quiet'), '192.0.2.1')).to.equal(2)
  })
})

describe('the rate of large answers', () => {
  const limits = () => new RateLimits({ perKey: 1e9, perCustomer: 1e9, perAddress: 1e9 }, () => 1)
  const cost = (of: RateLimits, asker: Identity, fields: number, address = '192.0.2.1') =>
    outcome(() => of.takeCost(asker, address, fields))

  it('is that of the key, however large the last one is, and no other’s', () => {
    const of = limits()
    expect(cost(of, identity('loud'), costPerKey)).to.equal('taken')
    expect(cost(of, identity('loud'), 50 * costPerKey, '192.0.2.2')).to.equal('taken')
    expect(cost(of, identity('loud'), 1, '192.0.2.3')).to.equal('RATE_LIMIT_EXCEEDED')
    expect(cost(of, identity('quiet'), costPerKey)).to.equal('taken')
    expect(outcome(() => of.take(identity('loud'), '192.0.2.3'))).to.equal('taken')
  })

  it('is that of the customer too, and the key’s others have theirs', () => {
    const of = limits()
    expect(cost(of, identity('client', 'loud'), 5 * costPerCustomer)).to.equal('taken')
    expect(cost(of, identity('client', 'loud'), 1)).to.equal('RATE_LIMIT_EXCEEDED')
    expect(cost(of, identity('client', 'quiet'), 1)).to.equal('taken')
  })

  it('is that of the address, whatever the keys', () => {
    const of = limits()
    for (const key of ['one', 'two']) expect(cost(of, identity(key), 2 * costPerAddress)).to.equal('taken')
    expect(cost(of, identity('three'), 1)).to.equal('RATE_LIMIT_EXCEEDED')
    expect(cost(of, identity('three'), 1, '192.0.2.2')).to.equal('taken')
  })
})

describe('the rate of bytes that were made before', () => {
  const limits = () => new RateLimits({ perKey: 1e9, perCustomer: 1e9, perAddress: 1e9 }, () => 1)

  it('of pages is that of the address, and takes nothing from whoever has a key there', () => {
    const of = limits()
    const given = (address: string) => outcome(() => of.takeBytesFrom(address, pageBytesPerAddress / 4))
    expect([1, 2, 3, 4].map(() => given('192.0.2.1'))).to.deep.equal(Array(4).fill('taken'))
    expect(given('192.0.2.1')).to.equal('RATE_LIMIT_EXCEEDED')
    expect(given('192.0.2.2')).to.equal('taken')
    expect(outcome(() => of.takeCost(identity('one'), '192.0.2.1', costPerKey))).to.equal('taken')
  })

  it('of answers is that of large ones, by what giving them costs', () => {
    const of = limits()
    // Three seconds of them can be had at once.
    for (let n = 0; n < 3; n++)
      expect(outcome(() => of.takeBytes(identity('one'), '192.0.2.1', costPerKey * bytesPerPoint))).to.equal('taken')
    expect(outcome(() => of.takeBytes(identity('one'), '192.0.2.1', 1))).to.equal('RATE_LIMIT_EXCEEDED')
    expect(outcome(() => of.takeCost(identity('one'), '192.0.2.1', 1))).to.equal('RATE_LIMIT_EXCEEDED')
  })
})
