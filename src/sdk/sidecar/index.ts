/**
 * The Sidecar SDK: a typed client of a sidecar. Given `remoteSidecarHost` it connects to the sidecar there; otherwise it runs one of its own as a child
 * process, next to the application and ending with it.
 *
 *   const sidecar = await startSidecar({ apiConfig: { apiKey: 'server-…', apiUrl: 'https://tollgate.internal' } })
 *   const { hasAccess } = await sidecar.getMeteredEntitlement({ customerId: 'acme', featureId: 'api-calls', requestedUsage: 1 })
 *   await sidecar.close()
 */
import { credentials } from '@grpc/grpc-js'
import type { Fallback, RedisOptions } from '../types.js'
import { SidecarChild } from './child.js'
import { type ClientOptions, SidecarClient } from './client.js'
import { SidecarError } from './error.js'

export type * from '../types.js'
export { SidecarError }

export interface ApiConfig {
  /** The environment's Server API key. */
  apiKey: string
  apiUrl?: string
  edgeEnabled?: boolean
  edgeApiUrl?: string
}

/** How a sidecar of one's own runs; without effect on a remote one. */
export interface LocalSidecarConfig {
  wsEnabled?: boolean
  wsUrl?: string
  redis?: RedisOptions
  cacheMaxSizeBytes?: number
  logLevel?: 'error' | 'warn' | 'info' | 'debug'
}

export interface SidecarOptions {
  apiConfig: ApiConfig
  /** Where a sidecar runs already; absent: one is started as a child process. */
  remoteSidecarHost?: string
  /** Default 8443. */
  remoteSidecarPort?: number
  /** Encrypts the connection to a remote sidecar: true, or with an authority and a certificate of one's own (PEM). */
  tls?: boolean | { ca?: Buffer; key?: Buffer; cert?: Buffer }
  localSidecarConfig?: LocalSidecarConfig
  /** Feature identifier to the answer when nothing is known; also when the sidecar itself is gone. */
  entitlementsFallback?: Readonly<Record<string, Fallback>>
  /** Longest wait for an answer. Default 2,000. */
  timeoutMs?: number
  /** Longest wait for the sidecar to be ready at first. Default 10,000. */
  startTimeoutMs?: number
}

/** A client of a sidecar, and the sidecar itself when it is one's own. */
export class Sidecar extends SidecarClient {
  readonly #child: SidecarChild | null

  /** Use `startSidecar`. */
  constructor(options: ClientOptions, child: SidecarChild | null) {
    super(options)
    this.#child = child
  }

  /** The child process that runs now; undefined for a remote one. */
  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** Closes the connection, and stops the sidecar if it is one's own. */
  override async close(): Promise<void> {
    await super.close()
    await this.#child?.stop()
  }
}

const defaultPort = 8443
const defaultTimeoutMs = 2_000
const defaultStartMs = 10_000

/**
 * Resolves when the sidecar is ready. Fails with a SidecarError when a sidecar of one's own refuses its configuration or is not ready in time. A remote
 * one may be away: checks answer their fallbacks until it is there.
 */
export async function startSidecar(options: SidecarOptions): Promise<Sidecar> {
  const { remoteSidecarHost: host, remoteSidecarPort: port = defaultPort, entitlementsFallback: fallbacks = {} } = options
  const timeoutMs = options.timeoutMs ?? defaultTimeoutMs
  const child = host === undefined ? new SidecarChild(childVariables(options)) : null
  const address = child?.address ?? `${host?.includes(':') ? `[${host}]` : host}:${port}`
  const tls = host === undefined ? false : options.tls
  const sidecar = new Sidecar({ address, timeoutMs, fallbacks, credentials: remoteCredentials(tls) }, child)
  if (child) {
    try {
      await Promise.race([sidecar.ready(options.startTimeoutMs ?? defaultStartMs), child.failure()])
    } catch (error) {
      await sidecar.close()
      throw error
    }
  }
  return sidecar
}

function remoteCredentials(tls: SidecarOptions['tls'] = false) {
  if (tls === false) return credentials.createInsecure()
  const { ca = null, key = null, cert = null } = tls === true ? {} : tls
  return credentials.createSsl(ca, key, cert)
}

/** The variables of a sidecar process. */
function childVariables({
  apiConfig,
  localSidecarConfig: local = {},
  entitlementsFallback,
  timeoutMs,
}: SidecarOptions): Record<string, string> {
  const { redis } = local
  const variables: Record<string, string | number | boolean | undefined> = {
    SERVER_API_KEY: apiConfig.apiKey,
    API_URL: apiConfig.apiUrl,
    EDGE_ENABLED: apiConfig.edgeEnabled,
    EDGE_API_URL: apiConfig.edgeApiUrl,
    WS_ENABLED: local.wsEnabled,
    WS_URL: local.wsUrl,
    REDIS_ENVIRONMENT_PREFIX: redis?.environmentPrefix,
    REDIS_HOST: redis?.host,
    REDIS_PORT: redis?.port,
    REDIS_DB: redis?.db,
    REDIS_USERNAME: redis?.username,
    REDIS_SENTINEL_USERNAME: redis?.sentinelUsername,
    REDIS_SENTINEL_PASSWORD: redis?.sentinelPassword,
    REDIS_PASSWORD: redis?.password,
    REDIS_TLS: redis?.tls,
    REDIS_KEYS_TTL_IN_SECS: redis?.ttl,
    CACHE_MAX_SIZE_BYTES: local.cacheMaxSizeBytes,
    LOG_LEVEL: local.logLevel,
    REQUEST_TIMEOUT_MS: timeoutMs,
    ENTITLEMENTS_FALLBACK: entitlementsFallback && JSON.stringify(globalFallbacks(entitlementsFallback)),
  }
  return Object.fromEntries(Object.entries(variables).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])))
}

/** The variable knows no values of an ENUM; the client answers those itself when the sidecar can't. */
const globalFallbacks = (fallbacks: Readonly<Record<string, Fallback>>) =>
  Object.fromEntries(
    Object.entries(fallbacks).map(([featureId, { hasAccess, usageLimit, isUnlimited }]) => [
      featureId,
      { hasAccess, usageLimit, isUnlimited },
    ]),
  )
