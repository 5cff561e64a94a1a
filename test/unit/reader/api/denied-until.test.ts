import { expect } from 'chai'
import { StateReader } from '../../../../src/reader/api/messages.js'
import { toEntry } from '../../../../src/reader/states/cached-state.js'
import { RightsPool } from '../../../../src/reader/states/rights.js'

describe('a state that is denied as a whole', () => {
  const owner = { customerId: 'acme', resourceId: null }
  const entry = (validUntil?: number | null) => {
    const json = { accessDeniedReason: 'NoActiveSubscription', entitlements: [], validUntil }
    return toEntry(new StateReader(new RightsPool()).state(owner, json), 1, 1_000)
  }

  it('is a miss from the instant on at which a subscription starts, though nobody tells', () => {
    expect(entry(5_000).expiresAt).to.equal(5_000)
  })
  it('lasts where no such instant is known, also of an API that does not tell', () => {
    expect(entry(null).expiresAt).to.equal(Number.POSITIVE_INFINITY)
    expect(entry().expiresAt).to.equal(Number.POSITIVE_INFINITY)
  })
})
