import { recordAudit } from '../../../audit/record/record.js'
import { formerOnceReplaced, fromColumns } from '../../../environment/model/former-secrets.js'
import type { EpochMs } from '../../../kernel/clock.js'
import { type Db, Prisma } from '../../../platform/postgres.js'
import { auditedDisabling, auditedEndpoint, auditedSecret } from '../rules/audited.js'
import type { DisabledReason, WebhookEndpoint } from '../rules/endpoint.js'

const fields = {
  id: true,
  environmentId: true,
  url: true,
  description: true,
  eventTypes: true,
  status: true,
  disabledReason: true,
  disabledAt: true,
  failingSince: true,
  formerSecretsExpireAt: true,
  createdAt: true,
  updatedAt: true,
} as const satisfies Prisma.WebhookEndpointSelect

const time = (at: Date | null): EpochMs | null => at?.getTime() ?? null

const fromRow = ({ formerSecretsExpireAt, ...row }: Prisma.WebhookEndpointGetPayload<{ select: typeof fields }>): WebhookEndpoint => ({
  ...row,
  disabledReason: row.disabledReason as DisabledReason | null,
  disabledAt: time(row.disabledAt),
  failingSince: time(row.failingSince),
  previousSecretExpiresAt: time(formerSecretsExpireAt.at(-1) ?? null),
  createdAt: row.createdAt.getTime(),
  updatedAt: row.updatedAt.getTime(),
})

/** Oldest first. */
export async function findEndpoints(db: Db, environmentId: string): Promise<WebhookEndpoint[]> {
  const rows = await db.webhookEndpoint.findMany({
    where: { environmentId },
    select: fields,
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  })
  return rows.map(fromRow)
}

export async function findEndpoint(db: Db, environmentId: string, id: string): Promise<WebhookEndpoint | null> {
  const row = await db.webhookEndpoint.findUnique({ where: { environmentId_id: { environmentId, id } }, select: fields })
  return row && fromRow(row)
}

export async function insertEndpoint(
  db: Db,
  endpoint: Pick<WebhookEndpoint, 'environmentId' | 'id' | 'url' | 'description' | 'eventTypes' | 'status'>,
  secret: Uint8Array,
): Promise<WebhookEndpoint> {
  const made = fromRow(await db.webhookEndpoint.create({ data: { ...endpoint, secret: Buffer.from(secret) }, select: fields }))
  recordAudit(db, auditedEndpoint(null, made))
  return made
}

/** To change it: nobody else does until the transaction ends. Null: there is none. */
export async function takeEndpoint(db: Db, environmentId: string, id: string): Promise<WebhookEndpoint | null> {
  const count = await db.$executeRaw(Prisma.sql`
    UPDATE webhook_endpoint SET updated_at = clock_timestamp() WHERE environment_id = ${environmentId}::uuid AND id = ${id}::uuid`)
  return count === 1 ? findEndpoint(db, environmentId, id) : null
}

/** What it answered before says nothing of what it answers from now on. */
export async function updateEndpoint(
  db: Db,
  before: WebhookEndpoint,
  change: Partial<Pick<WebhookEndpoint, 'url' | 'description' | 'eventTypes'>> & { status?: 'ACTIVE' | 'PAUSED' },
): Promise<WebhookEndpoint> {
  const { environmentId, id } = before
  const isStatus = change.status !== undefined
  const fresh = isStatus || change.url !== undefined ? { failuresInRow: 0, failingSince: null, restsUntil: null } : {}
  const row = await db.webhookEndpoint.update({
    where: { environmentId_id: { environmentId, id } },
    data: { ...change, ...(isStatus && { disabledReason: null, disabledAt: null }), ...fresh },
    select: fields,
  })
  const after = fromRow(row)
  recordAudit(db, auditedEndpoint(before, after))
  return after
}

/** What waits for it goes with it. */
export async function deleteEndpoint(db: Db, endpoint: WebhookEndpoint): Promise<void> {
  const { environmentId, id } = endpoint
  await db.webhookEndpoint.delete({ where: { environmentId_id: { environmentId, id } }, select: { id: true } })
  recordAudit(db, auditedEndpoint(endpoint, null))
}

/** Of an endpoint that was taken. The current secret becomes a former one. */
export async function replaceSecret(
  db: Db,
  before: WebhookEndpoint,
  secret: Uint8Array,
  rotation: { now: EpochMs; overlapMs: number },
): Promise<WebhookEndpoint> {
  const where = { environmentId_id: { environmentId: before.environmentId, id: before.id } }
  const held = await db.webhookEndpoint.findUniqueOrThrow({
    where,
    select: { secret: true, formerSecrets: true, formerSecretsExpireAt: true },
  })
  const known = fromColumns({ secrets: held.formerSecrets, expireAt: held.formerSecretsExpireAt })
  const former = formerOnceReplaced({ current: held.secret, former: known }, rotation)
  const row = await db.webhookEndpoint.update({
    where,
    data: {
      secret: Buffer.from(secret),
      formerSecrets: former.map((each) => Buffer.from(each.secret)),
      formerSecretsExpireAt: former.map(({ expiresAt }) => new Date(expiresAt)),
    },
    select: fields,
  })
  const after = fromRow(row)
  recordAudit(db, auditedSecret(before, after))
  return after
}

/** Answers whether it was active until now. */
export async function disableEndpoint(db: Db, environmentId: string, id: string, reason: DisabledReason): Promise<boolean> {
  const count = await db.$executeRaw(Prisma.sql`
    UPDATE webhook_endpoint SET status = 'DISABLED', disabled_reason = ${reason}, disabled_at = clock_timestamp(), updated_at = clock_timestamp()
    WHERE environment_id = ${environmentId}::uuid AND id = ${id}::uuid AND status = 'ACTIVE'`)
  if (count === 1) recordAudit(db, auditedDisabling(environmentId, id, reason))
  return count === 1
}
