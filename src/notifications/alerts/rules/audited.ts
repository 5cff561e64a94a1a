import type { AuditedChange, Fields } from '../../../audit/model/entry.js'
import type { Alert } from './alert.js'

/** An alert for the audit log; null before: it was made, null after: it is gone. */
export const auditedAlert = (...[before, after]: [before: Alert | null, after: Alert] | [before: Alert, after: null]): AuditedChange => {
  const { environmentId, id } = after ?? before
  return { environmentId, kind: 'ALERT', id, before: before && fieldsOf(before), after: after && fieldsOf(after) }
}

const fieldsOf = ({ id, description, feature, planId, customer, thresholds, hysteresisPercent }: Alert): Fields => ({
  id,
  description,
  subject: feature ? 'FEATURE' : 'BUDGET',
  featureId: feature?.refId ?? null,
  planId,
  customerId: customer?.refId ?? null,
  thresholds,
  hysteresisPercent,
})
