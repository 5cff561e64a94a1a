import { expect } from 'chai'
import { hostOf, isAllowed, isPublicAddress, urlFault } from '../../../../src/notifications/webhooks/addresses.js'

/** Addresses as they are connected to, by why they are refused. */
const refused: Record<string, string> = {
  'this network': '0.0.0.0 0.0.0.1 0.1.2.3 0.255.255.255',
  private: '10.0.0.0 10.0.0.1 10.255.255.255 172.16.0.1 172.20.10.1 172.31.255.255 192.168.0.1 192.168.1.254 192.168.255.255',
  'carrier-grade NAT': '100.64.0.0 100.64.0.1 100.100.100.200 100.127.255.255',
  loopback: '127.0.0.1 127.0.0.53 127.1.2.3 127.255.255.254',
  'link-local and metadata': '169.254.0.1 169.254.169.254 169.254.170.2 169.254.255.255 192.0.0.192',
  'protocol assignments': '192.0.0.1 192.0.0.8 192.0.0.170',
  documentation: '192.0.2.1 198.51.100.1 203.0.113.1 203.0.113.255',
  'relays and AS112': '192.88.99.1 192.31.196.1 192.52.193.1 192.175.48.1',
  benchmarks: '198.18.0.1 198.19.255.255',
  multicast: '224.0.0.1 224.0.0.251 232.1.1.1 239.255.255.250',
  'reserved and broadcast': '240.0.0.1 250.1.2.3 255.255.255.255',
  'IPv6 loopback and unspecified': ':: ::1 0:0:0:0:0:0:0:1 0000:0000:0000:0000:0000:0000:0000:0001',
  'IPv4 in IPv6':
    '::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::ffff:8.8.8.8 ::127.0.0.1 ::10.0.0.1 ::ffff:0:127.0.0.1',
  'translated (NAT64)': '64:ff9b::127.0.0.1 64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 64:ff9b::808:808 64:ff9b:1::1 64:ff9b:1:ffff::10.0.0.1',
  '6to4 and Teredo': '2002:7f00:1:: 2002:a00:1::1 2002:a9fe:a9fe::1 2002:808:808::1 2001::1 2001:0:7f00:1::1 2001:0:4136:e378::1',
  'IPv6 assignments': '2001:2::1 2001:10::1 2001:20::1 2001:1ff:ffff::1 2001:db8::1 2001:db8:1::2 3fff::1 2620:4f:8000::1',
  'unique local and metadata': 'fc00::1 fd00::1 fd12:3456:789a::1 fd00:ec2::254 fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
  'IPv6 link-local': 'fe80::1 fe80::a9fe:a9fe fe80::1%eth0 febf::1 fec0::1',
  'IPv6 multicast': 'ff00::1 ff01::1 ff02::1 ff02::fb ff05::1:3 ff0e::1',
  'not given out': '100::1 200::1 400::1 1000::1 4000::1 5f00::1 8000::1 e000::1',
  'no address': 'localhost 127.1 0x7f.1 2130706433 017700000001 1.2.3.4.5 256.1.1.1 [::1]',
}
const allowed =
  '1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.1 100.63.255.255 100.128.0.1 126.255.255.255 128.0.0.1 172.15.255.255 172.32.0.1 192.167.1.1 192.169.1.1 223.255.255.255 2606:4700:4700::1111 2001:4860:4860::8888 2a00:1450:4001:81b::200e 2001:200::1'

/** Notations of hosts, all of which the parser of URLs brings into the usual one. */
const oddHosts = `
  127.0.0.1 127.1 127.0.1 0177.0.0.1 0x7f.0.0.1 0x7f000001 2130706433 017700000001 0x7f.1 127.0.0.1. 0 0.0.0.0 0x0 00000000
  0xa9fea9fe 2852039166 0251.0376.0251.0376 169.254.43518 10.1 0xa.0.0.1 012.0.0.1 167772161 192.168.257 3232235777 0xc0.0xa8.1.1
  [::1] [0:0:0:0:0:0:0:1] [::ffff:127.0.0.1] [::ffff:7f00:1] [::] [::127.0.0.1] [fe80::1] [fd00::1] [64:ff9b::7f00:1] [2002:7f00:1::]
  １２７.０.０.１ 127。0。0。1 ①②⑦.⓪.⓪.①`
  .trim()
  .split(/\s+/)

describe('addresses of webhooks', () => {
  const all = Object.entries(refused).flatMap(([why, addresses]) => addresses.split(' ').map((address) => [why, address] as const))

  it('are refused, a hundred and more of them', () => {
    expect(all.length).to.be.above(100)
    for (const [why, address] of all) expect(isPublicAddress(address), `${address} (${why})`).to.equal(false)
  })

  it('are allowed on the public internet, also beside what is refused', () => {
    for (const address of allowed.split(' ')) expect(isPublicAddress(address), address).to.equal(true)
  })

  it('of this machine are allowed where the operator says so, and nothing else is then', () => {
    for (const [, address] of all) {
      const isLoopback = address.startsWith('127.') && address !== '127.1'
      expect(isAllowed(address, 'loopback too'), address).to.equal(isLoopback || address === '::1')
    }
    expect(isAllowed('10.0.0.1', 'any')).to.equal(true)
    expect(isAllowed('nowhere', 'any')).to.equal(false)
  })

  it('are refused in every notation', () => {
    for (const host of oddHosts)
      expect(urlFault(`https://${host}/hooks`, 'public'), host).to.equal('url must be an address of the public internet.')
  })

  it('begin with https://, and have no password', () => {
    expect(urlFault('https://app.example.com/hooks?a=1', 'public')).to.equal(null)
    expect(urlFault('https://1.1.1.1:8443/hooks', 'public')).to.equal(null)
    for (const url of [
      'http://app.example.com',
      'ftp://app.example.com',
      'file:///etc/passwd',
      'app.example.com',
      '',
      'https://',
      'http://localhost',
    ])
      expect(urlFault(url, 'public'), url).to.match(/https:\/\//)
    expect(urlFault('https://user:secret@app.example.com', 'public')).to.match(/no password/)
    expect(urlFault('http://localhost:3000/hooks', 'loopback too')).to.equal(null)
    expect(urlFault('http://127.0.0.1:3000/hooks', 'loopback too')).to.equal(null)
    expect(urlFault('http://app.example.com/hooks', 'loopback too')).to.match(/https:\/\//)
    expect(urlFault('http://10.0.0.1/hooks', 'any')).to.equal(null)
    expect(urlFault(`https://app.example.com/${'a'.repeat(2_000)}`, 'public')).to.match(/characters/)
    expect(hostOf(new URL('https://[::1]:8443/'))).to.equal('::1')
  })
})
