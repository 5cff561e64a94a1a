/** Which thresholds a customer has reached or left, by what it has used now and what is known to be reached. Pure. */
import type { CustomerStandings, HolderStandings, Standing } from '../../../entitlement/rules/standing.js'
import type { EpochMs } from '../../../kernel/clock.js'
import { type Alert, isLeft, isReached, type Threshold } from './alert.js'

export const endReasons = ['BACK_UNDER', 'RESET', 'NOT_HELD'] as const
/** NOT_HELD: what was measured, or the threshold for it, is no more. */
export type EndReason = (typeof endReasons)[number]

/** A threshold that is reached, as it is stored. */
export interface OpenCrossing {
  /** Of the event that tells it, too. */
  id: string
  alertId: string
  /** Ours; null: of the customer itself. */
  resourceId: string | null
  /** Of the feature, or of the subscription whose budget it is. */
  subjectId: string
  threshold: Threshold
  periodStart: EpochMs | null
}

/** A threshold that has just been reached. */
export interface ReachedThreshold {
  alert: Alert
  threshold: Threshold
  holder: HolderStandings
  standing: Standing
}

export interface EndedCrossing {
  crossing: OpenCrossing
  reason: EndReason
  /** NOT_HELD: null. */
  at: { alert: Alert; holder: HolderStandings; standing: Standing } | null
}

export interface CrossingDecision {
  reached: ReachedThreshold[]
  ended: EndedCrossing[]
}

const keyOf = (alertId: string, resourceId: string | null, subjectId: string, { kind, value }: Threshold) =>
  `${alertId}|${resourceId ?? ''}|${subjectId}|${kind}|${value}`

/** Deciding again, when it was recorded, decides nothing. `open`: what is recorded of the customer. */
export function decideCrossings({
  customer,
  alerts,
  open,
}: {
  customer: CustomerStandings
  alerts: readonly Alert[]
  open: readonly OpenCrossing[]
}): CrossingDecision {
  const waiting = new Map(open.map((one) => [keyOf(one.alertId, one.resourceId, one.subjectId, one.threshold), one]))
  const decision: CrossingDecision = { reached: [], ended: [] }
  for (const alert of alerts) {
    if (alert.customer !== null && alert.customer.id !== customer.customerId) continue
    for (const holder of customer.holders) {
      if (alert.planId !== null && !holder.plans.includes(alert.planId)) continue
      for (const standing of holder.standings) {
        if (!isOf(alert, standing)) continue
        for (const threshold of alert.thresholds) {
          const key = keyOf(alert.id, holder.resource?.id ?? null, standing.subject.id, threshold)
          const crossing = waiting.get(key)
          waiting.delete(key)
          const at = { alert, holder, standing }
          const reason = crossing ? endOf(crossing, at) : null
          if (crossing && reason) decision.ended.push({ crossing, reason, at })
          if ((!crossing || reason === 'RESET') && isReached(threshold, standing)) decision.reached.push({ ...at, threshold })
        }
      }
    }
  }
  for (const crossing of waiting.values()) decision.ended.push({ crossing, reason: 'NOT_HELD', at: null })
  return decision
}

const isOf = ({ feature }: Alert, { subject }: Standing): boolean =>
  feature === null ? subject.kind === 'BUDGET' : subject.kind === 'FEATURE' && subject.id === feature.id

/** Null: it goes on. */
function endOf({ threshold, periodStart }: OpenCrossing, { alert, standing }: { alert: Alert; standing: Standing }): EndReason | null {
  if (periodStart !== standing.periodStart) return 'RESET'
  return isLeft(threshold, standing, alert.hysteresisPercent) ? 'BACK_UNDER' : null
}
