import { LRUCache } from 'lru-cache'
import type { Feature } from '../catalog/model/feature.js'
import type { Entitlement } from '../entitlement/rules/state.js'
import type { EpochMs } from '../kernel/clock.js'
import * as decimal from '../kernel/decimal.js'
import type { Usage } from '../metering/model/usage.js'
import type { ResetPeriod } from '../metering/model/usage-period.js'

/**
 * How a state is kept small. Customers of the same plans hold the same things; only usage is their own.
 *
 * terms   what an entitlement says but for usage: feature, limit, values. One object for all customers that have the same
 * list    the terms of a state in their order. One object for all customers with the same ones
 * usages  the numbers of one customer, in one array: doubles without a box, five for each metered entitlement
 *
 * A customer with twenty entitlements takes about 1 KB so, instead of 9 KB as objects.
 */

export interface Terms extends Omit<Entitlement, 'reset' | 'usage' | 'usageRestartsAt' | 'validUntil'> {
  /** The API tells the period and its anchor but not the time zone, so a past period is not moved on here. */
  resetPeriod: ResetPeriod | null
  /** Of the wire message, built at the first use: what it says but for usage, or all of it when there is no usage. */
  encoded: { before: Uint8Array; after: Uint8Array } | undefined
}

export interface TermsList {
  readonly terms: readonly Terms[]
  /** Feature to position in `terms`. */
  readonly positions: ReadonlyMap<string, number>
  /** Where the numbers of each begin in `usages`; -1 for those without a meter. */
  readonly usageAt: readonly number[]
  /** Estimated memory of it and its terms. */
  readonly bytes: number
}

/** What is held: the shared part and the customer's own. */
export interface Holding {
  /** What is held, but for what is the customer's own. */
  terms: TermsList
  /** The customer's own numbers, `numbersPerUsage` for each metered entitlement in the order of the terms. */
  usages: readonly number[]
}

export const numbersPerUsage = 5

/** An entitlement of a state as the decision takes it. */
export interface HeldEntitlement extends Entitlement {
  terms: Terms
  usagePeriodAnchor: EpochMs | null
}

/** The customer's own part of a metered entitlement. */
export interface HeldUsage extends Usage {
  anchor: EpochMs | null
}

const isMetered = ({ feature }: Pick<Terms, 'feature'>) => feature.featureType === 'NUMBER' && feature.meterType !== 'None'

export const noTerms: TermsList = { terms: [], positions: new Map(), usageAt: [], bytes: 0 }
export const noUsages: readonly number[] = []

/** An environment has few plans and many customers. */
const mostSharedTerms = 20_000
const mostSharedLists = 10_000

/** Estimated bytes of terms and of their place in a list. */
const termsBytes = 420

/** Makes lists of terms so that equal ones are one object. */
export class TermsPool {
  readonly #terms = new LRUCache<string, { id: number; terms: Terms }>({ max: mostSharedTerms })
  readonly #lists = new LRUCache<string, TermsList>({ max: mostSharedLists })
  #lastId = 0

  list(wanted: readonly Omit<Terms, 'encoded'>[]): TermsList {
    if (wanted.length === 0) return noTerms
    const shared = wanted.map((terms) => this.#share(terms))
    const key = shared.map(({ id }) => id).join()
    const known = this.#lists.get(key)
    if (known) return known
    const terms = shared.map((one) => one.terms)
    let next = 0
    const usageAt = terms.map((one) => (isMetered(one) ? next++ * numbersPerUsage : -1))
    const positions = new Map(terms.map(({ feature }, position) => [feature.refId, position]))
    const list = { terms, positions, usageAt, bytes: terms.reduce((bytes, one) => bytes + bytesOf(one), 0) }
    this.#lists.set(key, list)
    return list
  }

  #share(terms: Omit<Terms, 'encoded'>): { id: number; terms: Terms } {
    const key = JSON.stringify(terms)
    const known = this.#terms.get(key)
    if (known) return known
    const shared = { id: ++this.#lastId, terms: { ...terms, encoded: undefined } }
    this.#terms.set(key, shared)
    return shared
  }
}

/** Values of an ENUM are there once as strings and once in the message. */
const bytesOf = ({ feature, enumValues }: Terms) =>
  termsBytes + 2 * feature.refId.length + enumValues.reduce((bytes, value) => bytes + 40 + 3 * value.length, 0)

/** The numbers of usages, in the order of the metered terms. */
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
export function heldAt({ terms: list, usages }: Holding, position: number): HeldEntitlement {
  const terms = list.terms[position]!
  const at = list.usageAt[position]!
  return {
    feature: terms.feature,
    usageLimit: terms.usageLimit,
    hasUnlimitedUsage: terms.hasUnlimitedUsage,
    hasSoftLimit: terms.hasSoftLimit,
    enumValues: terms.enumValues,
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
    deniedReason: terms.deniedReason,
    validUntil: null,
    terms,
    usagePeriodAnchor: at === -1 ? null : orNull(usages[at + 4]!),
  }
}

const orNull = (value: number): number | null => (Number.isNaN(value) ? null : value)

/** Version of the usage of a feature; null when it is not held or has no meter. */
export function usageVersion({ terms, usages }: Holding, featureId: string): EpochMs | null {
  const at = terms.usageAt[terms.positions.get(featureId) ?? -1] ?? -1
  return at === -1 ? null : usages[at + 3]!
}

/** The earliest end of a usage period that is followed by a reset; infinity when there is none. */
export function earliestPeriodEnd({ terms, usages }: Holding): EpochMs {
  let earliest = Number.POSITIVE_INFINITY
  for (const [position, at] of terms.usageAt.entries()) {
    const end = at === -1 ? Number.NaN : usages[at + 2]!
    // Seats are never reset, whatever period they carry. NaN is not below anything.
    if (end < earliest && terms.terms[position]!.feature.meterType === 'Incremental') earliest = end
  }
  return earliest
}

/** What readers of the API and of the external cache know of a feature: the rest no answer of the sidecar carries. */
export function toEntitledFeature(feature: Pick<Feature, 'refId' | 'featureType' | 'meterType' | 'units' | 'unitsPlural'>): Feature {
  const { refId, featureType, meterType, units, unitsPlural } = feature
  return { id: '', refId, displayName: '', description: null, featureType, meterType, units, unitsPlural, unitTransformation: null }
}
