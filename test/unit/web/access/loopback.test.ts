import { expect } from 'chai'
import { isFromThisMachine } from '../../../../src/web/access/loopback.js'

describe('who is on this machine', () => {
  const local = { remoteAddress: '127.0.0.1', host: '127.0.0.1:4000' }
  for (const [what, sent, expected] of [
    ['an address of loopback', local, true],
    ['its name', { ...local, host: 'localhost:4000' }, true],
    ['its name in capitals, without a port', { ...local, host: 'LOCALHOST' }, true],
    ['another address of loopback', { remoteAddress: '127.8.4.1', host: '127.8.4.1:4000' }, true],
    ['loopback of IPv6', { remoteAddress: '::1', host: '[::1]:4000' }, true],
    ['IPv4 on a socket of IPv6', { remoteAddress: '::ffff:127.0.0.1', host: 'localhost:4000' }, true],
    ['another machine', { remoteAddress: '192.168.0.7', host: 'localhost:4000' }, false],
    ['another machine that begins alike', { remoteAddress: '12.7.0.0', host: 'localhost' }, false],
    ['a name that resolves to here', { ...local, host: 'rebound.example:4000' }, false],
    ['a name that begins as an address does', { ...local, host: '127.0.0.1.example:4000' }, false],
    ['a name that ends as loopback does', { ...local, host: 'evil-localhost' }, false],
    ['no name', { remoteAddress: '127.0.0.1' }, false],
    ['an address that is not known', { host: 'localhost' }, false],
    ['a proxy on this machine', { ...local, 'x-forwarded-for': '203.0.113.9' }, false],
    ['a proxy that says so as the standard has it', { ...local, forwarded: 'for=203.0.113.9' }, false],
    ['a proxy that says no more than that it is one', { ...local, via: '1.1 proxy' }, false],
    ['a proxy that names who asks in a way of its own', { ...local, 'x-real-ip': '203.0.113.9' }, false],
    ['a proxy of a network of proxies', { ...local, 'cf-connecting-ip': '203.0.113.9' }, false],
    ['a proxy that says nothing, and speaks as no browser does', { ...local, httpVersion: '1.0' }, false],
  ] as [string, Record<string, string>, boolean][])
    it(`is ${expected ? '' : 'not '}${what}`, () => {
      const { remoteAddress, httpVersion = '1.1', ...headers } = sent
      expect(isFromThisMachine({ headers, httpVersion, socket: { remoteAddress } })).to.equal(expected)
    })
})
