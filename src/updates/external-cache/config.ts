import { makeValidator } from 'envalid'
import { Secret } from '../../kernel/secret.js'
import type { SqsQueue } from '../../platform/cloud/sqs.js'
import { type Config, type ConfigSpec, flag, integer, port, positive, processVariables, secret, str } from '../../platform/config.js'
import {
  accessOf,
  hostAlone,
  isOfCluster,
  isOfSentinel,
  isRedisUrl,
  parseRedisAddress,
  urlOfParts,
  withAccess,
  withoutParameters,
  withSentinelAccess,
} from '../../platform/redis/address.js'
import { isTagged } from '../../platform/redis/slots.js'

/** A queue in the platform's Redis. */
export interface RedisQueueAddress {
  kind: 'redis'
  /** With what the URL itself says of user and password. */
  redisUrl: Secret
  queue: string
  /** Of all queue keys. */
  prefix: string
}

/** A queue of SQS. */
export interface SqsQueueAddress {
  kind: 'sqs'
  url: string
  queue: string
}

/** Where an environment's changes are taken from. */
export type QueueAddress = RedisQueueAddress | SqsQueueAddress

const queueAddress = makeValidator<QueueAddress>((input) => {
  // The messages never repeat the value: it may carry a password.
  if (URL.canParse(input) && new URL(input).protocol === 'https:') return sqsAddress(new URL(input))
  if (!isRedisUrl(input))
    throw new Error(
      'must be an address such as redis://host:port/db?queue=name&prefix={tollgate}, or https://sqs.<region>.amazonaws.com/<account>/<queue>',
    )
  const { url, parameters } = withoutParameters(input)
  parseRedisAddress(url)
  const queue = parameters.get('queue')
  const isKnown = (name: string) => name === 'queue' || name === 'prefix'
  if (!queue) throw new Error('must name the queue, as in redis://host:port/db?queue=name')
  if (![...parameters.keys()].every(isKnown)) throw new Error('has an unknown parameter: only queue and prefix are known')
  const prefix = parameters.get('prefix') || '{tollgate}'
  if (isOfCluster(url) && !isTagged(prefix))
    throw new Error('must have a prefix in braces, as in prefix={tollgate}: it is of a Redis Cluster')
  return { kind: 'redis', redisUrl: new Secret(url), queue, prefix }
})

function sqsAddress(url: URL): SqsQueueAddress {
  if (url.username !== '' || url.password !== '')
    throw new Error('must not carry a user or password: they are CLOUD_ACCESS_KEY_ID and CLOUD_SECRET_ACCESS_KEY')
  const queue = /^\/[^/]+\/([^/]+)$/.exec(url.pathname)?.[1]
  if (queue === undefined || url.search !== '' || url.hash !== '')
    throw new Error('must be the address of a queue as SQS tells it, such as https://sqs.<region>.amazonaws.com/<account>/<queue>')
  return { kind: 'sqs', url: url.href, queue }
}

/** What is read before it is known to be right. */
const isOfSqs = ({ QUEUE_URL }: { QUEUE_URL?: unknown }) => (QUEUE_URL as QueueAddress | undefined)?.kind === 'sqs'

/** `https://key@host/project`, as error trackers tell it. */
const errorTracker = makeValidator<Secret>((input) => {
  const url = URL.canParse(input) ? new URL(input) : null
  // The client takes no others, and says so to nobody.
  if (url === null || !/^https?:$/.test(url.protocol) || !/^\w+$/.test(url.username) || !/\/\d+$/.test(url.pathname) || url.search !== '')
    throw new Error('must be an address such as https://<key>@host/<project number>')
  return new Secret(input)
})

const httpUrl = makeValidator<string>((input) => {
  const url = URL.canParse(input) ? new URL(input) : null
  if (url === null || !/^https?:$/.test(url.protocol)) throw new Error('must be a URL that begins with http:// or https://')
  if (url.username !== '' || url.password !== '') throw new Error('must not carry a user or password: the key is SERVER_API_KEY')
  return input
})

export const host = makeValidator<string>(hostAlone)

export const hostMeaning =
  'Host of the external cache; a cluster as `redis+cluster://host:7000,host:7001`, by Sentinel as `redis+sentinel://host:26379,host:26379/name`'

export const tlsMeaning =
  'Encrypts the connection to the external cache, whose certificate is checked; `NODE_EXTRA_CA_CERTS` names the file of an authority of your own'

/** Of an external cache by Sentinel. */
export const sentinelVariables = {
  REDIS_SENTINEL_USERNAME: str({ default: undefined, desc: 'User of the sentinels of the external cache' }),
  REDIS_SENTINEL_PASSWORD: secret({ default: undefined, desc: 'Password of the sentinels of the external cache, where they ask for one' }),
} as const satisfies ConfigSpec

