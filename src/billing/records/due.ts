/** What time alone makes due for billing: by environment, so that one with much of it leaves the others their turn. */
import type { EpochMs } from '../../kernel/clock.js'
import { type Db, Prisma } from '../../platform/postgres.js'
import { busyEnvironments } from '../../platform/sql.js'

/** An invoice that is to be taken back, because nobody has paid it in time. */
export interface Overdue {
  environmentId: string
  subscriptionId: string
  /** Who was to pay. */
  customerId: string
  invoiceId: string
}

interface OverdueRow {
  environment_id: string
  subscription_id: string
  customer_id: string
  invoice_id: string
}

/** From which environment to which: one, or all (null). */
export const rangeOf = (environmentId: string | null): { from: string; to: string } => ({
  from: environmentId ?? '00000000-0000-0000-0000-000000000000',
  to: environmentId ?? 'ffffffff-ffff-ffff-ffff-ffffffffffff',
})

/** First payments whose deadline has passed: of each environment in turn those that are overdue for longest. */
export async function findOverduePayments(db: Db, limit: number, environmentId: string | null): Promise<Overdue[]> {
  const range = rangeOf(environmentId)
  const rows = await db.$queryRaw<OverdueRow[]>(Prisma.sql`
    WITH RECURSIVE ${busyEnvironments('subscription_billing', 'payment_due_at IS NOT NULL', range)}
    SELECT due.environment_id, due.subscription_id, invoice.customer_id, invoice.id AS invoice_id
    FROM (
      SELECT environment_id AS id, to_timestamp(environment_clock(environment_id) / 1000.0) AS now FROM busy WHERE environment_id IS NOT NULL OFFSET 0
    ) AS environment CROSS JOIN LATERAL (
      SELECT first.*, row_number() OVER (ORDER BY at) AS place FROM (
      SELECT environment_id, subscription_id, payment_due_at AS at FROM subscription_billing AS billing
      WHERE billing.environment_id = environment.id AND billing.payment_due_at <= environment.now
      ORDER BY payment_due_at LIMIT ${limit}) AS first
    ) AS due CROSS JOIN LATERAL (
      SELECT id, customer_id FROM invoice
      WHERE environment_id = due.environment_id AND subscription_id = due.subscription_id ORDER BY created_at, id LIMIT 1
    ) AS invoice
    ORDER BY due.place, due.at LIMIT ${limit}`)
  return rows.map(toOverdue)
}

/** Invoices of running subscriptions whose payment has been missing for longer than `days`; in the same order. */
export async function findUncollected(db: Db, days: number, limit: number, environmentId: string | null): Promise<Overdue[]> {
  const range = rangeOf(environmentId)
  const rows = await db.$queryRaw<OverdueRow[]>(Prisma.sql`
    WITH RECURSIVE ${busyEnvironments('invoice', 'failed_since IS NOT NULL', range)}
    SELECT due.environment_id, due.subscription_id, due.customer_id, due.id AS invoice_id
    FROM (
      SELECT environment_id AS id, to_timestamp(environment_clock(environment_id) / 1000.0) AS now FROM busy WHERE environment_id IS NOT NULL OFFSET 0
    ) AS environment CROSS JOIN LATERAL (
      SELECT first.*, row_number() OVER (ORDER BY failed_since) AS place FROM (
      SELECT environment_id, subscription_id, customer_id, id, failed_since FROM invoice AS failed
      WHERE failed.environment_id = environment.id AND failed.failed_since <= environment.now - ${days} * interval '1 day'
      ORDER BY failed_since LIMIT ${limit}) AS first
    ) AS due
    ORDER BY due.place, due.failed_since LIMIT ${limit}`)
  return rows.map(toOverdue)
}

/** Subscriptions that have ended, and of which nothing can come late any more; in the same order. */
export async function findLateUsageDue(
  db: Db,
  limit: number,
  environmentId: string | null,
): Promise<{ environmentId: string; subscriptionId: string }[]> {
  const range = rangeOf(environmentId)
  const rows = await db.$queryRaw<{ environment_id: string; subscription_id: string }[]>(Prisma.sql`
    WITH RECURSIVE ${busyEnvironments('subscription_billing', 'late_usage_due_at IS NOT NULL', range)}
    SELECT due.environment_id, due.subscription_id
    FROM (
      SELECT environment_id AS id, to_timestamp(environment_clock(environment_id) / 1000.0) AS now FROM busy WHERE environment_id IS NOT NULL OFFSET 0
    ) AS environment CROSS JOIN LATERAL (
      SELECT first.*, row_number() OVER (ORDER BY at) AS place FROM (
      SELECT environment_id, subscription_id, late_usage_due_at AS at FROM subscription_billing AS billing
      WHERE billing.environment_id = environment.id AND billing.late_usage_due_at <= environment.now
      ORDER BY late_usage_due_at LIMIT ${limit}) AS first
    ) AS due
    ORDER BY due.place, due.at LIMIT ${limit}`)
  return rows.map((row) => ({ environmentId: row.environment_id, subscriptionId: row.subscription_id }))
}

/** The next instant after `after` (null: whenever), and not after `until`, at which billing has something to do in an environment; null: there is none. */
export async function findNextBilling(
  db: Db,
  environmentId: string,
  { after, until, days }: { after: EpochMs | null; until: EpochMs; days: number },
): Promise<EpochMs | null> {
  const [row] = await db.$queryRaw<{ at: Date | null }[]>(Prisma.sql`
    SELECT min(at) AS at FROM (
      SELECT next_attempt_at AS at FROM billing_intent WHERE environment_id = ${environmentId}::uuid AND state = 'WAITING'
      UNION ALL
      SELECT payment_due_at FROM subscription_billing WHERE environment_id = ${environmentId}::uuid AND payment_due_at IS NOT NULL
      UNION ALL
      SELECT late_usage_due_at FROM subscription_billing WHERE environment_id = ${environmentId}::uuid AND late_usage_due_at IS NOT NULL
      UNION ALL
      SELECT failed_since + ${days} * interval '1 day' FROM invoice WHERE environment_id = ${environmentId}::uuid AND failed_since IS NOT NULL
    ) AS due WHERE at <= ${new Date(until)} ${after === null ? Prisma.empty : Prisma.sql`AND at > ${new Date(after)}`}`)
  return row?.at?.getTime() ?? null
}

const toOverdue = (row: OverdueRow): Overdue => ({
  environmentId: row.environment_id,
  subscriptionId: row.subscription_id,
  customerId: row.customer_id,
  invoiceId: row.invoice_id,
})
