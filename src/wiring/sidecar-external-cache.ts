import { setTimeout as sleep } from 'node:timers/promises'
import type { Life } from '../platform/process.js'
import { openRedis } from '../platform/redis.js'
import { ExternalCacheReader } from '../reader/cache/redis.js'
import { ApiSource, type ApiSourceParts } from '../reader/source/api-source.js'
import { ExternalSource } from '../reader/source/external-source.js'
import type { RightsPool } from '../reader/states/rights.js'
import { externalCacheUrl, type SidecarConfig } from '../sidecar/config/config.js'
import { ExternalCacheWriter } from '../updates/external-cache/writer.js'

/** A cache that is there answers the first check already; one that is not must not keep the sidecar from starting. */
const firstConnectionMs = 500

/** Wires a sidecar with an external cache. There is no real-time connection: the persistent-cache-service hears of changes. */
export async function openExternalSource(
  life: Life,
  { config, prefix, pool, parts }: { config: SidecarConfig; prefix: string; pool: RightsPool; parts: ApiSourceParts },
): Promise<ExternalSource> {
  const redis = openRedis(life, externalCacheUrl(config), 'request', 'limited')
  await Promise.race([new Promise<void>((resolve) => redis.once('ready', resolve)), sleep(firstConnectionMs)])
  const writer = new ExternalCacheWriter({ redis, prefix, ttlSeconds: config.REDIS_KEYS_TTL_IN_SECS })
  const reader = new ExternalCacheReader({ redis, prefix, pool })
  const apiSource = new ApiSource({ ...parts, onRead: (owner, json) => source.keep(owner, json) })
  const maxStalenessMs = (config.MAX_STALENESS_SECS ?? Number.POSITIVE_INFINITY) * 1000
  const source: ExternalSource = new ExternalSource({ ...parts, redis, reader, writer, apiSource, maxStalenessMs })
  return source
}
