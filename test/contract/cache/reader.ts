import type { Redis } from 'ioredis'
import type { CachedFeature } from '../../../src/updates/external-cache/value.js'

/**
 * Reads the external cache as deployed readers do, from the description of the layout and not with our own functions. For identifiers that are
 * written as they are.
 */

/** What a reader knows of a customer or resource; null: a miss, so it asks the API. */
export type Reading = {
  accessDeniedReason: string | null
  features: Record<string, CachedFeature['calculatedEntitlement'] & { usage?: CachedFeature['featureUsage'] }>
} | null

export async function read(redis: Redis, prefix: string, customerId: string, resourceId: string | null = null): Promise<Reading> {
  const customer = `${prefix}:c_${customerId}`
  const entity = resourceId === null ? customer : `${customer}:r_${resourceId}`
  const [body, version, customerVersion, metadata] = await redis.mget(
    entity,
    `${entity}#timestamp`,
    `${customer}#timestamp`,
    `${entity}:metadata`,
  )
  if (body == null || version == null || Number(version) < Number(customerVersion ?? 0)) return null
  const features: NonNullable<Reading>['features'] = {}
  for (const [refId, { calculatedEntitlement, featureUsage }] of Object.entries(JSON.parse(body) as Record<string, CachedFeature>)) {
    if (calculatedEntitlement.feature.meterType === 'None') {
      features[refId] = calculatedEntitlement
      continue
    }
    const [usage, usageVersion] = await redis.mget(`${entity}:f_${refId}`, `${entity}:f_${refId}#timestamp`)
    if (usage == null || usageVersion == null) return null
    features[refId] = { ...calculatedEntitlement, usage: { ...featureUsage, ...JSON.parse(usage) } }
  }
  return { accessDeniedReason: JSON.parse(metadata ?? 'null')?.accessDeniedReason ?? null, features }
}

/** Everything under a prefix. */
export async function contentOf(redis: Redis, prefix: string): Promise<Record<string, unknown>> {
  const keys = (await redis.keys(`${prefix}:*`)).sort()
  if (keys.length === 0) return {}
  const values = await redis.mget(keys)
  return Object.fromEntries(keys.map((key, i) => [key.slice(prefix.length + 1), JSON.parse(values[i]!)]))
}
