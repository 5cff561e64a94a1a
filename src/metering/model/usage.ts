import type { EpochMs } from '../../kernel/clock.js'
import type { Decimal } from '../../kernel/decimal.js'

/** What a usage series adds up to in one of its periods. */
export interface Usage {
  /** The true sum; below zero is answered as zero. Belongs to [periodStart, periodEnd). */
  currentUsage: Decimal
  /** Null for usage that is never reset. */
  periodStart: EpochMs | null
  periodEnd: EpochMs | null
  /** Version of the state that this number reflects. */
  updatedAt: EpochMs
}
