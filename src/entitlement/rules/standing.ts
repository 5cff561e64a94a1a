/** How far customers have used what they hold. Pure. */
import type { EpochMs } from '../../kernel/clock.js'
import type { Decimal } from '../../kernel/decimal.js'
import type { Entitlement } from './state.js'

/** How far something has been used, by what its holder holds now. */
export interface Standing {
  /** The caller's identifier and ours: of a feature, or of the subscription whose budget it is. */
  subject: { kind: 'FEATURE' | 'BUDGET'; id: string; refId: string }
  /** Not below 0; in the units that are answered, or what is spent. */
  usage: Decimal
  /** Null: unlimited. */
  limit: Decimal | null
  /** Null: it has no beginning. */
  periodStart: EpochMs | null
  /** Exclusive; null: it is never reset. */
  periodEnd: EpochMs | null
}

/** A customer, or a resource that has subscriptions of its own. */
export interface HolderStandings {
  /** Null: the customer itself. */
  resource: { id: string; refId: string } | null
  /** Plans (refId) that give it access. */
  plans: string[]
  /** What is measured for it alone: a resource has no part in those of its customer. */
  standings: Standing[]
  /** What it may use, also by its customer's subscriptions; not what it is denied. */
  entitlements: Entitlement[]
}

export interface CustomerStandings {
  /** Ours. */
  customerId: string
  /** The caller's. */
  customerRefId: string
  isArchived: boolean
  /** The time in the environment. */
  now: EpochMs
  /** The customer first. Of an archived one, that it holds nothing. */
  holders: HolderStandings[]
}
