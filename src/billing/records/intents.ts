import { recordAudit } from '../../audit/record/record.js'
import type { EpochMs } from '../../kernel/clock.js'
import { newId } from '../../kernel/id.js'
import { type Db, Prisma } from '../../platform/postgres.js'
import { insertRows, oncePerGroup, type Row, toRow } from '../../platform/transaction-group.js'
import type { EndsBy } from '../rules/billing.js'

type IntentKind = 'CREATE_INVOICE' | 'COLLECT' | 'VOID' | 'REFUND'

/** A call that the provider is to get. */
export interface Intent {
  environmentId: string
  id: string
  subscriptionId: string
  customerId: string
  kind: IntentKind
  idempotencyKey: string
  /** Our id of the invoice. */
  invoiceId: string
  /** Of a VOID: what ends the subscription that waits for the payment, once the invoice is taken back; null: that nobody paid. */
  endsBy: EndsBy | null
  /** Calls made so far, this one included once it is claimed. */
  attempts: number
}

/** Writes down a call; a key that is there already is the same call. `notBefore` is in the environment's time; null: at once. */
export async function insertIntent(
  db: Db,
  intent: Omit<Intent, 'id' | 'attempts'>,
  { notBefore = null }: { notBefore?: EpochMs | null } = {},
): Promise<void> {
  const { environmentId, subscriptionId, customerId, kind, idempotencyKey, invoiceId, endsBy } = intent
  const payload = { invoiceId, ...(endsBy && { endsBy }) }
  const row = { environmentId, id: newId(), subscriptionId, customerId, kind, idempotencyKey, payload }
  await addIntent(db, toRow({ ...row, nextAttemptAt: notBefore === null ? undefined : new Date(notBefore) }))
}

const addIntent = oncePerGroup(async (db, rows: Row[]) => {
  // Without an instant of its own it is the database's now.
  for (const some of [rows.filter((row) => 'next_attempt_at' in row), rows.filter((row) => !('next_attempt_at' in row))])
    if (some.length > 0) await insertRows(db, 'billing_intent', some, 'ON CONFLICT (environment_id, idempotency_key) DO NOTHING')
  return rows
})

interface IntentRow {
  environment_id: string
  id: string
  subscription_id: string
  customer_id: string
  kind: IntentKind
  idempotency_key: string
  payload: { invoiceId: string; endsBy?: EndsBy }
  attempts: number
}

/** Those of an environment, or of one of its subscriptions. */
export interface IntentScope {
  environmentId: string
  subscriptionId?: string
}

/**
 * Takes the call that has waited longest, for `leaseMs`: who dies with it leaves it to the next. Of a subscription they are made in the order in
 * which they were written: a later one is not taken before the earlier ones are done. `of` null: of any environment. Null: none waits.
 */
export async function claimIntent(db: Db, { leaseMs, of = null }: { leaseMs: number; of?: IntentScope | null }): Promise<Intent | null> {
  if (of) return claimOf(db, leaseMs, of)
  // Rows are locked by environment: of those that all look at, each takes the first that no other has taken.
  for (const one of await findClaimable(db)) {
    const intent = await claimOf(db, leaseMs, one)
    if (intent) return intent
  }
  return null
}

/** More than there are processes that look at once. */
const mostLookedAt = 20

async function findClaimable(db: Db): Promise<IntentScope[]> {
  const rows = await db.$queryRaw<Pick<IntentRow, 'environment_id' | 'subscription_id'>[]>(Prisma.sql`
    SELECT environment_id, subscription_id FROM billing_intent AS waiting
    WHERE ${isClaimable} ORDER BY next_attempt_at, sequence LIMIT ${mostLookedAt}`)
  return rows.map((row) => ({ environmentId: row.environment_id, subscriptionId: row.subscription_id }))
}

const isClaimable = Prisma.sql`waiting.state = 'WAITING' AND waiting.next_attempt_at <= to_timestamp(environment_clock(waiting.environment_id) / 1000.0)
    AND (waiting.leased_until IS NULL OR waiting.leased_until < clock_timestamp())
    AND NOT EXISTS (
      SELECT FROM billing_intent AS earlier
      WHERE earlier.environment_id = waiting.environment_id AND earlier.subscription_id = waiting.subscription_id
        AND earlier.state = 'WAITING' AND earlier.kind = 'CREATE_INVOICE' AND earlier.sequence < waiting.sequence
    )`

