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

/** The epoch of the messages that are taken: what is of an older one is none any more. */
export const epochKey = (prefix: string): string => `${prefix}:epoch`

/** Until when all that was committed is in the cache, as epoch milliseconds by the platform's clock. Readers judge the age of every entry by it. */
export const heartbeatKey = (prefix: string): string => `${prefix}:heartbeat`

/** What the consumers have taken of the queue; keys below it go with it. */
export const feedKey = (prefix: string): string => `${prefix}:feed`

/** There as long as the cache is that which was filled. */
export const markerKey = (prefix: string): string => `${prefix}:filled`

const timestampSuffix = '#timestamp'

/** Beside each of the others: the version that its value reflects. */
export const timestampKey = (key: string): string => key + timestampSuffix

/** The greatest that a version, which is an instant, can be: that of JavaScript. */
export const latestVersion = 8_640_000_000_000_000

/** The key that a timestamp belongs to; any other key unchanged. */
export const withoutTimestamp = (key: string): string => (key.endsWith(timestampSuffix) ? key.slice(0, -timestampSuffix.length) : key)

/** A Redis pattern for what lies below an entity: usages, and the resources of a customer with theirs. Timestamps too; metadata not. */
export const keysBelow = (entity: string): string => `${escaped(entity)}:[rf]_*`

/** As a Redis pattern that matches the text itself. */
export const escaped = (text: string): string => text.replace(/[\\*?[\]]/g, '\\$&')

const mistakable = [':r_', ':f_', ':c_', ':credit_', ':metadata', timestampSuffix, '%25', '%3A', '%23']

/**
 * Identifiers are written as they are, except those that could be mistaken for a part of a key. The escapes themselves are among these, so no
 * two identifiers are ever written alike.
 */
function encodeId(id: string): string {
  if (!mistakable.some((part) => id.includes(part))) return id
  return id.replaceAll('%', '%25').replaceAll(':', '%3A').replaceAll('#', '%23')
}

/** Whose entry is kept under the key; null: it is not that of an entry. */
export function entityOf(prefix: string, key: string): EntityId | null {
  if (!key.startsWith(anyEntity(prefix))) return null
  const name = key.slice(anyEntity(prefix).length)
  if (notOfEntries.some((part) => name.includes(part))) return null
  const [customer, resource, ...others] = name.split(':r_')
  if (others.length > 0) return null
  return { customerId: decodeId(customer!), resourceId: resource === undefined ? null : decodeId(resource) }
}

/** Whose usage is kept under the key; null: it is not that of a usage. */
export function holderOf(prefix: string, key: string): EntityId | null {
  const [entity, usage] = key.slice(anyEntity(prefix).length).split(':f_')
  return usage === undefined || usage.endsWith(timestampSuffix) ? null : entityOf(prefix, anyEntity(prefix) + entity!)
}

const notOfEntries = [':f_', ':c_', ':credit_', ':metadata', timestampSuffix]

function decodeId(written: string): string {
  if (!mistakable.some((part) => written.includes(part))) return written
  return written.replaceAll('%23', '#').replaceAll('%3A', ':').replaceAll('%25', '%')
}
