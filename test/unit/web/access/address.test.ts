import { expect } from 'chai'
import { TrustedProxies } from '../../../../src/web/access/address.js'

describe('the address of a caller', () => {
  const callerOf = (proxies: string[], remoteAddress: string, forwarded?: string) =>
    new TrustedProxies(proxies).callerOf({
      socket: { remoteAddress },
      headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
    })

  for (const [title, proxies, connected, forwarded, expected] of [
    ['is what is connected', [], '192.0.2.1', undefined, '192.0.2.1'],
    ['is an IPv4 address, however the socket has it', [], '::ffff:192.0.2.1', undefined, '192.0.2.1'],
    ['is not what a stranger says', ['10.0.0.0/8'], '192.0.2.1', '198.51.100.7', '192.0.2.1'],
    ['is what a proxy says', ['10.0.0.0/8'], '10.1.2.3', '198.51.100.7', '198.51.100.7'],
    ['is what a proxy says that is connected over IPv6', ['10.0.0.0/8'], '::ffff:10.1.2.3', '2001:db8::1', '2001:db8:0:0::/64'],
    [
      'is the last that is no proxy: the rest may be made up',
      ['10.0.0.0/8'],
      '10.1.2.3',
      '203.0.113.9, 198.51.100.7, 10.9.9.9',
      '198.51.100.7',
    ],
    ['is the network of an IPv6 address', [], '2001:DB8:7:01:abcd::9', undefined, '2001:db8:7:1::/64'],
    ['is the network also where zeros are left out', [], 'fe80::1%eth0', undefined, 'fe80:0:0:0::/64'],
    ['is what a proxy says with a port', ['10.0.0.0/8'], '10.1.2.3', '198.51.100.7:4711', '198.51.100.7'],
    ['is what a proxy says of IPv6 with a port', ['10.0.0.0/8'], '10.1.2.3', '[2001:db8::1]:4711', '2001:db8:0:0::/64'],
    ['is the proxy where it says nothing', ['10.1.2.3'], '10.1.2.3', undefined, '10.1.2.3'],
    ['is the proxy where it says nonsense', ['10.1.2.3'], '10.1.2.3', '198.51.100.7, unknown', '10.1.2.3'],
    ['is the proxy where all are proxies', ['10.0.0.0/8'], '10.1.2.3', '10.4.4.4', '10.1.2.3'],
    ['is what a proxy of an IPv6 network says', ['2001:db8::/32'], '2001:db8::5', '198.51.100.7', '198.51.100.7'],
  ] as const)
    it(title, () => expect(callerOf([...proxies], connected, forwarded)).to.equal(expected))

  it('needs addresses and networks', () => {
    for (const proxy of ['', 'proxy', '10.0.0.0/33', '10.0.0.0/x', '10.0.0', '2001:db8::/129'])
      expect(() => new TrustedProxies([proxy]), proxy).to.throw('is neither an address nor a network such as 10.0.0.0/8')
  })
})
