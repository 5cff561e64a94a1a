/** What a crossing tells the host application. Pure. */
import type { NewEvent } from '../../../changes/events.js'
import type { HolderStandings, Standing } from '../../../entitlement/rules/standing.js'
import type { EpochMs } from '../../../kernel/clock.js'
import { isoOrNull } from '../../../kernel/iso-time.js'
import type { AlertMessage } from '../../../updates/wire/alert-message.js'
import { type Alert, isLimit, type Threshold } from './alert.js'
import type { EndedCrossing, ReachedThreshold } from './crossings.js'

interface Of {
  customerId: string
  customerRefId: string
}

/** The event has the id of the crossing. */
export function reachedEvent({ customerId, customerRefId }: Of, crossing: ReachedThreshold & { id: string }): NewEvent {
  const told = { customerRefId, crossingId: crossing.id, ...crossing }
  const common = { customerId, id: crossing.id }
  if (crossing.standing.subject.kind === 'BUDGET')
    return { ...common, type: isLimit(crossing.threshold) ? 'budget.exceeded' : 'budget.threshold_reached', data: ofBudget(told) }
  return { ...common, type: isLimit(crossing.threshold) ? 'usage.limit_reached' : 'usage.threshold_reached', data: ofUsage(told) }
}

/** Nothing is told of what is not held any more: what became of that is told by entitlements.changed. */
export function endedEvents({ customerId, customerRefId }: Of, { crossing, reason, at }: EndedCrossing): NewEvent[] {
  if (!at) return []
  const told = { customerRefId, crossingId: crossing.id, threshold: crossing.threshold, ...at }
  if (at.standing.subject.kind === 'BUDGET')
    return [{ customerId, type: reason === 'RESET' ? 'budget.reset' : 'budget.back_under', data: ofBudget(told) }]
  return [{ customerId, type: reason === 'RESET' ? 'usage.reset' : 'usage.back_under', data: ofUsage(told) }]
}

/** The same for who listens at the moment. */
export const toAlertMessage = (
  environmentId: string,
  { customerRefId, now }: Of & { now: EpochMs },
  { id, alert, threshold, holder, standing }: ReachedThreshold & { id: string },
): AlertMessage => ({
  v: 1,
  kind: 'alert',
  environmentId,
  customerId: customerRefId,
  crossing: {
    id,
    alertId: alert.id,
    customerId: customerRefId,
    resourceId: holder.resource?.refId ?? null,
    featureId: standing.subject.kind === 'FEATURE' ? standing.subject.refId : null,
    subscriptionId: standing.subject.kind === 'BUDGET' ? standing.subject.refId : null,
    threshold,
    usage: standing.usage,
    limit: standing.limit,
    periodStart: standing.periodStart,
    periodEnd: standing.periodEnd,
    reachedAt: now,
  },
})

interface Told {
  customerRefId: string
  crossingId: string
  alert: Alert
  threshold: Threshold
  holder: HolderStandings
  standing: Standing
}

const common = ({ customerRefId, crossingId, alert, threshold, holder, standing }: Told) => ({
  alertId: alert.id,
  crossingId,
  customerId: customerRefId,
  resourceId: holder.resource?.refId ?? null,
  threshold: { kind: threshold.kind, value: threshold.value as string },
  periodStart: isoOrNull(standing.periodStart),
  periodEnd: isoOrNull(standing.periodEnd),
})

const ofUsage = (told: Told) => ({
  ...common(told),
  featureId: told.standing.subject.refId,
  currentUsage: told.standing.usage as string,
  usageLimit: told.standing.limit as string | null,
})

const ofBudget = (told: Told) => ({
  ...common(told),
  subscriptionId: told.standing.subject.refId,
  spent: told.standing.usage as string,
  budget: told.standing.limit ?? '0',
})
