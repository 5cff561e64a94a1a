import { Temporal } from 'temporal-polyfill'
import type { DefaultTrial } from '../../catalog/model/package.js'
import type { EpochMs } from '../../kernel/clock.js'

/** When a trial that starts at `startDate` ends: the same local time, so many days or months later. Exclusive. */
export function addTrial(startDate: EpochMs, { duration, units }: DefaultTrial, timeZone: string): EpochMs {
  const start = Temporal.Instant.fromEpochMilliseconds(startDate).toZonedDateTimeISO(timeZone)
  return start.add(units === 'DAY' ? { days: duration } : { months: duration }).epochMilliseconds
}

/** The plan that a customer's trial of a product was of. Ids are ours. */
export interface TrialedPlan {
  planId: string
  planRefId: string
  productId: string
  productRefId: string
}

export interface ProductEligibility {
  productId: string
  productRefId: string
  eligible: boolean
}
