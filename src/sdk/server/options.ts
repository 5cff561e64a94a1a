import { getHeapStatistics } from 'node:v8'
import type { Log } from '../../kernel/log.js'
import { hostAlone, isOfCluster, isOfSentinel } from '../../platform/redis/address.js'
import { isTagged } from '../../platform/redis/slots.js'
import type { FallbackCause } from '../../reader/states/figures.js'
import { TollgateError } from '../error.js'
import type { Fallback, RedisOptions, UsageEvent } from '../types.js'

export interface ClientOptions {
  /** The environment's Server API key. Not needed offline. */
  apiKey?: string
  /** Default http://localhost:4000. */
  apiUrl?: string
  /** Whether states are read from the edge API, where that answers. Default true. */
  edgeEnabled?: boolean
  /** Default: that of `apiUrl`. */
  edgeApiUrl?: string
  /** Whether changes are pushed to the cache in memory. Default true. */
  wsEnabled?: boolean
  /** Default: that of `apiUrl`, with /graphql. */
  wsUrl?: string
  /** Set, checks are answered from this external cache, which the persistent-cache-service keeps current, instead of one in memory. */
  redis?: RedisOptions
  /** Of the cache in memory. Default: a tenth of the heap limit. */
  cacheMaxSizeBytes?: number
  /** Feature identifier to the answer when nothing is known. */
  entitlementsFallback?: Readonly<Record<string, Fallback>>
  /** Longest wait for an answer. Default 2,000. */
  timeoutMs?: number
  /** Age after which an entry that nobody vouches for is read anew before it is answered. Default 30,000. */
  refreshAfterMs?: number
  /** Age after which an entry that cannot be read anew is not answered any more. Default: 7 days. */
  maxStalenessMs?: number
  /** Nothing is sent anywhere: checks are answered by fallbacks, and all else answers empty. */
  offline?: boolean
  /** Checks count what `reportUsage` of this client is sending, before it is acknowledged. */
  optimisticUsage?: boolean
  /** Events that `trackEvents` has taken and that are not acknowledged yet. */
  eventBuffer?: Partial<EventBufferOptions>
  hooks?: Hooks
  /** As pino has it. Default: silent. */
  logger?: Log
}

export interface EventBufferOptions {
  /** Default 10,000. */
  maxEvents: number
  /** Of what is sent. Default 16 MB. */
  maxBytes: number
  /** Longest that an event waits for others. Default 1,000. */
  flushIntervalMs: number
  /** Default 500, at most 1,000. */
  batchSize: number
}

/** Told what happens, for metrics of one's own. What a hook throws is ignored. None is called for a check that the cache answers: see `figures`. */
export interface Hooks {
  /** A request to the API has ended. `outcome`: ok, passed_on (to GraphQL, by the edge), or the code of the error. */
  request?(facts: { operation: string; outcome: string; ms: number }): void
  /** A check was answered by a fallback, or denied for want of one. */
  fallback?(facts: { customerId: string; featureId: string; cause: FallbackCause }): void
  /** Events will not be sent (again). full: the buffer was; refused: by the API; closed: the client was, and the API did not take them in time. */
  eventsDropped?(facts: { events: readonly UsageEvent[]; why: 'full' | 'refused' | 'closed'; error?: unknown }): void
  /** The API refuses the key. Told once until it takes it again. */
  keyRefused?(): void
}

const day = 24 * 3_600_000

export const defaults = {
  apiUrl: 'http://localhost:4000',
  timeoutMs: 2_000,
  refreshAfterMs: 30_000,
  maxStalenessMs: 7 * day,
  eventBuffer: { maxEvents: 10_000, maxBytes: 16 * 1024 * 1024, flushIntervalMs: 1_000, batchSize: 500 },
  redisTtlSeconds: 604_800,
}

export const defaultCacheBytes = (): number => Math.floor(getHeapStatistics().heap_size_limit / 10)

const silent = () => {}
export const silentLog: Log = { debug: silent, info: silent, warn: silent, error: silent }

const largestBatch = 1_000

/** @throws TollgateError that names all problems */
export function checkOptions(options: ClientOptions): void {
  const { apiKey, offline, apiUrl, edgeApiUrl, wsUrl, redis, eventBuffer = {} } = options
  const problems: string[] = []
  if (!offline && !apiKey) problems.push('apiKey is missing: only offline it is not needed')
  for (const [name, url, schemes] of [
    ['apiUrl', apiUrl, ['http:', 'https:']],
    ['edgeApiUrl', edgeApiUrl, ['http:', 'https:']],
    ['wsUrl', wsUrl, ['ws:', 'wss:']],
  ] as const) {
    if (url !== undefined && !schemes.some((scheme) => URL.canParse(url) && new URL(url).protocol === scheme))
      problems.push(`${name} must be a URL that begins with ${schemes.map((scheme) => `${scheme}//`).join(' or ')}`)
  }
  const { cacheMaxSizeBytes, timeoutMs, refreshAfterMs, maxStalenessMs } = options
  const { maxEvents, maxBytes, flushIntervalMs, batchSize } = eventBuffer
  const sizes = { cacheMaxSizeBytes, timeoutMs, refreshAfterMs, maxStalenessMs, maxEvents, maxBytes, flushIntervalMs, batchSize }
  for (const [name, size] of Object.entries(sizes)) if (size !== undefined && !(size > 0)) problems.push(`${name} must be a number above 0`)
  if (batchSize !== undefined && batchSize > largestBatch) problems.push(`batchSize must be ${largestBatch} at most`)
  if (redis !== undefined && !redis.environmentPrefix) problems.push('redis.environmentPrefix is missing')
  problems.push(...problemsOfServers(redis))
  if (problems.length > 0) throw new TollgateError('INVALID_ARGUMENT', 'INVALID_ARGUMENT', problems.join('; '), {})
}

function problemsOfServers({ host = 'localhost', environmentPrefix = '', db = 0, ...access }: Partial<RedisOptions> = {}): string[] {
  if (access.username !== undefined && access.password === undefined) return ['redis.password is missing beside redis.username']
  if (access.sentinelUsername !== undefined && access.sentinelPassword === undefined)
    return ['redis.sentinelPassword is missing beside redis.sentinelUsername']
  try {
    hostAlone(host)
  } catch (error) {
    return [`redis.host ${(error as Error).message}`]
  }
  if (access.sentinelPassword !== undefined && !isOfSentinel(host))
    return ['redis.sentinelPassword is for a redis.host of sentinels, as in redis+sentinel://host:port,host:port/name']
  if (!isOfCluster(host)) return []
  return [
    ...(isTagged(environmentPrefix)
      ? []
      : ['redis.environmentPrefix must be in braces, as in {production}: redis.host is of a Redis Cluster']),
    ...(db === 0 ? [] : ['redis.db must be 0: a Redis Cluster has no other']),
  ]
}
