import type { IncomingHttpHeaders } from 'node:http'
import { leaseMs } from '../../changes/wire/holders.js'
import { invalidInput } from '../../kernel/problem.js'
import type { AskedFreshness } from '../../updates/held/fresh-reads.js'
import type { Identity } from './auth.js'
import { type RateLimits, strongReadCost } from './rate-limits.js'

interface Caller {
  identity: Identity
  address: string
  rateLimits: RateLimits
}

/**
 * How fresh the checks of a request have to be, by its headers `X-Consistency` and `X-Max-Staleness-Ms`. Undefined: what is held is fresh enough. Fails with
 * INVALID_ARGUMENT when they say neither.
 */
export function freshnessOf(headers: IncomingHttpHeaders, { identity, address, rateLimits }: Caller): AskedFreshness | undefined {
  const { 'x-consistency': consistency, 'x-max-staleness-ms': staleness } = headers
  if (consistency === undefined && staleness === undefined) return undefined
  if (consistency !== undefined && consistency !== 'strong' && consistency !== 'cached')
    throw invalidInput('X-Consistency must be strong or cached.', { path: 'X-Consistency' })
  if (staleness !== undefined && !/^\d{1,15}$/.test(String(staleness)))
    throw invalidInput('X-Max-Staleness-Ms must be a whole number of milliseconds, 0 or more.', { path: 'X-Max-Staleness-Ms' })
  const maxAgeMs = consistency === 'strong' ? 0 : Number(staleness ?? Number.POSITIVE_INFINITY)
  // What is held is never trusted for longer.
  if (maxAgeMs >= leaseMs) return undefined
  const { compared, built } = strongReadCost
  return {
    maxAgeMs,
    beforeRead() {
      rateLimits.takeCost(identity, address, built)
      return () => rateLimits.giveBackCost(identity, address, built - compared)
    },
  }
}
