import { recordAudit } from '../../audit/record/record.js'
import type { EpochMs } from '../../kernel/clock.js'
import { newId } from '../../kernel/id.js'
import { type Db, Prisma } from '../../platform/postgres.js'
import { busyEnvironments } from '../../platform/sql.js'
import { insertRows, oncePerGroup, type Row, toRow } from '../../platform/transaction-group.js'
import type { EndsBy } from '../rules/billing.js'
import { rangeOf } from './due.js'

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

/** A subscription with a call that waits, or is under way, and who is to pay. */
export type Waiting = Pick<Intent, 'environmentId' | 'subscriptionId' | 'customerId'>

/** More than there are processes that look at once. */
const mostLookedAt = 20

/**
 * Takes the call of the scope that has waited longest, for `leaseMs`: who dies with it leaves it to the next. Of a subscription they are made in the order in
 * which they were written: a later one is not taken before the earlier ones are done. Null: none waits.
 */
export async function claimIntent(db: Db, { leaseMs, of }: { leaseMs: number; of: IntentScope }): Promise<Intent | null> {
  const { environmentId, subscriptionId } = of
  if (subscriptionId !== undefined) return claimOf(db, leaseMs, { environmentId, subscriptionId })
  // Of those that all look at, each takes the first that no other has taken.
  for (const one of await findWaiting(db, { environmentId, underWay: [], mostOfOne: mostLookedAt, limit: mostLookedAt })) {
    const intent = await claimOf(db, leaseMs, one)
    if (intent) return intent
  }
  return null
}

/**
 * Whose calls are to be made next, at most `limit`, of one environment or of all (null). Of an environment no more than `mostOfOne` with those that are under
 * way; first those of environments with few, then those that wait longest. Nobody twice at a time: what is of the same subscription or payer as a call that is
 * under way waits for it. Those that were never tried are found by their time, others by when they may be tried again.
 */
export async function findWaiting(
  db: Db,
  {
    environmentId,
    underWay,
    mostOfOne,
    limit,
  }: { environmentId: string | null; underWay: readonly Waiting[]; mostOfOne: number; limit: number },
): Promise<Waiting[]> {
  const range = rangeOf(environmentId)
  const [environments, subscriptions, payers] = (['environmentId', 'subscriptionId', 'customerId'] as const).map((key) =>
    underWay.map((one) => one[key]),
  )
  // The time of each environment is found out first: asked in the condition it would be asked for each call, and no index could be gone by.
  const rows = await db.$queryRaw<Pick<IntentRow, 'environment_id' | 'subscription_id' | 'customer_id'>[]>(Prisma.sql`
    WITH RECURSIVE ${busyEnvironments('billing_intent', "state = 'WAITING'", range)}
    SELECT environment.id AS environment_id, found.subscription_id, found.customer_id
    FROM (
      SELECT environment_id AS id, to_timestamp(environment_clock(environment_id) / 1000.0) AS now, clock_timestamp() AS real_now,
        (SELECT count(*) FROM unnest(${environments}::uuid[]) AS held (id) WHERE held.id = busy.environment_id) AS under_way
      FROM busy WHERE environment_id IS NOT NULL OFFSET 0
    ) AS environment CROSS JOIN LATERAL (
      SELECT either.*, environment.under_way + row_number() OVER (ORDER BY next_attempt_at, sequence) AS place FROM (
        (SELECT subscription_id, customer_id, next_attempt_at, sequence FROM billing_intent AS waiting
         WHERE waiting.environment_id = environment.id AND waiting.leased_until IS NULL AND waiting.next_attempt_at <= environment.now AND ${isNext}
           AND NOT waiting.subscription_id = ANY(${subscriptions}::uuid[]) AND NOT waiting.customer_id = ANY(${payers}::uuid[])
         ORDER BY leased_until, next_attempt_at, sequence LIMIT ${mostOfOne})
        UNION ALL
        (SELECT subscription_id, customer_id, next_attempt_at, sequence FROM billing_intent AS waiting
         WHERE waiting.environment_id = environment.id AND waiting.leased_until < environment.real_now AND waiting.next_attempt_at <= environment.now AND ${isNext}
           AND NOT waiting.subscription_id = ANY(${subscriptions}::uuid[]) AND NOT waiting.customer_id = ANY(${payers}::uuid[])
         ORDER BY leased_until, next_attempt_at, sequence LIMIT ${mostOfOne})
      ) AS either
    ) AS found
    WHERE environment.under_way < ${mostOfOne} AND found.place <= ${mostOfOne}
    ORDER BY found.place, found.next_attempt_at, found.sequence LIMIT ${limit}`)
  return rows.map((row) => ({ environmentId: row.environment_id, subscriptionId: row.subscription_id, customerId: row.customer_id }))
}

const isNext = Prisma.sql`waiting.state = 'WAITING' AND NOT EXISTS (
      SELECT FROM billing_intent AS earlier
      WHERE earlier.environment_id = waiting.environment_id AND earlier.subscription_id = waiting.subscription_id
        AND earlier.state = 'WAITING' AND earlier.kind = 'CREATE_INVOICE' AND earlier.sequence < waiting.sequence
    )`

/** Of one subscription. Null: none waits, or somebody else has it. */
export async function claimOf(
  db: Db,
  leaseMs: number,
  { environmentId, subscriptionId }: Pick<Waiting, 'environmentId' | 'subscriptionId'>,
): Promise<Intent | null> {
  const [row] = await db.$queryRaw<IntentRow[]>(Prisma.sql`
    UPDATE billing_intent AS intent
    SET leased_until = clock_timestamp() + ${leaseMs} * interval '1 millisecond', attempts = intent.attempts + 1, updated_at = clock_timestamp()
    FROM (
      SELECT id FROM billing_intent AS waiting
      WHERE waiting.environment_id = ${environmentId}::uuid AND waiting.subscription_id = ${subscriptionId}::uuid
        AND waiting.next_attempt_at <= to_timestamp(environment_clock(waiting.environment_id) / 1000.0)
        AND (waiting.leased_until IS NULL OR waiting.leased_until < clock_timestamp()) AND ${isNext}
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
  return row && { endsBy: (row.payload as { endsBy?: EndsBy }).endsBy ?? null }
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

/** The key of the call that makes an invoice. */
export const creationKey = (invoiceId: string): string => `invoice:${invoiceId}`

const voidKey = (invoiceId: string): string => `void:${invoiceId}`

/** The call that takes an invoice back; the same call whoever writes it down. */
export const voidOf = (
  { environmentId, subscriptionId, customerId, invoiceId }: Pick<Intent, 'environmentId' | 'subscriptionId' | 'customerId' | 'invoiceId'>,
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
