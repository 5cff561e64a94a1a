import { hidden } from '../../../audit/model/difference.js'
import type { AuditedChange, Fields } from '../../../audit/model/entry.js'
import { isoOrNull } from '../../../kernel/iso-time.js'
import type { DisabledReason, WebhookEndpoint } from './endpoint.js'

/** An endpoint for the audit log; null before: it was made, null after: it is gone. */
export const auditedEndpoint = (
  ...[before, after]: [before: WebhookEndpoint | null, after: WebhookEndpoint] | [before: WebhookEndpoint, after: null]
): AuditedChange => ({
  ...of(after ?? before),
  before: before && fieldsOf(before),
  after: after && fieldsOf(after),
})

/** That its secret is another one, and for how long the one before is used too. */
export const auditedSecret = (before: WebhookEndpoint, after: WebhookEndpoint): AuditedChange => ({
  ...of(after),
  before: { secret: hidden('before'), previousSecretExpiresAt: isoOrNull(before.previousSecretExpiresAt) },
  after: { secret: hidden('after'), previousSecretExpiresAt: isoOrNull(after.previousSecretExpiresAt) },
})

/** That an active one was disabled for what it has answered. */
export const auditedDisabling = (environmentId: string, id: string, reason: DisabledReason): AuditedChange => ({
  ...of({ environmentId, id }),
  before: { status: 'ACTIVE', disabledReason: null },
  after: { status: 'DISABLED', disabledReason: reason },
})

const of = ({ environmentId, id }: Pick<WebhookEndpoint, 'environmentId' | 'id'>) =>
  ({ environmentId, kind: 'WEBHOOK_ENDPOINT', id }) as const

const fieldsOf = ({ id, url, description, eventTypes, status, disabledReason, disabledAt }: WebhookEndpoint): Fields => ({
  id,
  ...urlFields(url),
  description,
  eventTypes,
  status,
  disabledReason,
  disabledAt: isoOrNull(disabledAt),
})

/** Of what others may not see of a URL, which is also its path (some services know a caller by it), is told that it changed. */
function urlFields(text: string): Fields {
  const { href, origin } = new URL(text)
  return { url: origin, urlRest: href === `${origin}/` ? null : hidden(href) }
}
