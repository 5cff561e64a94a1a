import { expect } from 'chai'
import { accessOf, hostOfSeveral, parseRedisAddress, urlOfParts, withAccess } from '../../../../src/platform/redis/address.js'

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
    })
  })

  for (const [url, message] of [
    ['cache:6379', 'must be a URL such as redis://host:port/db'],
    ['http://cache', 'must be a URL such as redis://host:port/db'],
    ['redis+cluster://a:7000,,b:7000', 'must name hosts with commas between'],
    ['redis+cluster://a:7000,', 'must name hosts with commas between'],
    ['redis+cluster://a:seven', 'must name hosts with commas between'],
    ['redis+cluster://a:70000', 'must name ports from 1 to 65535'],
    ['redis+cluster://a:7000/1', 'must name no database'],
    ['redis+sentinel://a:26379', 'must name what the sentinels call the primary'],
    ['redis+sentinel://a:26379/main/x', 'must name what the sentinels call the primary'],
    ['redis+sentinel://a:26379/main/1/2', 'must name what the sentinels call the primary'],
    ['redis+cluster://me:100%@a:7000', 'must have what is special in user, password and name percent-encoded'],
  ] as const)
    it(`is refused without being repeated: ${url}`, () => {
      expect(() => parseRedisAddress(url)).to.throw(message)
      expect(() => parseRedisAddress(url)).not.to.throw(url)
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
    expect(hostOfSeveral('redis+cluster://a:1,b:2/')).to.equal('redis+cluster://a:1,b:2')
    for (const refused of ['redis://a', 'redis+cluster://me:x@a:1', 'rediss+cluster://a:1', 'redis+sentinel://a/main/3'])
      expect(() => hostOfSeveral(refused), refused).to.throw('must')
  })
})
