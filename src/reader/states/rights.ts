import { LRUCache } from 'lru-cache'
import type { Feature } from '../../catalog/model/feature.js'
import type { Entitlement } from '../../entitlement/rules/state.js'
import type { EpochMs } from '../../kernel/clock.js'
import * as decimal from '../../kernel/decimal.js'
import type { Usage } from '../../metering/model/usage.js'
import type { ResetPeriod } from '../../metering/model/usage-period.js'

/**
 * How a state is kept small. Customers of the same plans hold the same things; only usage is their own.
 *
 * right   what an entitlement says but for usage: feature, limit, values. One object for all customers that have the same
 * rights  those of a state in their order. One object for all customers with the same ones
 * usages  the numbers of one customer, in one array: doubles without a box, five for each metered entitlement
 *
 * A customer with twenty entitlements takes about 1 KB so, instead of 9 KB as objects.
 */

export interface Right extends Omit<Entitlement, 'reset' | 'usage' | 'usageRestartsAt' | 'validUntil'> {
  /** The API tells the period and its anchor but not the time zone, so a past period is not moved on here. */
  resetPeriod: ResetPeriod | null
  /** Of the wire message, built at the first use: what it says but for usage, or all of it when there is no usage. */
  encoded: { before: Uint8Array; after: Uint8Array } | undefined
  /** What the door of this process answers of it but for usage, built at the first use. */
  shown: object | undefined
}

/** A right as it is told. */
export type ToldRight = Omit<Right, 'encoded' | 'shown'>

export interface Rights {
  readonly list: readonly Right[]
  /** Feature to position in `list`. */
  readonly positions: ReadonlyMap<string, number>
  /** Where the numbers of each begin in `usages`; -1 for those without a meter. */
  readonly usageAt: readonly number[]
  /** Estimated memory, that of each right included. */
  readonly bytes: number
}

/** What is held: the shared part and the customer's own. */
export interface Holding {
  /** What is held, but for what is the customer's own. */
  rights: Rights
  /** The customer's own numbers, `numbersPerUsage` for each metered entitlement in the order of the rights. */
  usages: readonly number[]
}

export const numbersPerUsage = 5

/** An entitlement of a state as the decision takes it. */
export interface HeldEntitlement extends Entitlement {
  right: Right
  usagePeriodAnchor: EpochMs | null
}

/** The customer's own part of a metered entitlement. */
export interface HeldUsage extends Usage {
  anchor: EpochMs | null
}

const isMetered = ({ feature }: Pick<Right, 'feature'>) => feature.featureType === 'NUMBER' && feature.meterType !== 'None'

export const noRights: Rights = { list: [], positions: new Map(), usageAt: [], bytes: 0 }
const noUsages: readonly number[] = []

/** An environment has few plans and many customers: of usual ones that is room for some 30,000 rights, and for 10,000 lists of twenty. */
const mostSharedRightsBytes = 32 * 1_024 * 1_024
const mostSharedListsBytes = 16 * 1_024 * 1_024

/** Estimated bytes of a right and of its place in a list. */
const rightBytes = 420
/** Of a list without its rights, and of each place in it. */
const [listBytes, bytesInList] = [400, 64]

/** Makes rights so that equal ones are one object. */
export class RightsPool {
  readonly #rights = new LRUCache<string, { id: number; right: Right }>({
    maxSize: mostSharedRightsBytes,
    sizeCalculation: ({ right }, key) => bytesOf(right) + 2 * key.length,
  })
  readonly #lists = new LRUCache<string, Rights>({
    maxSize: mostSharedListsBytes,
    sizeCalculation: ({ list }, key) => listBytes + list.length * bytesInList + key.length,
  })
  #lastId = 0

  list(wanted: readonly ToldRight[]): Rights {
    if (wanted.length === 0) return noRights
    const shared = wanted.map((right) => this.#share(right))
    const key = shared.map(({ id }) => id).join()
    const known = this.#lists.get(key)
    if (known) return known
    const list = shared.map(({ right }) => right)
    let next = 0
    const usageAt = list.map((right) => (isMetered(right) ? next++ * numbersPerUsage : -1))
    const positions = new Map(list.map(({ feature }, position) => [feature.refId, position]))
    const rights = { list, positions, usageAt, bytes: list.reduce((bytes, right) => bytes + bytesOf(right), 0) }
    this.#lists.set(key, rights)
    return rights
  }

  #share(right: ToldRight): { id: number; right: Right } {
    const key = JSON.stringify(right)
    const known = this.#rights.get(key)
    if (known) return known
    const shared = { id: ++this.#lastId, right: { ...right, encoded: undefined, shown: undefined } }
    this.#rights.set(key, shared)
    return shared
  }
}

