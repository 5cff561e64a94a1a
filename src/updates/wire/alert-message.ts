/**
 * A threshold that was reached, for who listens at that moment. It is on the channel of the changes of its environment, in no stream and in no queue: who was not
 * there asks for what was reached. A message may arrive twice.
 */
import type { EpochMs } from '../../kernel/clock.js'
import type { Decimal } from '../../kernel/decimal.js'

/** Identifiers of things are the caller's. */
export interface ReachedMessage {
  /** Of the crossing. */
  id: string
  alertId: string
  customerId: string
  resourceId: string | null
  /** Null: of a budget. */
  featureId: string | null
  /** Whose budget it is; null: of a feature. */
  subscriptionId: string | null
  threshold: { kind: 'SHARE' | 'AMOUNT'; value: Decimal }
  usage: Decimal
  /** Null: unlimited. */
  limit: Decimal | null
  periodStart: EpochMs | null
  periodEnd: EpochMs | null
  reachedAt: EpochMs
}

export interface AlertMessage {
  /** Version of this shape. */
  v: 1
  kind: 'alert'
  environmentId: string
  /** The caller's. */
  customerId: string
  crossing: ReachedMessage
}
