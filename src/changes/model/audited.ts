import type { AuditedChange } from '../../audit/model/entry.js'

/** Work that failed for good, as far as the audit log tells of it: why it failed may name customers. */
export interface AuditedDeadLetter {
  environmentId: string
  /** As commands name it. */
  id: string
  job: string
  attempts: number
}

export const auditedRetry = ({ environmentId, id }: AuditedDeadLetter): AuditedChange => ({
  environmentId,
  kind: 'DEAD_LETTER',
  id,
  before: { status: 'FAILED' },
  after: { status: 'WAITING' },
})

export const auditedDiscarding = ({ environmentId, id, job, attempts }: AuditedDeadLetter): AuditedChange => ({
  environmentId,
  kind: 'DEAD_LETTER',
  id,
  before: { id, job, attempts },
  after: null,
})
