/** All addresses of a host. */
import type { LookupAddress } from 'node:dns'
import { lookup, Resolver } from 'node:dns/promises'

/** @throws Error with a code of DNS. `signal`: nobody waits any more. */
export type Resolve = (host: string, signal: AbortSignal) => Promise<readonly LookupAddress[]>

/** Of one question to one name server, at first; it is asked twice. */
const questionTimeoutMs = 2_000

/**
 * Asks the name servers themselves. The system's own way (getaddrinfo) has four threads for the whole process: a few hosts whose name servers do not answer would
 * have all the others wait. `servers`: in the place of those of this machine.
 */
export const byNameServers =
  (servers?: readonly string[]): Resolve =>
  async (host, signal) => {
    // A new one each time: it knows what /etc/resolv.conf says now.
    const resolver = new Resolver({ timeout: questionTimeoutMs, tries: 2 })
    if (servers) resolver.setServers(servers)
    const stop = () => resolver.cancel()
    signal.addEventListener('abort', stop, { once: true })
    try {
      const [v4, v6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
      const found = [
        ...(v4.status === 'fulfilled' ? v4.value : []).map((address) => ({ address, family: 4 })),
        ...(v6.status === 'fulfilled' ? v6.value : []).map((address) => ({ address, family: 6 })),
      ]
      if (found.length === 0 && v4.status === 'rejected') throw v4.reason
      return found
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }

/** As every program of this machine does, with the names that only it knows. */
export const bySystem: Resolve = (host) => lookup(host, { all: true, verbatim: true })