async function claimOf(db: Db, leaseMs: number, { environmentId, subscriptionId }: IntentScope): Promise<Intent | null> {
  const ofSubscription = subscriptionId ? Prisma.sql`AND waiting.subscription_id = ${subscriptionId}::uuid` : Prisma.empty
  const [row] = await db.$queryRaw<IntentRow[]>(Prisma.sql`
    UPDATE billing_intent AS intent
    SET leased_until = clock_timestamp() + ${leaseMs} * interval '1 millisecond', attempts = intent.attempts + 1, updated_at = clock_timestamp()
    FROM (
      SELECT id FROM billing_intent AS waiting
      WHERE waiting.environment_id = ${environmentId}::uuid ${ofSubscription} AND ${isClaimable}
      ORDER BY next_attempt_at, sequence LIMIT 1 FOR UPDATE SKIP LOCKED
    ) AS claimed
    WHERE intent.environment_id = ${environmentId}::uuid AND intent.id = claimed.id
    RETURNING intent.environment_id, intent.id, intent.subscription_id, intent.customer_id, intent.kind, intent.idempotency_key, intent.payload, intent.attempts`)
  if (!row) return null
  return {
    environmentId: row.environment_id,
    id: row.id,
    subscriptionId: row.subscription_id,
    customerId: row.customer_id,
    kind: row.kind,
    idempotencyKey: row.idempotency_key,
    invoiceId: row.payload.invoiceId,
    endsBy: row.payload.endsBy ?? null,
    attempts: row.attempts,
  }
}

/** The call that is to take an invoice back and has not been made yet; null: there is none. */
export async function findWaitingVoid(db: Db, environmentId: string, invoiceId: string): Promise<{ endsBy: EndsBy | null } | null> {
  const row = await db.billingIntent.findUnique({
    where: { environmentId_idempotencyKey: { environmentId, idempotencyKey: voidKey(invoiceId) }, state: 'WAITING' },
    select: { payload: true },
  })
  return row && { endsBy: (row.payload as unknown as IntentRow['payload']).endsBy ?? null }
}

/** The call was made and its answer is recorded. */
export async function finishIntent(db: Db, { environmentId, id }: Intent): Promise<void> {
  await db.billingIntent.update({
    where: { environmentId_id: { environmentId, id } },
    data: { state: 'DONE', leasedUntil: null, lastError: null },
  })
}

/** The invoice is not to be made any more, also when somebody revives what was given up. */
export async function dropCreation(db: Db, environmentId: string, invoiceId: string): Promise<void> {
  const of = { environmentId, idempotencyKey: creationKey(invoiceId) }
  await db.billingIntent.updateMany({ where: of, data: { state: 'DONE' } })
}

/**
 * It is made again after `delayMs` of real time, whatever a test clock says; null: never, somebody has to look. False: somebody else has it, or has done it,
 * since it was claimed, and nothing was changed.
 */
export async function postponeIntent(
  db: Db,
  { environmentId, id, attempts }: Intent,
  lastError: string,
  delayMs: number | null,
): Promise<boolean> {
  const count = await db.$executeRaw(Prisma.sql`
    UPDATE billing_intent SET leased_until = clock_timestamp() + ${delayMs ?? 0} * interval '1 millisecond', last_error = ${lastError}, updated_at = clock_timestamp(),
      state = ${delayMs === null ? 'GIVEN_UP' : 'WAITING'}::billing_intent_state
    WHERE environment_id = ${environmentId}::uuid AND id = ${id}::uuid AND state = 'WAITING' AND attempts = ${attempts}`)
  return count === 1
}

/** Those that were given up are made again; answers how many. */
export async function reviveIntents(db: Db, environmentId: string): Promise<number> {
  const revived = { state: 'WAITING' as const, attempts: 0, leasedUntil: null }
  const all = await db.billingIntent.updateManyAndReturn({
    where: { environmentId, state: 'GIVEN_UP' },
    data: revived,
    select: { id: true },
  })
  for (const { id } of all)
    recordAudit(db, { environmentId, kind: 'BILLING_CALL', id, before: { isGivenUp: true }, after: { isGivenUp: false } })
  return all.length
}

/** How many calls wait, and how many were given up; for metrics. */
export async function countIntents(db: Db): Promise<{ waiting: number; givenUp: number }> {
  const rows = await db.$queryRaw<{ waiting: bigint; given_up: bigint }[]>(Prisma.sql`
    SELECT count(*) FILTER (WHERE state = 'WAITING') AS waiting, count(*) FILTER (WHERE state = 'GIVEN_UP') AS given_up
    FROM billing_intent WHERE state <> 'DONE'`)
  return { waiting: Number(rows[0]!.waiting), givenUp: Number(rows[0]!.given_up) }
}

/** A call that waits or was given up. */
export interface UnfinishedCall {
  kind: IntentKind
  subscriptionId: string
  attempts: number
  lastError: string | null
  isGivenUp: boolean
  createdAt: EpochMs
}

