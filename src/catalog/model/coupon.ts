import type { EpochMs } from '../../kernel/clock.js'
import type { Decimal } from '../../kernel/decimal.js'
import { Problem } from '../../kernel/problem.js'
import type { Currency } from './currency.js'

/** A discount that customers and subscriptions may have. */
export interface Coupon {
  id: string
  refId: string
  environmentId: string
  name: string
  description: string | null
  /** Above 0, at most 100. Null exactly when `amountsOff` is set. */
  percentOff: Decimal | null
  /** One per currency, in whole units. */
  amountsOff: { amount: Decimal; currency: Currency }[] | null
  /** Null: for ever. */
  durationInMonths: number | null
  status: 'ACTIVE' | 'ARCHIVED'
  /** Null: it is given to any number. */
  maxRedemptions: number | null
  additionalMetaData: Record<string, unknown> | null
  createdAt: EpochMs
  updatedAt: EpochMs
}

export function couponExists(refId: string): Problem {
  return new Problem(
    'ALREADY_EXISTS',
    'DUPLICATED_ENTITY_NOT_ALLOWED',
    `There is a coupon "${refId}" already: choose another identifier.`,
    {
      details: { refId },
    },
  )
}
