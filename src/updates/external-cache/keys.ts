/**
 * The keys of the external cache. Deployed readers build the same ones, so nothing here may change.
 *
 * entity   a customer, or a resource of a customer
 * prefix   names the environment; written as it is, so on a Redis Cluster it is a hash tag itself (`{production}`) and the environment one slot
 */

/** A customer (null), or one of its resources, by the caller's identifiers. */
export interface EntityId {
  customerId: string
  resourceId: string | null
}

/** `production:c_acme`, `production:c_acme:r_site-1` */
export function entityKey(prefix: string, { customerId, resourceId }: EntityId): string {
  const customer = anyEntity(prefix) + encodeId(customerId)
  return resourceId === null ? customer : `${customer}:r_${encodeId(resourceId)}`
}

/** What all of them begin with. */
export const anyEntity = (prefix: string): string => `${prefix}:c_`

export const usageKey = (entity: string, featureId: string): string => `${entity}:f_${encodeId(featureId)}`

/** Why the entity has no entitlements. */
export const metadataKey = (entity: string): string => `${entity}:metadata`

const timestampSuffix = '#timestamp'

/** Beside each of the others: the version that its value reflects. */
export const timestampKey = (key: string): string => key + timestampSuffix

/** The key that a timestamp belongs to; any other key unchanged. */
export const withoutTimestamp = (key: string): string => (key.endsWith(timestampSuffix) ? key.slice(0, -timestampSuffix.length) : key)

/** A Redis pattern for what lies below an entity: usages, and the resources of a customer with theirs. Timestamps too; metadata not. */
export const keysBelow = (entity: string): string => `${entity.replace(/[\\*?[\]]/g, '\\$&')}:[rf]_*`

const mistakable = [':r_', ':f_', ':c_', ':credit_', ':metadata', timestampSuffix, '%25', '%3A', '%23']

/**
 * Identifiers are written as they are, except those that could be mistaken for a part of a key. The escapes themselves are among these, so no
 * two identifiers are ever written alike.
 */
function encodeId(id: string): string {
  if (!mistakable.some((part) => id.includes(part))) return id
  return id.replaceAll('%', '%25').replaceAll(':', '%3A').replaceAll('#', '%23')
}
