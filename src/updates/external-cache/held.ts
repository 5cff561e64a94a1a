/** What the external cache holds of a customer or resource, and whether that is the truth. */
import type { EpochMs } from '../../kernel/clock.js'
import type { Redis } from '../../platform/redis.js'
import { type EntityId, entityKey, latestVersion, metadataKey, timestampKey, usageKey } from './keys.js'
import { refuse } from './refuse.js'
import { type CachedFeature, type CachedUsage, toEntry, toMetadata, toUsage, type WritableState } from './value.js'

/** As it is written; null: nothing. */
export interface HeldTexts {
  /** Null, too, of a resource when its customer's own is newer: readers take it for a miss. */
  entry: string | null
  metadata: string | null
  /** By feature: of those that the entry lists. */
  usages: ReadonlyMap<string, string | null>
  /** The greatest version of all of them; 0: none. */
  version: EpochMs
}

export async function readHeld(redis: Redis, prefix: string, id: EntityId): Promise<HeldTexts> {
  const entity = entityKey(prefix, id)
  const customer = entityKey(prefix, { ...id, resourceId: null })
  const [text = null, metadata = null, customerVersion = null, ...ofEntry] = await redis
    .mget(entity, metadataKey(entity), timestampKey(customer), timestampKey(entity), timestampKey(metadataKey(entity)))
    .catch(refuse)
  const entry = Number(ofEntry[0] ?? 0) < Number(customerVersion ?? 0) ? null : text
  const featureIds = Object.keys(parsed(entry) ?? {})
  const keys = featureIds.map((featureId) => usageKey(entity, featureId))
  const texts = keys.length === 0 ? [] : await redis.mget(...keys, ...keys.map(timestampKey)).catch(refuse)
  const versions = [...ofEntry, ...texts.slice(keys.length)].map((text) => Number(text ?? 0))
  return {
    entry,
    metadata,
    usages: new Map(featureIds.map((featureId, n) => [featureId, texts[n] ?? null])),
    version: Math.max(0, ...versions.filter((version) => version <= latestVersion)),
  }
}

/**
 * What a reader would answer otherwise than the truth, one line each. A usage counts by its own key, as for readers; one whose period has ended is 0. Nothing held is
 * a miss, for which readers ask the API, and no difference.
 */
export function differencesOf(held: HeldTexts, truth: WritableState): string[] {
  if (held.entry === null) return []
  const entry = parsed(held.entry)
  if (entry === null) return ['the entry cannot be read']
  const right = toEntry(truth)
  const lines: string[] = []
  for (const featureId of new Set([...Object.keys(entry), ...Object.keys(right)])) {
    const [is, should] = [entry[featureId], right[featureId]]
    if (!is) lines.push(`${featureId} is missing`)
    else if (!should) lines.push(`${featureId} is not held any more`)
    else lines.push(...differing(rightsOf(is), rightsOf(should)).map((line) => `${featureId}.${line}`))
  }
  for (const { feature, usage } of truth.entitlements) {
    if (!usage || !(feature.refId in entry)) continue
    const text = held.usages.get(feature.refId) ?? null
    const is = parsed<CachedUsage>(text)
    // Without it the whole entry is a miss.
    if (text === null) continue
    if (is === null) lines.push(`the usage of ${feature.refId} cannot be read`)
    else {
      const should = toUsage(usage)
      const number = numberOf(is, should)
      if (number !== should.currentUsage) lines.push(`${feature.refId}.currentUsage is ${number}, should be ${should.currentUsage}`)
    }
  }
  const metadata = toMetadata(truth)
  lines.push(
    ...differing(
      { accessDeniedReason: parsed<typeof metadata>(held.metadata)?.accessDeniedReason ?? null },
      { accessDeniedReason: metadata?.accessDeniedReason ?? null },
    ),
  )
  return lines
}

const rightsOf = ({ calculatedEntitlement, featureUsage }: CachedFeature): Record<string, unknown> => ({
  ...calculatedEntitlement,
  resetPeriod: featureUsage?.resetPeriod,
  resetPeriodConfiguration: featureUsage?.resetPeriodConfiguration,
})

/** As readers take it: none of a period that has ended, which it has when the truth is of a later one. */
const numberOf = ({ currentUsage, usagePeriodEnd }: CachedUsage, { usagePeriodStart }: CachedUsage): number =>
  usagePeriodEnd !== null && usagePeriodStart !== null && usagePeriodStart >= usagePeriodEnd ? 0 : currentUsage

function differing(is: Record<string, unknown>, should: Record<string, unknown>): string[] {
  return [...new Set([...Object.keys(is), ...Object.keys(should)])].flatMap((name) => {
    const [one, other] = [JSON.stringify(is[name] ?? null), JSON.stringify(should[name] ?? null)]
    return one === other ? [] : [`${name} is ${one}, should be ${other}`]
  })
}

function parsed<T = Record<string, CachedFeature>>(text: string | null): T | null {
  try {
    const value: unknown = JSON.parse(text ?? 'null')
    return typeof value === 'object' && !Array.isArray(value) ? (value as T | null) : null
  } catch {
    return null
  }
}
