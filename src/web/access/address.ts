import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'

/** Addresses and networks (`10.0.0.0/8`) of proxies whose word on who calls is taken. */
export class TrustedProxies {
  readonly #list = new BlockList()
  readonly #isEmpty: boolean

  /** Throws for what is neither an address nor a network. */
  constructor(proxies: readonly string[]) {
    this.#isEmpty = proxies.length === 0
    for (const proxy of proxies) {
      const [address = '', prefix] = proxy.split('/')
      const family = familyOf(address)
      const bits = prefix === undefined ? undefined : Number(prefix)
      if (!family || (bits !== undefined && !(Number.isInteger(bits) && bits >= 0 && bits <= (family === 'ipv4' ? 32 : 128))))
        throw new Error(`"${proxy}" is neither an address nor a network such as 10.0.0.0/8`)
      if (bits === undefined) this.#list.addAddress(address, family)
      else this.#list.addSubnet(address, bits, family)
    }
  }

  has(given: string): boolean {
    const address = plainAddress(given)
    const family = familyOf(address)
    return family !== null && this.#list.check(address, family)
  }

  /** What is connected, whoever calls through it. */
  connectedOf({ remoteAddress = '' }: { remoteAddress?: string }): string {
    return countedAs(plainAddress(remoteAddress))
  }

  /** Who calls, one address of IPv4 or a network of IPv6: what is connected, or, where that is a trusted proxy, the last in X-Forwarded-For that is none. */
  callerOf({ socket, headers }: Pick<IncomingMessage, 'headers'> & { socket: { remoteAddress?: string } }): string {
    const connected = plainAddress(socket.remoteAddress ?? '')
    if (this.#isEmpty || !this.has(connected)) return countedAs(connected)
    // The nearest proxy has written the last one; what stands before the first that is not trusted may be made up.
    const named = String(headers['x-forwarded-for'] ?? '').split(',')
    for (const name of named.reverse()) {
      const address = plainAddress(name.trim())
      if (isIP(address) === 0) break
      if (!this.has(address)) return countedAs(address)
    }
    return countedAs(connected)
  }
}

/** An IPv4 address as such, however the socket has it, and without the port that some proxies add. */
function plainAddress(address: string): string {
  if (address.startsWith('::ffff:') && isIP(address.slice(7)) === 4) return address.slice(7)
  if (isIP(address) !== 0) return address
  const [, v6, v4] = /^(?:\[([\da-f:.]+)\](?::\d+)?|([\d.]+):\d+)$/i.exec(address) ?? []
  return v6 ?? v4 ?? address
}

/** Whoever has one address of IPv6 has the 2^64 that begin alike. */
function countedAs(address: string): string {
  if (!address.includes(':')) return address
  const [head = '', tail] = address.toLowerCase().split('%')[0]!.split('::')
  const groups = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? [] : Array<string>(Math.max(0, 8 - groups.length - after.length)).fill('0')
  const network = [...groups, ...zeros, ...after].slice(0, 4).map((group) => group.replace(/^0+(?=.)/, ''))
  return `${network.join(':')}::/64`
}

function familyOf(address: string): 'ipv4' | 'ipv6' | null {
  const version = isIP(address)
  return version === 0 ? null : version === 4 ? 'ipv4' : 'ipv6'
}
