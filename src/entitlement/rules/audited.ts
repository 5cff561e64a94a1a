import type { AuditedChange, Fields } from '../../audit/model/entry.js'
import { isoOrNull } from '../../kernel/iso-time.js'
import type { PromotionalEntitlement } from './promotional.js'

export type PromotionalFacts = Pick<
  PromotionalEntitlement,
  | 'usageLimit'
  | 'hasUnlimitedUsage'
  | 'hasSoftLimit'
  | 'enumValues'
  | 'resetPeriod'
  | 'period'
  | 'description'
  | 'isVisible'
  | 'startDate'
  | 'endDate'
  | 'status'
> & { environmentId: string; id: string; customerId: string; featureRefId: string }

/** What is granted, and what is taken back: one that is not held any more is gone. */
export const auditedPromotional = (before: PromotionalFacts | null, after: PromotionalFacts | null): AuditedChange => {
  const { environmentId, id } = (after ?? before)!
  return { environmentId, kind: 'PROMOTIONAL_ENTITLEMENT', id, before: before && fieldsOf(before), after: after && fieldsOf(after) }
}

const fieldsOf = ({ environmentId: _, id, customerId, featureRefId, startDate, endDate, ...fields }: PromotionalFacts): Fields => ({
  ...fields,
  id,
  customer: { id: customerId },
  feature: { refId: featureRefId },
  startDate: isoOrNull(startDate),
  endDate: isoOrNull(endDate),
})