/** The oldest first. Ids are ours. */
export async function findUnfinished(db: Db, environmentId: string, limit: number): Promise<UnfinishedCall[]> {
  const rows = await db.billingIntent.findMany({
    where: { environmentId, state: { not: 'DONE' } },
    orderBy: { sequence: 'asc' },
    take: limit,
  })
  return rows.map(({ kind, subscriptionId, attempts, lastError, state, createdAt }) => ({
    kind,
    subscriptionId,
    attempts,
    lastError,
    isGivenUp: state === 'GIVEN_UP',
    createdAt: createdAt.getTime(),
  }))
}

/** An invoice that is to be taken back, because nobody has paid it in time. */
interface Overdue {
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

/** Of one environment, or of all. */
const ofEnvironment = (column: string, environmentId: string | null): Prisma.Sql =>
  environmentId === null ? Prisma.empty : Prisma.sql`AND ${Prisma.raw(column)} = ${environmentId}::uuid`

/** First payments whose deadline has passed. */
export async function findOverduePayments(db: Db, limit: number, environmentId: string | null): Promise<Overdue[]> {
  const rows = await db.$queryRaw<OverdueRow[]>(Prisma.sql`
    SELECT billing.environment_id, billing.subscription_id, invoice.customer_id, invoice.id AS invoice_id
    FROM subscription_billing AS billing
    CROSS JOIN LATERAL (
      SELECT id, customer_id FROM invoice
      WHERE environment_id = billing.environment_id AND subscription_id = billing.subscription_id ORDER BY created_at, id LIMIT 1
    ) AS invoice
    WHERE billing.payment_due_at <= to_timestamp(environment_clock(billing.environment_id) / 1000.0) ${ofEnvironment('billing.environment_id', environmentId)}
    ORDER BY billing.payment_due_at LIMIT ${limit}`)
  return rows.map(toOverdue)
}

/** Invoices of running subscriptions whose payment has been missing for longer than `days`. */
export async function findUncollected(db: Db, days: number, limit: number, environmentId: string | null): Promise<Overdue[]> {
  const rows = await db.$queryRaw<OverdueRow[]>(Prisma.sql`
    SELECT environment_id, subscription_id, customer_id, id AS invoice_id FROM invoice
    WHERE failed_since <= to_timestamp(environment_clock(environment_id) / 1000.0) - ${days} * interval '1 day' ${ofEnvironment('environment_id', environmentId)}
    ORDER BY failed_since LIMIT ${limit}`)
  return rows.map(toOverdue)
}

/** Subscriptions that have ended, and of which nothing can come late any more. */
export async function findLateUsageDue(
  db: Db,
  limit: number,
  environmentId: string | null,
): Promise<{ environmentId: string; subscriptionId: string }[]> {
  const rows = await db.$queryRaw<{ environment_id: string; subscription_id: string }[]>(Prisma.sql`
    SELECT environment_id, subscription_id FROM subscription_billing
    WHERE late_usage_due_at <= to_timestamp(environment_clock(environment_id) / 1000.0) ${ofEnvironment('environment_id', environmentId)}
    ORDER BY late_usage_due_at LIMIT ${limit}`)
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

/** Whether somebody is making a call of the environment just now that is due. One that has failed is not waited for. */
export async function isCallUnderWay(db: Db, environmentId: string): Promise<boolean> {
  const [row] = await db.$queryRaw<{ is_under_way: boolean }[]>(Prisma.sql`
    SELECT EXISTS (
      SELECT FROM billing_intent
      WHERE environment_id = ${environmentId}::uuid AND state = 'WAITING' AND last_error IS NULL AND leased_until > clock_timestamp()
        AND next_attempt_at <= to_timestamp(environment_clock(environment_id) / 1000.0)
    ) AS is_under_way`)
  return row!.is_under_way
}

const toOverdue = (row: OverdueRow): Overdue => ({
  environmentId: row.environment_id,
  subscriptionId: row.subscription_id,
  customerId: row.customer_id,
  invoiceId: row.invoice_id,
})

/** The key of the call that makes an invoice. */
export const creationKey = (invoiceId: string): string => `invoice:${invoiceId}`

const voidKey = (invoiceId: string): string => `void:${invoiceId}`

/** The call that takes an invoice back; the same call whoever writes it down. */
export const voidOf = (
  { environmentId, subscriptionId, customerId, invoiceId }: Overdue,
  endsBy: EndsBy | null = null,
): Omit<Intent, 'id' | 'attempts'> => ({
  environmentId,
  subscriptionId,
  customerId,
  kind: 'VOID',
  idempotencyKey: voidKey(invoiceId),
  invoiceId,
  endsBy,
})
