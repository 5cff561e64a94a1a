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

  has(address: string): boolean {
    const family = familyOf(address)
    return family !== null && this.#list.check(address, family)
  }

  /** Who calls: what is connected, or, where that is a trusted proxy, the last in X-Forwarded-For that is none. */
  callerOf({ socket, headers }: Pick<IncomingMessage, 'headers'> & { socket: { remoteAddress?: string } }): string {
    const connected = plainAddress(socket.remoteAddress ?? '')
    if (this.#isEmpty || !this.has(connected)) return connected
    // The nearest proxy has written the last one; what stands before the first that is not trusted may be made up.
    const named = String(headers['x-forwarded-for'] ?? '').split(',')
    for (const name of named.reverse()) {
      const address = plainAddress(name.trim())
      if (isIP(address) === 0) break
      if (!this.has(address)) return address
    }
    return connected
  }
}

/** An IPv4 address as such, however the socket has it. */
const plainAddress = (address: string): string =>
  address.startsWith('::ffff:') && isIP(address.slice(7)) === 4 ? address.slice(7) : address

function familyOf(address: string): 'ipv4' | 'ipv6' | null {
  const version = isIP(address)
  return version === 0 ? null : version === 4 ? 'ipv4' : 'ipv6'
}
