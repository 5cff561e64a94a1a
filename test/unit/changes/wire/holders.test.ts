import { expect } from 'chai'
import { holdersKey, leaseKey, leasePrefix } from '../../../../src/changes/wire/holders.js'
import { redisEpochOf } from '../../../../src/changes/wire/redis-epoch.js'

describe('who holds states', () => {
  it('is known under keys that old and new processes agree on', () => {
    expect(leaseKey('tollgate', 'web-1')).to.equal('tollgate:holder:web-1')
    expect(leaseKey('tollgate', 'web-1')).to.equal(`${leasePrefix('tollgate')}web-1`)
    expect(holdersKey('tollgate', 'environment')).to.equal('tollgate:holders:environment')
  })
})

describe('the epoch of Redis', () => {
  it('is half of the replication id that it answers', () => {
    const info = '# Replication\r\nrole:master\r\nmaster_replid:0a1b2c3d4e5f60718293a4b5c6d7e8f901234567\r\nmaster_replid2:0000\r\n'
    expect(redisEpochOf(info)).to.equal('0a1b2c3d4e5f6071')
  })

  it('is empty when it answers none', () => expect(redisEpochOf('role:master')).to.equal(''))
})