export const databaseIndex = makeValidator<number>((input) => {
  if (!/^\d+$/.test(input)) throw new Error(`must be the number of a Redis database, not "${input}"`)
  return Number(input)
})

const spec = {
  QUEUE_URL: queueAddress({
    desc: "The environment's queue, or the https:// address of a queue of SQS",
    example: 'redis://host:6379/0?queue=environment-<id>&prefix={tollgate}',
  }),
  CLOUD_REGION: str({ default: undefined, requiredWhen: isOfSqs, desc: 'Region of the queue; required with a queue of SQS' }),
  CLOUD_ACCESS_KEY_ID: str({ default: undefined, requiredWhen: isOfSqs, desc: 'User of the queue; required with a queue of SQS' }),
  CLOUD_SECRET_ACCESS_KEY: secret({
    default: undefined,
    requiredWhen: isOfSqs,
    desc: 'Password of the queue; required with a queue of SQS',
  }),
  AWS_ENDPOINT_URL_SQS: httpUrl({ default: undefined, desc: 'Where SQS is called instead of at the address of the queue' }),
  SERVER_API_KEY: secret({ desc: "The environment's Server API key" }),
  EDGE_API_URL: httpUrl({ default: 'http://localhost:4000', desc: 'Edge API address, without /v1: for states that messages do not carry' }),
  ENVIRONMENT_PREFIX: str({
    default: 'production',
    desc: 'Prefix of all keys, the same as in SDKs and sidecars; on a Redis Cluster in braces',
  }),
  REDIS_HOST: host({ desc: hostMeaning, example: 'cache.internal' }),
  REDIS_PORT: port({ default: 6379, desc: 'Port of the external cache' }),
  REDIS_DB: databaseIndex({ default: 0, desc: 'Database of the external cache' }),
  REDIS_USER: str({ default: undefined, desc: 'User of the external cache' }),
  REDIS_PASSWORD: secret({ default: undefined, desc: 'Password of the external cache' }),
  REDIS_TLS: flag({ default: false, desc: tlsMeaning }),
  ...sentinelVariables,
  BATCH_SIZE: positive({
    default: 1,
    desc: 'Messages that are received at once, from SQS in calls of at most 10, and that are in work at the same time',
  }),
  KEYS_TTL_IN_SECS: integer({ default: 604_800, desc: 'Life of a key that is not written again, in seconds; negative: for ever' }),
  ERRTRACK_DSN: errorTracker({
    default: undefined,
    desc: 'Where unexpected errors are told, by kind and place in the code alone: the address of a project of Sentry or a compatible server',
  }),
  DISABLE_ERRTRACK: flag({ default: false, desc: 'Tells no errors, also with ERRTRACK_DSN' }),
  PORT: port({ default: 4000, desc: 'Port of health and metrics' }),
  ...processVariables,
} as const satisfies ConfigSpec

export type QueueConsumptionConfig = Config<typeof spec>

export const queueConsumptionDefinition = { name: 'queue-consumption', spec, check: contradictions }

function contradictions({ QUEUE_URL, ...config }: QueueConsumptionConfig): string[] {
  const problems: string[] = QUEUE_URL.kind === 'redis' ? redisContradictions(QUEUE_URL, config) : sqsContradictions(QUEUE_URL, config)
  if (config.REDIS_USER !== undefined && config.REDIS_PASSWORD === undefined)
    problems.push('REDIS_USER is set without REDIS_PASSWORD: set both or none')
  problems.push(...cacheServerProblems(config, 'ENVIRONMENT_PREFIX', config.ENVIRONMENT_PREFIX))
  if (config.KEYS_TTL_IN_SECS === 0)
    problems.push('KEYS_TTL_IN_SECS is 0: keys would be gone at once; a negative number keeps them for ever')
  return problems
}

type CloudVariables = Pick<QueueConsumptionConfig, 'CLOUD_REGION' | 'CLOUD_ACCESS_KEY_ID' | 'CLOUD_SECRET_ACCESS_KEY'>

function redisContradictions({ redisUrl }: RedisQueueAddress, { CLOUD_ACCESS_KEY_ID, CLOUD_SECRET_ACCESS_KEY }: CloudVariables): string[] {
  const problems: string[] = []
  if (CLOUD_ACCESS_KEY_ID !== undefined && CLOUD_SECRET_ACCESS_KEY === undefined)
    problems.push('CLOUD_ACCESS_KEY_ID is set without CLOUD_SECRET_ACCESS_KEY: set both or none')
  const { username, password } = accessOf(redisUrl.reveal())
  if (CLOUD_SECRET_ACCESS_KEY !== undefined && (username !== undefined || password !== undefined))
    problems.push('QUEUE_URL has a user or password, and CLOUD_SECRET_ACCESS_KEY is set: choose one')
  return problems
}

