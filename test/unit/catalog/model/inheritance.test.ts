import { expect } from 'chai'
import { Inheritance } from '../../../../src/catalog/model/inheritance.js'
import { entitled, feature, plan } from '../../subscription/support.js'

describe('what a plan inherits', () => {
  const [calls, seats, sso] = [feature('calls'), feature('seats'), feature('sso')]
  const free = plan('free', { entitlements: [entitled(calls, { limit: 10 }), entitled(seats, { limit: 1 })] })
  const team = plan('team', {
    basePlanVersionId: free.id,
    entitlements: [entitled(seats, { limit: 4, behavior: 'Increment' }), entitled(calls, { limit: 100 })],
  })
  const business = plan('business', { basePlanVersionId: team.id, entitlements: [entitled(sso), entitled(calls, { limit: 1 })] })
  const versions = new Map([free, team, business].map((version) => [version.id, version]))
  const inheritance = new Inheritance(versions)
  const limits = (version: typeof free) =>
    Object.fromEntries(inheritance.of(version).map((entitlement) => [entitlement.feature.refId, entitlement.usageLimit]))

  it('is nothing without a base plan', () => expect(limits(free)).to.deep.equal({}))

  it('is what the base plan gives', () => expect(limits(team)).to.deep.equal({ calls: '10', seats: '1' }))

  it('is what the base plan gives with what that one inherits: replaced, or added to', () => {
    expect(limits(business)).to.deep.equal({ calls: '100', seats: '5' })
    const order = inheritance.of(business).map(({ feature: { refId } }) => refId)
    expect(order).to.deep.equal(['calls', 'seats'])
  })
})