/** Values of an ENUM are there once as strings and once in the message. */
const bytesOf = ({ feature, enumValues }: Right) =>
  rightBytes + 2 * feature.refId.length + enumValues.reduce((bytes, value) => bytes + 40 + 3 * value.length, 0)

/** The numbers of usages, in the order of the metered rights. */
export function packUsages(usages: readonly HeldUsage[]): readonly number[] {
  if (usages.length === 0) return noUsages
  // Of just the size that is needed, and so of unboxed doubles.
  const numbers = new Array<number>(usages.length * numbersPerUsage)
  for (const [index, { currentUsage, periodStart, periodEnd, updatedAt, anchor }] of usages.entries()) {
    const at = index * numbersPerUsage
    numbers[at] = decimal.toNumber(currentUsage)
    numbers[at + 1] = periodStart ?? Number.NaN
    numbers[at + 2] = periodEnd ?? Number.NaN
    numbers[at + 3] = updatedAt
    numbers[at + 4] = anchor ?? Number.NaN
  }
  return numbers
}

/** The entitlement at a position, put together for one use. */
export function heldAt({ rights, usages }: Holding, position: number): HeldEntitlement {
  const right = rights.list[position]!
  const at = rights.usageAt[position]!
  return {
    feature: right.feature,
    usageLimit: right.usageLimit,
    hasUnlimitedUsage: right.hasUnlimitedUsage,
    hasSoftLimit: right.hasSoftLimit,
    enumValues: right.enumValues,
    reset: null,
    usage:
      at === -1
        ? null
        : {
            // Doubles are what the API's JSON carries: nothing is lost by keeping them.
            currentUsage: decimal.fromNumber(usages[at]!),
            periodStart: orNull(usages[at + 1]!),
            periodEnd: orNull(usages[at + 2]!),
            updatedAt: usages[at + 3]!,
          },
    usageRestartsAt: null,
    deniedReason: right.deniedReason,
    validUntil: null,
    right,
    usagePeriodAnchor: at === -1 ? null : orNull(usages[at + 4]!),
  }
}

const orNull = (value: number): number | null => (Number.isNaN(value) ? null : value)

/** Version of the usage of a feature; null when it is not held or has no meter. */
export function usageVersion({ rights, usages }: Holding, featureId: string): EpochMs | null {
  const at = rights.usageAt[rights.positions.get(featureId) ?? -1] ?? -1
  return at === -1 ? null : usages[at + 3]!
}

/** The earliest end of a usage period that is followed by a reset; infinity when there is none. `featureId`: of this one only. */
export function earliestPeriodEnd({ rights, usages }: Holding, featureId?: string): EpochMs {
  let earliest = Number.POSITIVE_INFINITY
  for (const [position, at] of rights.usageAt.entries()) {
    if (featureId !== undefined && rights.list[position]!.feature.refId !== featureId) continue
    const end = at === -1 ? Number.NaN : usages[at + 2]!
    // Seats are never reset, whatever period they carry. NaN is not below anything.
    if (end < earliest && rights.list[position]!.feature.meterType === 'Incremental') earliest = end
  }
  return earliest
}

/** What readers of the API and of the external cache know of a feature: the rest no answer of the sidecar carries. */
export function toEntitledFeature(feature: Pick<Feature, 'refId' | 'featureType' | 'meterType' | 'units' | 'unitsPlural'>): Feature {
  const { refId, featureType, meterType, units, unitsPlural } = feature
  return { id: '', refId, displayName: '', description: null, featureType, meterType, units, unitsPlural, unitTransformation: null }
}
