import type { PrismaClient } from '../platform/postgres.js'
import { Prisma } from '../platform/postgres.js'
import type { ChangeKind, UsageChange } from './change-message.js'

/** A committed change that waits for delivery. */
export interface PendingChange {
  id: string
  kind: ChangeKind
  /** The caller's identifiers; null customer: a change of the whole environment. */
  customerId: string | null
  resourceId: string | null
  version: number
  payload: UsageChange | Record<string, unknown> | null
  createdAt: Date
  attempts: number
}

/**
 * Leases undelivered messages of one environment for `leaseSeconds`: others leave them alone until then, and get them when the delivery did not
 * finish. The lease is committed before anything is delivered, so no transaction waits for a network.
 */
export async function leaseChanges(
  prisma: PrismaClient,
  environmentId: string,
  limit: number,
  leaseSeconds: number,
): Promise<PendingChange[]> {
  const rows = await prisma.$queryRaw<
    {
      id: string
      kind: ChangeKind
      customer_id: string | null
      resource_id: string | null
      version: bigint
      payload: PendingChange['payload']
      created_at: Date
      attempts: number
    }[]
  >(Prisma.sql`
    UPDATE outbox_message AS message
    SET claimed_until = clock_timestamp() + make_interval(secs => ${leaseSeconds}), attempts = message.attempts + 1
    FROM (
      SELECT environment_id, id FROM outbox_message
      WHERE environment_id = ${environmentId}::uuid AND (claimed_until IS NULL OR claimed_until < clock_timestamp())
      ORDER BY id LIMIT ${limit} FOR UPDATE SKIP LOCKED
    ) AS due
    WHERE message.environment_id = due.environment_id AND message.id = due.id
    RETURNING message.id, message.kind::text, message.customer_id, message.resource_id, message.version, message.payload, message.created_at, message.attempts`)
  return rows.map((row) => ({
    id: row.id,
    kind: row.kind,
    customerId: row.customer_id,
    resourceId: row.resource_id,
    version: Number(row.version),
    payload: row.payload,
    createdAt: row.created_at,
    attempts: row.attempts,
  }))
}

export async function deleteDelivered(prisma: PrismaClient, environmentId: string, ids: string[]): Promise<void> {
  await prisma.$executeRaw(
    Prisma.sql`DELETE FROM outbox_message WHERE environment_id = ${environmentId}::uuid AND id = ANY(${ids}::uuid[])`,
  )
}

/** Environments with messages that nobody has leased: what a lost nudge or a killed worker left behind. */
export async function environmentsWithUndelivered(prisma: PrismaClient): Promise<string[]> {
  const rows = await prisma.$queryRaw<{ environment_id: string }[]>`
    SELECT DISTINCT environment_id FROM outbox_message WHERE claimed_until IS NULL OR claimed_until < clock_timestamp()`
  return rows.map((row) => row.environment_id)
}
