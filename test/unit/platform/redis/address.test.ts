import { expect } from 'chai'
import {
  accessOf,
  hostAlone,
  parseRedisAddress,
  urlOfParts,
  withAccess,
  withoutParameters,
  withParameters,
  withSentinelAccess,
} from '../../../../src/platform/redis/address.js'

const none = { username: undefined, password: undefined }

describe('the address of a Redis', () => {
  for (const url of ['redis://cache:6379/3', 'rediss://me:x@cache', 'redis://[::1]:6379'])
    it(`is that of one server: ${url}`, () => expect(parseRedisAddress(url)).to.deep.equal({ kind: 'server', url }))

  it('is that of a cluster, with some of its nodes', () => {
    const nodes = [
      { host: 'a.internal', port: 7000 },
      { host: '10.0.0.2', port: 6379 },
      { host: '::1', port: 7002 },
    ]
    expect(parseRedisAddress('redis+cluster://a.internal:7000,10.0.0.2,[::1]:7002')).to.deep.equal({
      kind: 'cluster',
      nodes,
      isEncrypted: false,
      ...none,
    })
    expect(parseRedisAddress('rediss+cluster://us%40er:p%3Aw@a:1,b:2/')).to.deep.equal({
      kind: 'cluster',
      nodes: [
        { host: 'a', port: 1 },
        { host: 'b', port: 2 },
      ],
      isEncrypted: true,
      username: 'us@er',
      password: 'p:w',
    })
  })

  it('is that of sentinels, with what they call the primary', () => {
    expect(parseRedisAddress('redis+sentinel://:secret@s1,s2:26380/main/2')).to.deep.equal({
      kind: 'sentinel',
      nodes: [
        { host: 's1', port: 26379 },
        { host: 's2', port: 26380 },
      ],
      name: 'main',
      db: 2,
      isEncrypted: false,
      username: undefined,
      password: 'secret',
      ofSentinels: none,
    })
  })

  it('is that of sentinels that ask for a user and a password of their own', () => {
    const url = withSentinelAccess('rediss+sentinel://me:x@s1,s2/main', { username: 'watch', password: 'p&w?' })
    expect(url).to.equal('rediss+sentinel://me:x@s1,s2/main?sentinel_username=watch&sentinel_password=p%26w%3F')
    expect(parseRedisAddress(url)).to.deep.include({ isEncrypted: true, ofSentinels: { username: 'watch', password: 'p&w?' } })
    expect(withSentinelAccess('redis://a', none)).to.equal('redis://a')
  })

  it('keeps what sentinels ask for when it is parted from what others have put behind it', () => {
    const url = withParameters('redis+sentinel://s1/main?sentinel_password=p%26w', 'queue=q&prefix={t}')
    const parted = withoutParameters(url)
    expect(parted.url).to.equal('redis+sentinel://s1/main?sentinel_password=p%26w')
    expect([...parted.parameters]).to.deep.equal([
      ['queue', 'q'],
      ['prefix', '{t}'],
    ])
    expect(withParameters('redis://a/0', 'queue=q')).to.equal('redis://a/0?queue=q')
  })

  it('is given user and password whatever its form', () => {
    expect(withAccess('redis+cluster://a:1,b:2', 'me', 'p@w')).to.equal('redis+cluster://me:p%40w@a:1,b:2')
    expect(withAccess('redis://other:x@a:1/0', undefined, undefined)).to.equal('redis://a:1/0')
    expect(withAccess('redis://a:1/0', undefined, '#1')).to.equal('redis://:%231@a:1/0')
    expect(accessOf('redis+sentinel://me:p%40w@a:1/main')).to.deep.equal({ username: 'me', password: 'p@w' })
    expect(accessOf('redis://a')).to.deep.equal(none)
  })

  it('is put together of what is set by itself', () => {
    const parts = { port: 6379, db: 2 }
    expect(urlOfParts({ ...parts, host: '[::1]', isEncrypted: true })).to.equal('rediss://[::1]:6379/2')
    expect(urlOfParts({ ...parts, host: 'redis+sentinel://s1,s2/main', isEncrypted: true })).to.equal('rediss+sentinel://s1,s2/main/2')
    expect(urlOfParts({ ...parts, host: 'redis+cluster://a:1,b:2', isEncrypted: false })).to.equal('redis+cluster://a:1,b:2')
    expect(hostAlone('redis+cluster://a:1,b:2/')).to.equal('redis+cluster://a:1,b:2')
    expect(['cache', '10.0.0.1', '::1', '[::1]'].map(hostAlone)).to.deep.equal(['cache', '10.0.0.1', '[::1]', '[::1]'])
  })
})
