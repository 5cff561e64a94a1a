import type { EpochMs } from '../../../kernel/clock.js'
import { type Db, Prisma } from '../../../platform/postgres.js'

export type EndpointStatus = 'ACTIVE' | 'PAUSED' | 'DISABLED'
export type DisabledReason = 'GONE' | 'NO_SUCCESS'

/** Where the host application hears of events. */
export interface WebhookEndpoint {
  id: string
  environmentId: string
  url: string
  description: string | null
  /** Those that it hears of; none: all. */
  eventTypes: string[]
  /** PAUSED: by request. DISABLED: by what it has answered. What it is to hear of waits either way. */
  status: EndpointStatus
  disabledReason: DisabledReason | null
  disabledAt: EpochMs | null
  /** Since when nothing was answered right; null: the last attempt was, or there was none. */
  failingSince: EpochMs | null
  /** Until when what was signed with the previous secret is signed with it too; null: there is none. */
  previousSecretExpiresAt: EpochMs | null
  createdAt: EpochMs
  updatedAt: EpochMs
}

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
  previousSecretExpiresAt: true,
  createdAt: true,
  updatedAt: true,
} as const satisfies Prisma.WebhookEndpointSelect

const time = (at: Date | null): EpochMs | null => at?.getTime() ?? null

const fromRow = (row: Prisma.WebhookEndpointGetPayload<{ select: typeof fields }>): WebhookEndpoint => ({
  ...row,
  disabledReason: row.disabledReason as DisabledReason | null,
  disabledAt: time(row.disabledAt),
  failingSince: time(row.failingSince),
  previousSecretExpiresAt: time(row.previousSecretExpiresAt),
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
  return fromRow(await db.webhookEndpoint.create({ data: { ...endpoint, secret: Buffer.from(secret) }, select: fields }))
}

/** What it answered before says nothing of what it answers from now on. */
export async function updateEndpoint(
  db: Db,
  environmentId: string,
  id: string,
  change: Partial<Pick<WebhookEndpoint, 'url' | 'description' | 'eventTypes'>> & { status?: 'ACTIVE' | 'PAUSED' },
): Promise<void> {
  const isStatus = change.status !== undefined
  const fresh = isStatus || change.url !== undefined ? { failuresInRow: 0, failingSince: null, restsUntil: null } : {}
  await db.webhookEndpoint.update({
    where: { environmentId_id: { environmentId, id } },
    data: { ...change, ...(isStatus && { disabledReason: null, disabledAt: null }), ...fresh },
  })
  await db.$executeRaw(Prisma.sql`
    UPDATE webhook_endpoint SET updated_at = clock_timestamp() WHERE environment_id = ${environmentId}::uuid AND id = ${id}::uuid`)
}

/** False: there is none. What waits for it goes with it. */
export async function deleteEndpoint(db: Db, environmentId: string, id: string): Promise<boolean> {
  const { count } = await db.webhookEndpoint.deleteMany({ where: { environmentId, id } })
  return count === 1
}

/** The secret becomes the previous one, in one statement, so that two rotations at once are one after the other. */
export async function replaceSecret(
  db: Db,
  { environmentId, id }: Pick<WebhookEndpoint, 'environmentId' | 'id'>,
  secret: Uint8Array,
  overlapSeconds: number,
): Promise<void> {
  await db.$executeRaw(Prisma.sql`
    UPDATE webhook_endpoint
    SET previous_secret = secret, previous_secret_expires_at = clock_timestamp() + make_interval(secs => ${overlapSeconds}),
      secret = ${Buffer.from(secret)}, updated_at = clock_timestamp()
    WHERE environment_id = ${environmentId}::uuid AND id = ${id}::uuid`)
}

/** Answers whether it was active until now. */
export async function disableEndpoint(db: Db, environmentId: string, id: string, reason: DisabledReason): Promise<boolean> {
  const count = await db.$executeRaw(Prisma.sql`
    UPDATE webhook_endpoint SET status = 'DISABLED', disabled_reason = ${reason}, disabled_at = clock_timestamp(), updated_at = clock_timestamp()
    WHERE environment_id = ${environmentId}::uuid AND id = ${id}::uuid AND status = 'ACTIVE'`)
  return count === 1
}
