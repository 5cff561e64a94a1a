import { LRUCache } from 'lru-cache'
import type { EpochMs } from '../../kernel/clock.js'
import * as decimal from '../../kernel/decimal.js'
import type { Redis } from '../../platform/redis.js'
import { entityKey, heartbeatKey, latestVersion, metadataKey, timestampKey, usageKey } from '../../updates/external-cache/keys.js'
import { stateReasons, toDenialReason } from '../../updates/external-cache/state-json.js'
import type { CachedFeature } from '../../updates/external-cache/value.js'
import type { CachedState, Owner } from '../states/entry.js'
import { type HeldUsage, packUsages, type RightsPool, type ToldRight, toEntitledFeature } from '../states/rights.js'
import { asEntry, asUsage } from './shape.js'

export interface Reading {
  /** Null: nothing that can be used is there. */
  state: CachedState | null
  /** Until when all that was committed is there; null: nobody says. */
  knownUntil: EpochMs | null
}

/** What was read of an entity, and what came of it: as long as the same texts are there, nothing is parsed again. */
interface Remembered {
  body: string
  version: string
  metadata: string | null
  features: Features
  usageKeys: string[]
  texts: (string | null)[]
  state: CachedState | null
}

/** Those of some thousand customers. */
const mostRememberedBytes = 32 * 1024 * 1024

/**
 * Reads the external cache that the persistent-cache-service keeps current, in one exchange: of an entity that was read before, with the usages that are asked
 * for of what it held then. The usages of one that is new, or that holds something else now, are a second exchange.
 * Layout: `src/updates/external-cache/keys.ts` and `value.ts`.
 */
export class ExternalCacheReader {
  readonly #redis: Redis
  readonly #prefix: string
  readonly #pool: RightsPool
  readonly #remembered = new LRUCache<string, Remembered>({
    maxSize: mostRememberedBytes,
    // An entry is there as text and, about three times as large, as what was read from it.
    sizeCalculation: ({ body, texts }, entity) => texts.reduce((sum, text) => sum + (text?.length ?? 0), 4 * body.length + entity.length),
  })

  constructor({ redis, prefix, pool }: { redis: Redis; prefix: string; pool: RightsPool }) {
    this.#redis = redis
    this.#prefix = prefix
    this.#pool = pool
  }

  /** `featureId`: the only one whose usage has to be that of now; absent: all have. Fails when Redis does. */
  async read({ customerId, resourceId }: Owner, featureId?: string): Promise<Reading> {
    const entity = entityKey(this.#prefix, { customerId, resourceId })
    const customer = entityKey(this.#prefix, { customerId, resourceId: null })
    const known = this.#remembered.get(entity)
    const [from, to] = known === undefined ? [0, 0] : usagesOf(known, featureId)
    const [body, version, customerVersion, metadata = null, heartbeat, ...fresh] = await this.#redis.mget([
      entity,
      timestampKey(entity),
      timestampKey(customer),
      metadataKey(entity),
      heartbeatKey(this.#prefix),
      ...(known?.usageKeys.slice(from, to) ?? []),
    ])
    const knownUntil = versionOf(heartbeat)
    const nothing = { state: null, knownUntil }
    if (!body || !version) return nothing
    // What the customer holds itself counts for its resources too, so an entry from before it changed is not right any more.
    if (Number(version) < (versionOf(customerVersion) ?? 0)) return nothing
    const isSameEntry = known?.body === body && known.version === version && known.metadata === metadata
    if (isSameEntry && fresh.every((text, index) => text === known.texts[from + index])) return { state: known.state, knownUntil }
    const features = known?.body === body ? known.features : readable(() => toFeatures(body))
    if (features === null) return nothing
    const usageKeys = known?.body === body ? known.usageKeys : this.#usageKeys(entity, features)
    const texts = isSameEntry
      ? known.texts.toSpliced(from, to - from, ...fresh)
      : usageKeys.length === 0
        ? []
        : await this.#redis.mget(usageKeys)
    const state = readable(() => this.#toState({ customerId, resourceId }, features, { texts, version, metadata }))
    this.#remembered.set(entity, { body, version, metadata, features, usageKeys, texts, state })
    return { state, knownUntil }
  }

  #toState(
    { customerId, resourceId }: Owner,
    { features, metered }: Features,
    { texts, version, metadata }: { texts: (string | null)[]; version: string; metadata: string | null },
  ): CachedState | null {
    const usages = toUsages(metered, texts)
    if (usages === null) return null
    const accessVersion = toVersion(version)
    const validUntil = features.map(({ calculatedEntitlement }) => calculatedEntitlement.validUntil ?? Number.POSITIVE_INFINITY)
    const earliest = Math.min(...validUntil)
    return {
      customerId,
      resourceId,
      version: Math.max(accessVersion, ...usages.map(({ updatedAt }) => updatedAt)),
      accessVersion,
      deniedReason: toStateReason(metadata),
      rights: this.#pool.list(features.map(toRight)),
      usages: packUsages(usages),
      validUntil: Number.isFinite(earliest) ? earliest : null,
    }
  }

  /** Value and version of each metered feature's usage, one after the other. */
  #usageKeys(entity: string, { metered }: Features): string[] {
    return metered.flatMap(({ calculatedEntitlement: { feature } }) => {
      const key = usageKey(entity, feature.id)
      return [key, timestampKey(key)]
    })
  }
}

