import { expect } from 'chai'
import { holdersKey, leaseKey, leasePrefix } from '../../../../src/changes/wire/holders.js'

describe('who holds states', () => {
  it('is known under keys that old and new processes agree on', () => {
    expect(leaseKey('tollgate', 'web-1')).to.equal('tollgate:holder:web-1')
    expect(leaseKey('tollgate', 'web-1')).to.equal(`${leasePrefix('tollgate')}web-1`)
    expect(holdersKey('tollgate', 'environment')).to.equal('tollgate:holders:environment')
  })
})
