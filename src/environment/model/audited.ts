import { hidden } from '../../audit/model/difference.js'
import type { AuditedChange, Fields } from '../../audit/model/entry.js'
import { isoOrNull } from '../../kernel/iso-time.js'
import type { ApiKey, Environment } from './environment.js'

/** Settings of an environment for the audit log; null before: it was made. */
export const auditedEnvironment = (before: Environment | null, after: Environment): AuditedChange => ({
  ...of(after),
  before: before && settingsOf(before),
  after: settingsOf(after),
})

/** That its signing secret is another one, and for how long the one before is valid too. */
export const auditedSecret = (
  environment: Environment,
  { before, after, previousExpiresAt }: { before: Uint8Array; after: Uint8Array; previousExpiresAt: number },
): AuditedChange => ({
  ...of(environment),
  before: { signingSecret: hidden(Buffer.from(before).toString('hex')), previousExpiresAt: null },
  after: { signingSecret: hidden(Buffer.from(after).toString('hex')), previousExpiresAt: isoOrNull(previousExpiresAt) },
})

export const auditedTestClock = (
  environment: Pick<Environment, 'id' | 'refId'>,
  before: Date | null,
  after: Date | null,
): AuditedChange => ({
  ...of(environment),
  before: { testClock: before?.toISOString() ?? null },
  after: { testClock: after?.toISOString() ?? null },
})

export const auditedKey = (before: ApiKey | null, after: ApiKey): AuditedChange => ({
  environmentId: after.environmentId,
  kind: 'API_KEY',
  id: after.id,
  before: before && fieldsOf(before),
  after: fieldsOf(after),
})

const of = ({ id, refId }: Pick<Environment, 'id' | 'refId'>) => ({ environmentId: id, kind: 'ENVIRONMENT', id: refId }) as const

const settingsOf = ({ createdAt: _, ...environment }: Environment): Fields => environment

const fieldsOf = ({ id, kind, name, hint, expiresAt, revokedAt }: ApiKey): Fields => ({
  id,
  kind,
  name,
  hint,
  expiresAt: isoOrNull(expiresAt),
  revokedAt: isoOrNull(revokedAt),
})
