import { accessOf, isOfCluster, parseRedisAddress, withoutParameters, withParameters } from '../platform/redis/address.js'
import type { Stage } from './processes/children.js'

/** What the processes of one platform share. */
export interface Wiring {
  databaseUrl: string
  redisUrl: string
  environmentId: string
  serverApiKey: string
  operatorKey: string
  /** SECRETS_KEY of the processes that have one. */
  secretsKey: string
  /** The port of each process, by its Procfile name. */
  ports: Readonly<Record<string, number>>
  /** The sidecar answers health and metrics on a port beside its gRPC port. */
  sidecarHttpPort: number
  /** Metrics of the web process, apart from the API. */
  webMetricsPort: number
  /** The address the processes listen on. */
  bindAddress: string
}

/** QUEUE_PREFIX of the processes when nothing else is set. */
const defaultQueuePrefix = '{tollgate}'

/** The ports processes usually have; others get the next free ones. */
export const usualPorts: Readonly<Record<string, number>> = {
  web: 4000,
  sidecar: 8443,
  'usage-ingestion': 4101,
  'event-aggregation': 4102,
  'subscription-transitions': 4103,
  'cache-invalidation': 4104,
  'queue-consumption': 4105,
  'billing-sync': 4106,
  'webhook-delivery': 4107,
  'alert-evaluation': 4108,
}
export const usualSidecarHttpPort = 8080
export const usualWebMetricsPort = 4100

/** Doors stop first: what they have accepted is still worked off by the workers. */
export function stageOf(name: string): Stage {
  return name === 'web' || name === 'sidecar' ? 'door' : 'worker'
}

/** The host under which a process is reached on this machine, whatever address it listens on. */
export function localHost({ bindAddress }: Wiring): string {
  const listensEverywhere = bindAddress === '0.0.0.0' || bindAddress === '::'
  return listensEverywhere ? '127.0.0.1' : bindAddress
}

/** Base of a process's /livez and /readyz, and but for the web process /metrics. */
export function healthUrl(name: string, wiring: Wiring): string {
  return `http://${localHost(wiring)}:${name === 'sidecar' ? wiring.sidecarHttpPort : portOf(name, wiring)}`
}

/** Base of the web process's /metrics. */
export const webMetricsUrl = (wiring: Wiring): string => `http://${localHost(wiring)}:${wiring.webMetricsPort}`

function portOf(name: string, wiring: Wiring): number {
  const port = wiring.ports[name]
  if (port === undefined) throw new Error(`No port for ${name}`)
  return port
}

/**
 * The environment of a process. What the user has set wins where it is a preference (log level, address, prefixes); what makes the
 * processes find each other does not.
 */
export function processEnvironment(name: string, wiring: Wiring, user: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { preferences, wires } = variables(name, wiring, user.QUEUE_PREFIX || defaultQueuePrefix)
  return { LOG_LEVEL: 'info', BIND_ADDRESS: wiring.bindAddress, ...preferences, ...user, ...wires, PORT: String(portOf(name, wiring)) }
}

interface Variables {
  preferences?: Record<string, string>
  wires: Record<string, string>
}

function variables(name: string, wiring: Wiring, queuePrefix: string): Variables {
  const { databaseUrl, redisUrl, serverApiKey, operatorKey, secretsKey, sidecarHttpPort, webMetricsPort } = wiring
  // Receivers are tried out on the same machine.
  const webhooks = { WEBHOOK_TARGETS: 'loopback' }
  const stores = { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl }
  switch (name) {
    case 'web':
      return {
        preferences: {
          ...webhooks,
          GRAPHIQL: 'true',
          GRAPHIQL_KEY: serverApiKey,
          ...(wiring.ports.sidecar === undefined ? {} : { SIDECAR_ADDRESS: sidecarAddress(wiring) }),
        },
        wires: { ...stores, OPERATOR_KEY: operatorKey, SECRETS_KEY: secretsKey, METRICS_PORT: String(webMetricsPort) },
      }
    case 'webhook-delivery':
      return { preferences: webhooks, wires: { ...stores, SECRETS_KEY: secretsKey } }
    case 'sidecar':
      return {
        preferences: { WS_ENABLED: 'TRUE' },
        wires: {
          SERVER_API_KEY: serverApiKey,
          API_URL: webUrl(wiring),
          WS_URL: webSocketUrl(wiring),
          SIDECAR_HTTP_PORT: String(sidecarHttpPort),
        },
      }
    case 'queue-consumption': {
      const { username, password } = accessOf(redisUrl)
      return {
        // Database 1: the external cache is the customer's own store, apart from the platform's queues. A cluster has one database, and wants a hash tag.
        preferences: isOfCluster(redisUrl) ? { ENVIRONMENT_PREFIX: '{production}' } : { ENVIRONMENT_PREFIX: 'production', REDIS_DB: '1' },
        wires: {
          SERVER_API_KEY: serverApiKey,
          QUEUE_URL: environmentQueueUrl(redisUrl, wiring.environmentId, queuePrefix),
          EDGE_API_URL: webUrl(wiring),
          ...cacheHost(redisUrl),
          ...(username && { REDIS_USER: username }),
          ...(password && { REDIS_PASSWORD: password }),
        },
      }
    }
    default:
      return { wires: stores }
  }
}

export const sidecarAddress = (wiring: Wiring): string => `${localHost(wiring)}:${wiring.ports.sidecar}`
export const webUrl = (wiring: Wiring): string => `http://${localHost(wiring)}:${portOf('web', wiring)}`
export const webSocketUrl = (wiring: Wiring): string => `ws://${localHost(wiring)}:${portOf('web', wiring)}/graphql`

/** The servers of a Redis, as the settings of an external cache say it. */
function cacheHost(redisUrl: string): Record<string, string> {
  const address = parseRedisAddress(redisUrl)
  if (address.kind === 'server') {
    const { hostname, port, protocol } = new URL(redisUrl)
    return { REDIS_HOST: hostname, REDIS_PORT: port || '6379', REDIS_TLS: String(protocol === 'rediss:') }
  }
  const hosts = address.nodes.map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`).join(',')
  const name = address.kind === 'sentinel' ? `/${encodeURIComponent(address.name)}` : ''
  const { username, password } = address.kind === 'sentinel' ? address.ofSentinels : {}
  return {
    REDIS_HOST: `redis+${address.kind}://${hosts}${name}`,
    REDIS_TLS: String(address.isEncrypted),
    ...(username && { REDIS_SENTINEL_USERNAME: username }),
    ...(password && { REDIS_SENTINEL_PASSWORD: password }),
  }
}

/** The environment's queue: the platform's own Redis, with the queue's name and key prefix. */
function environmentQueueUrl(redisUrl: string, environmentId: string, queuePrefix: string): string {
  const { url } = withoutParameters(redisUrl)
  const withDatabase = url.replace(
    /^([^?]*?)\/?(\?|$)/,
    (_, base: string, rest: string) => `${/\/\d+$/.test(base) ? base : `${base}/0`}${rest}`,
  )
  return withParameters(withDatabase, `queue=environment-${environmentId}&prefix=${queuePrefix}`)
}
