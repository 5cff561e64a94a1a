import type { EpochMs } from '../../../kernel/clock.js'
import { type Db, Prisma } from '../../../platform/postgres.js'

export type DeliveryStatus = 'PENDING' | 'DELIVERED' | 'FAILED'

/** One event for one endpoint. */
export interface WebhookDelivery {
  eventId: string
  endpointId: string
  eventType: string
  status: DeliveryStatus
  attemptCount: number
  createdAt: EpochMs
  /** Null: it is not PENDING. */
  nextAttemptAt: EpochMs | null
  finishedAt: EpochMs | null
  /** What is sent. */
  body: Record<string, unknown>
  /** In their order. */
  attempts: WebhookAttempt[]
}

export interface WebhookAttempt {
  number: number
  at: EpochMs
  durationMs: number
  statusCode: number | null
  response: string | null
  error: string | null
}

/** An event as it is told. */
export interface ToldEvent {
  id: string
  type: string
  payloadVersion: number
  customerVersion: bigint | string | null
  customerIndex: bigint | string | null
  payload: unknown
  occurredAt: Date
}

/** The body of its webhook; `bodyOf` in the catalog has its schema. */
export const toldBody = ({ id, type, payloadVersion, customerVersion, customerIndex, payload, occurredAt }: ToldEvent) => ({
  id,
  type,
  version: payloadVersion,
  timestamp: occurredAt.toISOString(),
  order: customerIndex === null ? null : { version: Number(customerVersion), index: Number(customerIndex) },
  data: payload,
})

const related = { event: true, tried: { orderBy: { number: 'asc' } } } satisfies Prisma.WebhookDeliveryInclude

export interface DeliveriesWanted {
  endpointId: string
  status: DeliveryStatus | null
  eventId: string | null
  /** Of a page: those before it. */
  before: { createdAt: EpochMs; eventId: string } | null
  limit: number
}

/** All are; the index of lists is for who says so. */
const listed = Prisma.sql`created_at > '-infinity'`

/** The newest first. To be read in one snapshot. */
export async function findDeliveries(db: Db, environmentId: string, wanted: DeliveriesWanted): Promise<WebhookDelivery[]> {
  const { endpointId, status, eventId, before, limit } = wanted
  const conditions = [
    listed,
    ...(status ? [Prisma.sql`status = ${status}::webhook_delivery_status`] : []),
    ...(eventId ? [Prisma.sql`event_id = ${eventId}::uuid`] : []),
    ...(before ? [Prisma.sql`(created_at, event_id) < (${new Date(before.createdAt)}, ${before.eventId}::uuid)`] : []),
  ]
  const found = await db.$queryRaw<{ event_id: string }[]>(Prisma.sql`
    SELECT event_id FROM webhook_delivery
    WHERE environment_id = ${environmentId}::uuid AND endpoint_id = ${endpointId}::uuid AND ${Prisma.join(conditions, ' AND ')}
    ORDER BY created_at DESC, event_id DESC LIMIT ${limit}`)
  const rows = await db.webhookDelivery.findMany({
    where: { environmentId, endpointId, eventId: { in: found.map(({ event_id }) => event_id) } },
    include: related,
    orderBy: [{ createdAt: 'desc' }, { eventId: 'desc' }],
  })
  return rows.map((row) => ({
    eventId: row.eventId,
    endpointId: row.endpointId,
    eventType: row.event.type,
    status: row.status,
    attemptCount: row.attempts,
    createdAt: row.createdAt.getTime(),
    nextAttemptAt: row.status === 'PENDING' ? row.dueAt.getTime() : null,
    finishedAt: row.finishedAt?.getTime() ?? null,
    body: toldBody(row.event),
    attempts: row.tried.map(({ number, at, durationMs, statusCode, response, error }) => {
      return { number, at: at.getTime(), durationMs, statusCode, response, error }
    }),
  }))
}

/** What a delivery begins again with. */
const afresh = Prisma.sql`status = 'PENDING', finished_at = NULL, tries = 0, due_at = clock_timestamp()`

/** Has the delivery of an event made once more, with a fresh schedule. Answers whether there is one. */
export async function resendOne(db: Db, environmentId: string, endpointId: string, eventId: string): Promise<boolean> {
  const count = await db.$executeRaw(Prisma.sql`
    UPDATE webhook_delivery SET ${afresh} WHERE environment_id = ${environmentId}::uuid AND endpoint_id = ${endpointId}::uuid AND event_id = ${eventId}::uuid`)
  return count > 0
}

export interface ResentLot {
  /** Of deliveries that were made since then. */
  since: EpochMs
  /** That had ended by then: those that are made once more meanwhile may have ended again. */
  endedBefore: EpochMs
  onlyFailed: boolean
  limit: number
}

/**
 * The same for those that wait no more, in a lot, the oldest first. Answers how many. They are changed where they were found: a join that was planned while there were few
 * looks through all of them for each.
 */
export function resendLot(
  db: Db,
  environmentId: string,
  endpointId: string,
  { since, endedBefore, onlyFailed, limit }: ResentLot,
): Promise<number> {
  const statuses = onlyFailed ? ['FAILED'] : ['FAILED', 'DELIVERED']
  return db.$executeRaw(Prisma.sql`
    UPDATE webhook_delivery SET ${afresh} WHERE environment_id = ${environmentId}::uuid AND ctid = ANY(ARRAY(
      SELECT ctid FROM webhook_delivery
      WHERE environment_id = ${environmentId}::uuid AND endpoint_id = ${endpointId}::uuid AND ${listed} AND created_at >= ${new Date(since)}
        AND status = ANY(${statuses}::webhook_delivery_status[]) AND finished_at <= ${new Date(endedBefore)}
      ORDER BY created_at, event_id LIMIT ${limit} FOR NO KEY UPDATE))`)
}

/** Forgets deliveries of an endpoint, in a lot; answers how many. */
export function deleteDeliveries(db: Db, environmentId: string, endpointId: string, limit: number): Promise<number> {
  return db.$executeRaw(Prisma.sql`
    DELETE FROM webhook_delivery WHERE environment_id = ${environmentId}::uuid AND ctid = ANY(ARRAY(
      SELECT ctid FROM webhook_delivery WHERE environment_id = ${environmentId}::uuid AND endpoint_id = ${endpointId}::uuid AND ${listed}
      ORDER BY created_at, event_id LIMIT ${limit} FOR UPDATE))`)
}
