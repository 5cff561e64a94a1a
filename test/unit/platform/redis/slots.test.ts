import { expect } from 'chai'
import { isTagged, loosePrefix, queuePrefix } from '../../../../src/platform/redis/slots.js'

describe('what goes together on a Redis Cluster', () => {
  it('is a queue, and not two of them', () => {
    expect(queuePrefix('{tollgate}', 'usage-ingestion')).to.equal('{tollgate:usage-ingestion}')
    expect(queuePrefix('{tollgate}', 'usage-ingestion-1')).to.equal('{tollgate:usage-ingestion-1}')
  })

  it('is no key that is used alone', () => expect(loosePrefix('{tollgate}')).to.equal('tollgate'))

  for (const prefix of ['tollgate', 'a{b}c', '{}', '{a}:{b}'])
    it(`is left to who names it otherwise: ${prefix}`, () => {
      expect(queuePrefix(prefix, 'queue')).to.equal(prefix)
      expect(loosePrefix(prefix)).to.equal(prefix)
    })

  it('is said by a prefix in braces', () => {
    expect(['{production}', '{a}b'].map(isTagged)).to.deep.equal([true, true])
    expect(['production', '{}', 'a{b}'].map(isTagged)).to.deep.equal([false, false, false])
  })
})
