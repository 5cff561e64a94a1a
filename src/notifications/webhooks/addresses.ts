/** Which addresses of the internet a webhook may go to. Pure. */
import { BlockList, isIP, isIPv4 } from 'node:net'

/** Networks that are not of the public internet, or that lead back to one that is not (IANA's special-purpose registries). */
const refusedV4 = [
  '0.0.0.0/8', // this network; 0.0.0.0 connects to this machine
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier-grade NAT; 100.100.100.200 is the metadata service of a cloud
  '127.0.0.0/8', // loopback
  '169.254.0.0/16', // link-local; 169.254.169.254 is the metadata service of most clouds
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments; 192.0.0.192 is the metadata service of a cloud
  '192.0.2.0/24', // documentation
  '192.31.196.0/24', // AS112
  '192.52.193.0/24', // AMT
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '192.175.48.0/24', // AS112
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and broadcast
]

/** Of IPv6 only what is global unicast is allowed at all (2000::/3); these are within it. */
const refusedV6 = [
  '2001::/23', // protocol assignments: Teredo, ORCHID, benchmarks
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4: carries an IPv4 address
  '2620:4f:8000::/48', // AS112
  '3fff::/20', // documentation
]

const listOf = (networks: readonly string[], family: 'ipv4' | 'ipv6'): BlockList => {
  const list = new BlockList()
  for (const network of networks) {
    const [address, prefix] = network.split('/') as [string, string]
    list.addSubnet(address, Number(prefix), family)
  }
  return list
}

const v4 = listOf(refusedV4, 'ipv4')
const v6 = listOf(refusedV6, 'ipv6')
const global = listOf(['2000::/3'], 'ipv6')
const loopbackV4 = listOf(['127.0.0.0/8'], 'ipv4')

/** Whether a webhook may go to the address, as it is connected to: IPv4 in dots or IPv6. What is no address is refused. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !v4.check(address, 'ipv4')
  // A zone (fe80::1%eth0) is of an address that is not global. Addresses that carry an IPv4 one (::ffff:, 64:ff9b::) are not global unicast either.
  if (isIP(address) !== 6 || address.includes('%')) return false
  return global.check(address, 'ipv6') && !v6.check(address, 'ipv6')
}

export const isLoopback = (address: string): boolean => (isIPv4(address) ? loopbackV4.check(address, 'ipv4') : address === '::1')

/** Where an operator lets webhooks go. */
export type AllowedTargets = 'public' | 'loopback too' | 'any'

export function isAllowed(address: string, targets: AllowedTargets): boolean {
  if (targets === 'any') return isIP(address) !== 0
  return isPublicAddress(address) || (targets === 'loopback too' && isLoopback(address))
}

export const maxUrlLength = 2_000

/**
 * What is wrong with the URL of an endpoint, as a sentence; null: nothing, as far as that can be told without asking for the addresses of its host. The URL parser
 * has brought odd notations of addresses (octal, hexadecimal, one number) into the usual one.
 */
export function urlFault(text: string, targets: AllowedTargets): string | null {
  if (text.length > maxUrlLength) return `url has more than ${maxUrlLength} characters.`
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) return 'url must be an address that begins with https://.'
  const host = hostOf(url)
  const isPlainAllowed = targets === 'any' || (targets === 'loopback too' && (host === 'localhost' || isLoopback(host)))
  if (url.protocol === 'http:' && !isPlainAllowed) return 'url must begin with https://.'
  if (url.username !== '' || url.password !== '') return 'url must have no user and no password: requests are signed instead.'
  if (isIP(host) !== 0 && !isAllowed(host, targets)) return 'url must be an address of the public internet.'
  return null
}

/** The host as it is looked up or connected to: IPv6 without brackets. */
export const hostOf = ({ hostname }: URL): string => (hostname.startsWith('[') ? hostname.slice(1, -1) : hostname)
