/**
 * What a customer holds, at one version. Every door, cache and message carries this shape.
 *
 * entitlement  the right to use a feature; metered ones carry a usage
 * state        all entitlements of a customer (or of one of its resources), or the reason why there are none
 * version      epoch milliseconds, strictly growing per customer, given in the transaction that changed it
 *
 * Plain data only: it is JSON in Redis and in messages. Decimals are canonical text, times are epoch milliseconds.
 */
import type { Feature } from '../../catalog/model/feature.js'
import type { EpochMs } from '../../kernel/clock.js'
import type { Decimal } from '../../kernel/decimal.js'
import type { Usage } from '../../metering/model/usage.js'
import type { ResetPeriod, ResetRule } from '../../metering/model/usage-period.js'
import type { DenialReason } from './denial.js'

export interface Entitlement {
  feature: Feature
  /** What the plan or add-on calls the feature; absent: its own name. */
  displayNameOverride?: string
  /** Null: no limit was set, which counts as 0 and never as unlimited (see hasUnlimitedUsage). The value of an unmetered NUMBER. */
  usageLimit: Decimal | null
  hasUnlimitedUsage: boolean
  hasSoftLimit: boolean
  /** ENUM: the values held. */
  enumValues: string[]
  /** When usage starts again; null for BOOLEAN, ENUM, unmetered, Fluctuating and never-reset usage. */
  reset: { period: ResetPeriod; rule: ResetRule; anchor: EpochMs; timeZone: string } | null
  /** Null for features without a meter. */
  usage: Usage | null
  /** Usage starts again at this instant, before its period is over (a trial that converts); null: no such instant is known. */
  usageRestartsAt: EpochMs | null
  /** The feature is held but denied: Revoked, BudgetExceeded. */
  deniedReason: DenialReason | null
  /** From this instant on the entitlement may be another one: a reader refetches. */
  validUntil: EpochMs | null
}

/** Why a whole state has no entitlements. */
export type StateDenialReason = 'CustomerNotFound' | 'CustomerIsArchived' | 'CustomerResourceNotFound' | 'NoActiveSubscription'

export interface EntitlementState {
  environmentId: string
  /** The caller's identifiers. */
  customerId: string
  resourceId: string | null
  version: EpochMs
  /** Version of the last change that was more than usage. */
  accessVersion: EpochMs
  deniedReason: StateDenialReason | null
  entitlements: Entitlement[]
  /** From this instant on time alone may have changed what is held, also where that is nothing now. Null: no such instant is known; absent: not told. */
  validUntil?: EpochMs | null
  /** What is held from the next instant on at which time alone changes it. Null: nothing of the kind is known; absent: not told. */
  next?: NextState | null
  /** What it was made from besides. Absent: not told, and then the state is not to be kept. */
  basis?: StateBasis
}

/** What the states of an environment's customers are made from, and the time that they follow. */
export interface StateBasis {
  /** Grows with each change of the catalog. */
  catalogVersion: number
  /** test: time is moved by hand, so that no state says until when it is true. */
  clock: 'real' | 'test'
}

/** Whether a reader that asks for versions, and looks at the clock, may answer from the state later. */
export const mayBeKept = ({ basis }: Pick<EntitlementState, 'basis'>): boolean => basis?.clock === 'real'

/** What is held from an instant on unless something happens before: for a reader that cannot ask then. */
export interface NextState {
  validFrom: EpochMs
  /** Exclusive: what comes after is not told. Null: no end is known. */
  validUntil: EpochMs | null
  deniedReason: StateDenialReason | null
  /** A usage whose `updatedAt` is `validFrom` begins then; others go on from the usage of the same feature and period that is held by then. */
  entitlements: Entitlement[]
  /** Features (refId) that are held then too, with a usage that goes on in a series which the state does not carry: nobody who holds it hears of that. */
  unknownFeatureIds: string[]
}
