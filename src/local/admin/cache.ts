/** `cache verify`: whether a persistent cache says what is true. */
import type { Command } from '../../cli/command-line.js'
import { environmentOption } from '../../cli/entries.js'
import { text, UsageError, type Values } from '../../cli/input.js'
import { isOfCluster, parseRedisAddress } from '../../platform/redis/address.js'
import { isTagged } from '../../platform/redis/slots.js'
import type { FetchState } from '../../updates/external-cache/apply.js'
import { Feed } from '../../updates/external-cache/feed.js'
import type { EntityId } from '../../updates/external-cache/keys.js'
import { compareWithTruth, mend } from '../../updates/external-cache/mend.js'
import { ExternalCacheWriter } from '../../updates/external-cache/writer.js'
import type { Place } from '../../updates/wire/queue-message.js'
import { type AdminContext, findEnvironment } from './context.js'

/** As many as the database is asked at the same time: it has a platform to serve. */
const atOnce = 4
/** What the processes of the cache call it and write, too. */
const [defaultCachePrefix, usualTtlSeconds] = ['production', 604_800]

interface Difference extends EntityId {
  differences: string[]
  /** Absent: it was not asked for. */
  isMended?: boolean
}

export const cacheVerify: Command<AdminContext> = {
  name: 'cache verify',
  argument: null,
  summary:
    'Compares what a persistent cache holds with what is true, and prints what differs; exit code 1 when something does, and is not mended',
  options: {
    environment: environmentOption,
    'cache-url': {
      type: 'string',
      help: 'the Redis of the cache: redis://user:password@host:port/db, or redis+cluster://… or redis+sentinel://… (required)',
    },
    'cache-prefix': { type: 'string', help: `prefix of its keys: ${defaultCachePrefix} unless given` },
    'cache-ttl': { type: 'string', help: `life of what is written, in seconds, as KEYS_TTL_IN_SECS: ${usualTtlSeconds} unless given` },
    sample: { type: 'string', help: 'looks at about so many of its entries instead of all' },
    mend: { type: 'boolean', help: 'writes the truth over what differs' },
  },
  async run({ environments, entitlements, toldUpTo, redisAt }, values) {
    const { id: environmentId } = await findEnvironment(environments, values)
    const prefix = text(values['cache-prefix']) ?? defaultCachePrefix
    const url = urlOf(values)
    if (isOfCluster(url) && !isTagged(prefix))
      throw new UsageError('--cache-prefix must be in braces, as in {production}: --cache-url is of a Redis Cluster')
    const redis = redisAt(url)
    const feed = new Feed({ redis, prefix })
    // In this order: what is told meanwhile is no difference.
    const heard = await feed.heard()
    const isDeaf = heard !== null && isBeyond(heard, await toldUpTo(environmentId))
    if (isDeaf && values.mend === true) await feed.forget()
    const cache = new ExternalCacheWriter({
      redis,
      prefix,
      ttlSeconds: numberOf(values, 'cache-ttl') ?? usualTtlSeconds,
    })
    const fetchState: FetchState = ({ customerId, resourceId }) => entitlements.state(environmentId, customerId, resourceId)
    const parts = { cache, fetchState, signal: new AbortController().signal }
    const differing: Difference[] = []
    const look = async (id: EntityId) => {
      const differences = await compareWithTruth(id, parts)
      if (differences.length > 0) differing.push({ ...id, differences, ...(values.mend === true && { isMended: await mend(id, parts) }) })
    }
    const chosen = await choose(cache, numberOf(values, 'sample'))
    for (let start = 0; start < chosen.length; start += atOnce) await Promise.all(chosen.slice(start, start + atOnce).map(look))
    const left = differing.filter(({ isMended }) => isMended !== true)
    const lines = [...differing.map(describe), summaryOf(chosen.length, differing.length, differing.length - left.length)]
    return {
      text: [
        ...(isDeaf ? [deafness + (values.mend === true ? ' (mended: it reads everything anew within minutes)' : '')] : []),
        ...lines,
      ].join('\n'),
      json: { compared: chosen.length, differing, isDeaf },
      hasDifferences: left.length > 0 || (isDeaf && values.mend !== true),
    }
  },
}

/** Only a message that is not the platform's can have said so. */
const isBeyond = (heard: Place, told: Place | null): boolean =>
  told === null || heard.epoch > told.epoch || (heard.epoch === told.epoch && heard.sequence > told.sequence)

const deafness =
  'The cache has heard of messages that the platform has not sent, and so takes none of the platform’s: was something else put into its queue, or is it the cache of another environment?'

/** All, or as many by chance: each with the same chance, whatever the cache tells first. */
async function choose(cache: ExternalCacheWriter, most = Number.POSITIVE_INFINITY): Promise<EntityId[]> {
  const chosen: EntityId[] = []
  const seen = new Set<string>()
  for await (const entities of cache.entities())
    for (const id of entities) {
      const key = JSON.stringify([id.customerId, id.resourceId])
      if (seen.has(key)) continue
      seen.add(key)
      if (chosen.length < most) chosen.push(id)
      else {
        const place = Math.floor(Math.random() * seen.size)
        if (place < most) chosen[place] = id
      }
    }
  return chosen
}

const nameOf = ({ customerId, resourceId }: EntityId) => (resourceId === null ? customerId : `${customerId}, resource ${resourceId}`)

const describe = ({ differences, isMended, ...id }: Difference) =>
  [
    `${nameOf(id)}${isMended === undefined ? '' : isMended ? ' (mended)' : ' (not mended: it changes too often)'}`,
    ...differences.map((line) => `  ${line}`),
  ].join('\n')

const summaryOf = (compared: number, differing: number, mended: number) =>
  differing === 0
    ? `${compared} entries compared: no difference`
    : `${compared} entries compared: ${differing} differ${mended > 0 ? `, ${mended} mended` : ''}`

function urlOf(values: Values): string {
  const url = text(values['cache-url'])
  if (url === undefined) throw new UsageError('--cache-url must be the address of the Redis of the cache, such as redis://host:6379/0')
  try {
    parseRedisAddress(url)
    return url
  } catch (error) {
    throw new UsageError(`--cache-url ${(error as Error).message}`)
  }
}

function numberOf(values: Values, option: string): number | undefined {
  const given = text(values[option])
  if (given === undefined) return undefined
  if (!/^-?\d{1,9}$/.test(given) || Number(given) === 0) throw new UsageError(`--${option} must be a number, not "${given}"`)
  return Number(given)
}