/**
 * Where the usages that are asked for are among all: of one feature none when it is not held, or has none. What is a miss may be one for want of any of them, so
 * that all are asked for.
 */
function usagesOf({ features, usageKeys, state }: Remembered, featureId: string | undefined): [from: number, to: number] {
  if (featureId === undefined || state === null) return [0, usageKeys.length]
  const position = features.metered.findIndex(({ calculatedEntitlement: { feature } }) => feature.id === featureId)
  return position === -1 ? [0, 0] : [position * 2, position * 2 + 2]
}

/** Of an entry. */
interface Features {
  features: CachedFeature[]
  metered: CachedFeature[]
}

/** Null: what is written there is none of ours. It is a miss then, of this key and no other. */
function readable<T>(read: () => T): T | null {
  try {
    return read()
  } catch {
    return null
  }
}

function toFeatures(body: string): Features {
  const features = Object.values(asEntry(JSON.parse(body)))
  const metered = features.filter(
    ({ calculatedEntitlement: { feature } }) => feature.featureType === 'NUMBER' && feature.meterType !== 'None',
  )
  return { features, metered }
}

/** Null when one is missing. */
function toUsages(metered: readonly CachedFeature[], texts: readonly (string | null)[]): HeldUsage[] | null {
  const usages: HeldUsage[] = []
  for (const [index, { featureUsage }] of metered.entries()) {
    const [body, version] = [texts[index * 2], texts[index * 2 + 1]]
    if (!body || !version) return null
    const { currentUsage, usagePeriodStart, usagePeriodEnd } = asUsage(JSON.parse(body))
    usages.push({
      currentUsage: decimal.fromNumber(currentUsage),
      periodStart: usagePeriodStart,
      periodEnd: usagePeriodEnd,
      updatedAt: toVersion(version),
      anchor: featureUsage.usagePeriodAnchor,
    })
  }
  return usages
}

function toVersion(text: string): number {
  const version = versionOf(text)
  if (version === null) throw new Error('a version that is none')
  return version
}

/** Null: it is none, as for the writer. */
function versionOf(text: string | null | undefined): number | null {
  const version = Number(text ?? Number.NaN)
  return version >= 0 && version <= latestVersion ? version : null
}

function toRight({ calculatedEntitlement, featureUsage }: CachedFeature): ToldRight {
  const { feature, usageLimit, hasUnlimitedUsage, hasSoftLimit, enumValues, accessDeniedReason } = calculatedEntitlement
  const { id, featureType, meterType, units, unitsPlural } = feature
  return {
    feature: toEntitledFeature({ refId: id, featureType, meterType, units, unitsPlural }),
    usageLimit: usageLimit === null ? null : decimal.fromNumber(usageLimit),
    hasUnlimitedUsage,
    hasSoftLimit,
    enumValues: enumValues ?? [],
    deniedReason: accessDeniedReason === undefined ? null : toDenialReason(accessDeniedReason),
    resetPeriod: featureUsage.resetPeriod,
  }
}

function toStateReason(metadata: string | null): CachedState['deniedReason'] {
  const { accessDeniedReason = null } = (JSON.parse(metadata ?? 'null') as { accessDeniedReason?: string } | null) ?? {}
  if (accessDeniedReason === null) return null
  return stateReasons.find((known) => known === accessDeniedReason) ?? 'NoActiveSubscription'
}