/** A signature for another region is refused by SQS, with words that do not say so. */
function sqsContradictions({ url }: SqsQueueAddress, { CLOUD_REGION }: CloudVariables): string[] {
  const named = /^sqs\.([a-z\d-]+)\.amazonaws\.com(?:\.cn)?$/.exec(new URL(url).hostname)?.[1]
  if (named === undefined || named === CLOUD_REGION) return []
  return [`CLOUD_REGION is ${CLOUD_REGION}, and the queue of QUEUE_URL is in ${named}`]
}

/** The Redis of the queue. */
export function queueRedisUrl(
  { redisUrl }: RedisQueueAddress,
  { CLOUD_ACCESS_KEY_ID, CLOUD_SECRET_ACCESS_KEY }: Pick<CloudVariables, 'CLOUD_ACCESS_KEY_ID' | 'CLOUD_SECRET_ACCESS_KEY'>,
): string {
  if (CLOUD_SECRET_ACCESS_KEY === undefined) return redisUrl.reveal()
  return withAccess(redisUrl.reveal(), CLOUD_ACCESS_KEY_ID, CLOUD_SECRET_ACCESS_KEY.reveal())
}

/** The queue of SQS. What is required with one is there. */
export function sqsQueue(
  { url }: SqsQueueAddress,
  config: CloudVariables & Pick<QueueConsumptionConfig, 'AWS_ENDPOINT_URL_SQS'>,
): SqsQueue {
  const { CLOUD_REGION = '', CLOUD_ACCESS_KEY_ID = '', CLOUD_SECRET_ACCESS_KEY = new Secret(''), AWS_ENDPOINT_URL_SQS: endpoint } = config
  return { url, region: CLOUD_REGION, accessKeyId: CLOUD_ACCESS_KEY_ID, secretAccessKey: CLOUD_SECRET_ACCESS_KEY, endpoint }
}

/** The Redis of the external cache. */
export function cacheRedisUrl(config: QueueConsumptionConfig): string {
  return withAccess(externalCacheAddress(config), config.REDIS_USER, config.REDIS_PASSWORD?.reveal())
}

type CacheVariables = Pick<
  QueueConsumptionConfig,
  'REDIS_TLS' | 'REDIS_HOST' | 'REDIS_PORT' | 'REDIS_DB' | 'REDIS_SENTINEL_USERNAME' | 'REDIS_SENTINEL_PASSWORD'
>

/** Where it is, for whoever reads or writes it; without user and password but those of sentinels. */
export function externalCacheAddress({ REDIS_TLS, REDIS_HOST, REDIS_PORT, REDIS_DB, ...config }: CacheVariables): string {
  return withSentinelAccess(urlOfParts({ host: REDIS_HOST, port: REDIS_PORT, db: REDIS_DB, isEncrypted: REDIS_TLS }), {
    username: config.REDIS_SENTINEL_USERNAME,
    password: config.REDIS_SENTINEL_PASSWORD?.reveal(),
  })
}

/** What else has to be right of an external cache on several servers: on a Redis Cluster, an environment is one slot. `variable`: the name of that with the prefix. */
export function cacheServerProblems(
  { REDIS_HOST, REDIS_DB, REDIS_SENTINEL_USERNAME, REDIS_SENTINEL_PASSWORD }: Omit<CacheVariables, 'REDIS_TLS' | 'REDIS_PORT'>,
  variable: string,
  prefix: string | undefined,
): string[] {
  const problems: string[] = []
  if (REDIS_SENTINEL_USERNAME !== undefined && REDIS_SENTINEL_PASSWORD === undefined)
    problems.push('REDIS_SENTINEL_USERNAME is set without REDIS_SENTINEL_PASSWORD: set both or none')
  if (REDIS_SENTINEL_PASSWORD !== undefined && !isOfSentinel(REDIS_HOST))
    problems.push('REDIS_SENTINEL_PASSWORD is set, and REDIS_HOST is not of sentinels, as in redis+sentinel://host:port,host:port/name')
  if (prefix === undefined || !isOfCluster(REDIS_HOST)) return problems
  return [
    ...problems,
    ...(isTagged(prefix) ? [] : [`${variable} (${prefix}) must be in braces, as in {production}: REDIS_HOST is of a Redis Cluster`]),
    ...(REDIS_DB === 0 ? [] : [`REDIS_DB is ${REDIS_DB}: a Redis Cluster has database 0 only`]),
  ]
}
