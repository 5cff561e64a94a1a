import { getHeapStatistics } from 'node:v8'
import { makeValidator } from 'envalid'
import { Secret } from '../../kernel/secret.js'
import {
  type Config,
  type ConfigSpec,
  flag,
  integer,
  logLevel,
  port,
  positive,
  processVariables,
  secret,
  str,
} from '../../platform/config.js'
import { isOfCluster, isRedisUrl, parseRedisAddress, withAccess, withoutParameters } from '../../platform/redis/address.js'
import { isTagged } from '../../platform/redis/slots.js'
import { type GlobalFallbacks, parseGlobalFallbacks } from '../../reader/states/fallback.js'
import {
  cacheServerProblems,
  databaseIndex,
  externalCacheAddress,
  host,
  hostMeaning,
  sentinelVariables,
  tlsMeaning,
} from '../../updates/external-cache/config.js'

const globalFallbacks = makeValidator<GlobalFallbacks>(parseGlobalFallbacks)

/** The validators of the platform keep URLs secret, for their passwords; these have none, and are worth reading in the logs. */
const urlOf = (...schemes: string[]) =>
  makeValidator<string>((input) => {
    const url = URL.parse(input)
    if (url === null || !schemes.includes(url.protocol))
      throw new Error(`must be a URL that begins with ${schemes.map((s) => `${s}//`).join(' or ')}`)
    if (url.username !== '' || url.password !== '') throw new Error('must not carry a user or password: the key is SERVER_API_KEY')
    return input
  })

const path = makeValidator<string>((input) => {
  const trimmed = input.replace(/^\//, '')
  if (!/^[\w.~/-]+$/.test(trimmed)) throw new Error(`must be a path such as livez, not "${input}"`)
  return trimmed
})

/** The queue of the environment's usage, in the platform's Redis. */
export interface UsageQueueAddress {
  /** With user and password. */
  redisUrl: Secret
  environmentId: string
  /** Of all queue keys. */
  prefix: string
}

const usageQueue = makeValidator<UsageQueueAddress>((input) => {
  // The messages never repeat the value: it carries a password.
  if (!isRedisUrl(input)) throw new Error('must be an address such as redis://user:password@host:port/db?environment=<id>')
  const { url, parameters } = withoutParameters(input)
  parseRedisAddress(url)
  const environmentId = parameters.get('environment')
  const isKnown = (name: string) => name === 'environment' || name === 'prefix'
  if (!environmentId) throw new Error('must name the environment, as in redis://user:password@host:port/db?environment=<id>')
  if (![...parameters.keys()].every(isKnown)) throw new Error('has an unknown parameter: only environment and prefix are known')
  const prefix = parameters.get('prefix') || '{tollgate}'
  if (isOfCluster(url) && !isTagged(prefix))
    throw new Error('must have a prefix in braces, as in prefix={tollgate}: it is of a Redis Cluster')
  return { redisUrl: new Secret(url), environmentId, prefix }
})

const serviceNames = makeValidator<string[]>((input) => {
  const names = input.split(',').map((name) => name.trim())
  const wrong = names.filter((name) => !/^[A-Za-z_]\w*(\.[A-Za-z_]\w*)+$/.test(name))
  if (wrong.length > 0)
    throw new Error(`must be names such as my.package.v1.SidecarService, with commas between, not "${wrong.join(', ')}"`)
  return names
})

const spec = {
  SERVER_API_KEY: secret({
    default: undefined,
    requiredWhen: ({ OFFLINE }) => OFFLINE !== true,
    desc: "The environment's Server API key; required unless OFFLINE",
  }),
  API_URL: urlOf('http:', 'https:')({ default: 'http://localhost:4000', desc: 'API address, without /graphql' }),
  EDGE_ENABLED: flag({ default: true, desc: 'Reads entitlements from the edge API; what it cannot answer is asked over GraphQL' }),
  EDGE_API_URL: urlOf('http:', 'https:')({ default: undefined, desc: 'Edge API address, without /v1; default: that of API_URL' }),
  WS_ENABLED: flag({ default: true, desc: 'Real-time updates over WebSocket' }),
  WS_URL: urlOf(
    'ws:',
    'wss:',
  )({ default: undefined, desc: 'WebSocket address; default: that of API_URL with /graphql', example: 'ws://localhost:4000/graphql' }),
  REDIS_ENVIRONMENT_PREFIX: str({
    default: undefined,
    desc: 'Prefix of the keys of the external cache; set, the external cache is the cache, and the persistent-cache-service keeps it current',
    example: 'production',
  }),
  REDIS_HOST: host({ default: 'localhost', desc: hostMeaning }),
  REDIS_PORT: port({ default: 6379, desc: 'Port of the external cache' }),
  REDIS_DB: databaseIndex({ default: 0, desc: 'Database of the external cache' }),
  REDIS_USERNAME: str({ default: undefined, desc: 'User of the external cache' }),
  REDIS_PASSWORD: secret({ default: undefined, desc: 'Password of the external cache' }),
  REDIS_TLS: flag({ default: false, desc: tlsMeaning }),
  ...sentinelVariables,
  REDIS_KEYS_TTL_IN_SECS: integer({
    default: 604_800,
    desc: 'Life of a key that this sidecar writes to the external cache, in seconds; negative: for ever',
  }),
  QUEUE_REDIS_URL: usageQueue({
    default: undefined,
    desc: "Adds usage to the environment's own queue in the platform's Redis, instead of sending it to the API (sidecars in the platform's own network)",
    example: 'redis://user:password@redis:6379/0?environment=<id>&prefix={tollgate}',
  }),
  ENTITLEMENTS_FALLBACK: globalFallbacks({
    default: undefined,
    desc: 'Answers when nothing is known: JSON object from feature identifier to {hasAccess, usageLimit, isUnlimited}',
    example: '{"sso": {"hasAccess": true}, "api-calls": {"hasAccess": true, "usageLimit": 100}}',
  }),
  PORT: port({ default: 8443, desc: 'gRPC port' }),
  UNIX_SOCKET_PATH: str({
    default: undefined,
    desc: 'Path of a Unix domain socket to serve gRPC on besides the port',
    example: '/run/tollgate/sidecar.sock',
  }),
  GRPC_SERVICE_ALIASES: serviceNames({
    default: undefined,
    desc: 'Further names of the service, with commas between, for clients that compiled its messages under another package',
    example: 'other.sidecar.v1.SidecarService',
  }),
  TLS_CERT_FILE: str({
    default: undefined,
    desc: 'Certificate chain (PEM) of the gRPC port; read again when it is renewed. Without it the port is not encrypted',
  }),
  TLS_KEY_FILE: str({ default: undefined, desc: 'Private key (PEM) of the certificate' }),
  TLS_CLIENT_CA_FILE: str({
    default: undefined,
    desc: 'Certificates (PEM) of who signs those of the clients; set, a client must show one',
  }),
  SIDECAR_HTTP_PORT: port({ default: 8080, desc: 'HTTP port of health and metrics' }),
  CACHE_MAX_SIZE_BYTES: positive({
    default: undefined,
    desc: 'Size of the in-memory cache; default: the smaller of 50 % of available memory and 60 % of the heap limit',
  }),
  REQUEST_TIMEOUT_MS: positive({
    default: 10_000,
    desc: 'Longest that a call takes when its caller sets no deadline, and longest request to the API',
  }),
  REFRESH_AFTER_SECS: positive({ default: 30, desc: 'Age after which an entry is refreshed when no real-time connection vouches for it' }),
  MAX_STALENESS_SECS: positive({
    default: undefined,
    desc: 'Age after which an entry that cannot be refreshed is not answered any more; default: 7 days',
  }),
  HEALTH_ENDPOINT_URL: path({ default: 'livez', desc: 'Path of the health endpoint' }),
  READY_ENDPOINT_URL: path({ default: 'readyz', desc: 'Path of the readiness endpoint' }),
  OFFLINE: flag({ default: false, desc: 'No network calls: every check is answered by its fallback' }),
  ...processVariables,
  LOG_LEVEL: logLevel('warn'),
} as const satisfies ConfigSpec

export type SidecarConfig = Config<typeof spec>

export const sidecarDefinition = { name: 'sidecar', spec, check: contradictions }

function contradictions(config: SidecarConfig): string[] {
  const { PORT, SIDECAR_HTTP_PORT, HEALTH_ENDPOINT_URL, READY_ENDPOINT_URL, REFRESH_AFTER_SECS, MAX_STALENESS_SECS } = config
  const problems: string[] = []
  if (PORT !== 0 && PORT === SIDECAR_HTTP_PORT) problems.push(`PORT and SIDECAR_HTTP_PORT are both ${PORT}: choose two ports`)
  if (new Set([HEALTH_ENDPOINT_URL, READY_ENDPOINT_URL, 'metrics']).size < 3)
    problems.push('HEALTH_ENDPOINT_URL, READY_ENDPOINT_URL and metrics must be three paths')
  if (MAX_STALENESS_SECS !== undefined && MAX_STALENESS_SECS < REFRESH_AFTER_SECS) {
    problems.push(`MAX_STALENESS_SECS (${MAX_STALENESS_SECS}) must not be below REFRESH_AFTER_SECS (${REFRESH_AFTER_SECS})`)
  }
  if ((config.TLS_CERT_FILE === undefined) !== (config.TLS_KEY_FILE === undefined))
    problems.push('TLS_CERT_FILE and TLS_KEY_FILE belong together: set both or none')
  if (config.TLS_CLIENT_CA_FILE !== undefined && config.TLS_CERT_FILE === undefined)
    problems.push('TLS_CLIENT_CA_FILE is set without TLS_CERT_FILE: clients can only be asked for a certificate when the port has one')
  if (config.REDIS_USERNAME !== undefined && config.REDIS_PASSWORD === undefined)
    problems.push('REDIS_USERNAME is set without REDIS_PASSWORD: set both or none')
  if (config.REDIS_PASSWORD !== undefined && config.REDIS_ENVIRONMENT_PREFIX === undefined)
    problems.push('REDIS_PASSWORD is set without REDIS_ENVIRONMENT_PREFIX, which turns the external cache on')
  problems.push(...cacheServerProblems(config, 'REDIS_ENVIRONMENT_PREFIX', config.REDIS_ENVIRONMENT_PREFIX))
  if (config.REDIS_KEYS_TTL_IN_SECS === 0)
    problems.push('REDIS_KEYS_TTL_IN_SECS is 0: keys would be gone at once; a negative number keeps them for ever')
  const heapBytes = getHeapStatistics().heap_size_limit
  if (config.CACHE_MAX_SIZE_BYTES !== undefined && config.CACHE_MAX_SIZE_BYTES > heapBytes * largestHeapShare)
    problems.push(
      `CACHE_MAX_SIZE_BYTES (${config.CACHE_MAX_SIZE_BYTES}) is more than ${largestHeapShare * 100} % of the heap limit (${heapBytes}): start with a larger --max-old-space-size`,
    )
  return problems
}

/** Above it, collecting garbage takes more time than answering. */
const largestHeapShare = 0.8

/** The Redis of the external cache. */
export function externalCacheUrl(config: SidecarConfig): string {
  return withAccess(externalCacheAddress(config), config.REDIS_USERNAME, config.REDIS_PASSWORD?.reveal())
}
