import { Temporal } from 'temporal-polyfill'
import { recordAudit } from '../../audit/record/record.js'
import type { EpochMs } from '../../kernel/clock.js'
import * as decimal from '../../kernel/decimal.js'
import { newId } from '../../kernel/id.js'
import { type Db, Prisma } from '../../platform/postgres.js'
import { insertRows, oncePerGroup, type Row, toRow } from '../../platform/transaction-group.js'
import type { Account } from '../rules/account.js'
import { auditedInvoice, invoiceState, newInvoice } from '../rules/audited.js'
import { fundingOf } from '../rules/balance.js'
import type { CollectionMethod, Draft, Invoice, InvoiceReason, Line } from '../rules/billing.js'
import type { Charge } from '../rules/credit.js'
import type { KnownInvoice } from '../rules/provider.js'

const toDecimal = (value: Prisma.Decimal): decimal.Decimal => decimal.fromText(value.toFixed())
const toJson = (value: unknown): Prisma.InputJsonObject => value as Prisma.InputJsonObject

interface StoredAccount {
  subscriptionId: string
  account: Account
  /** Until when the first payment is waited for. */
  paymentDueAt: EpochMs | null
  syncError: string | null
}

/** By subscription. Those that were never charged are absent. */
export async function findAccounts(db: Db, environmentId: string, subscriptionIds: string[]): Promise<Map<string, StoredAccount>> {
  if (subscriptionIds.length === 0) return new Map()
  const rows = await accountsOf(db, { environmentId, subscriptionIds })
  return new Map(
    rows.map(({ subscriptionId, account, paymentDueAt, syncError }) => [
      subscriptionId,
      { subscriptionId, account: account as unknown as Account, paymentDueAt: paymentDueAt?.getTime() ?? null, syncError },
    ]),
  )
}

const accountsOf = oncePerGroup(async (db, all: { environmentId: string; subscriptionIds: string[] }[]) => {
  const environmentIds = [...new Set(all.map(({ environmentId }) => environmentId))]
  const ids = all.flatMap(({ subscriptionIds }) => subscriptionIds)
  const rows = await db.subscriptionBilling.findMany({ where: { environmentId: { in: environmentIds }, subscriptionId: { in: ids } } })
  return all.map(({ environmentId, subscriptionIds }) =>
    rows.filter((row) => row.environmentId === environmentId && subscriptionIds.includes(row.subscriptionId)),
  )
})

export async function saveAccount(
  db: Db,
  environmentId: string,
  subscriptionId: string,
  { account, lateUsageDueAt, paymentDueAt }: { account: Account; lateUsageDueAt: EpochMs | null; paymentDueAt?: EpochMs | null },
): Promise<void> {
  const columns = {
    account: toJson(account),
    collectionMethod: account.terms.collectionMethod,
    couponId: account.terms.discount?.couponId ?? null,
    lateUsageDueAt: lateUsageDueAt === null ? null : new Date(lateUsageDueAt),
    ...(paymentDueAt === undefined ? {} : { paymentDueAt: paymentDueAt === null ? null : new Date(paymentDueAt) }),
  }
  await putAccount(db, toRow({ environmentId, subscriptionId, ...columns }))
}

const putAccount = oncePerGroup(async (db, rows: Row[]) => {
  // A deadline is written only where it is given.
  for (const some of [rows.filter((row) => 'payment_due_at' in row), rows.filter((row) => !('payment_due_at' in row))]) {
    if (some.length === 0) continue
    const changed = [...Object.keys(some[0]!).map((column) => `${column} = excluded.${column}`), 'updated_at = clock_timestamp()']
    await insertRows(db, 'subscription_billing', some, `ON CONFLICT (environment_id, subscription_id) DO UPDATE SET ${changed.join()}`)
  }
  return rows
})

export async function saveSyncError(db: Db, environmentId: string, subscriptionId: string, syncError: string | null): Promise<void> {
  await db.subscriptionBilling.updateMany({ where: { environmentId, subscriptionId }, data: { syncError } })
}

export async function clearPaymentDeadline(db: Db, environmentId: string, subscriptionId: string): Promise<void> {
  await db.subscriptionBilling.updateMany({ where: { environmentId, subscriptionId }, data: { paymentDueAt: null } })
}

/** How the payment of a running subscription is missing, for whichever of its invoices; null: it is not. */
export async function findTrouble(db: Db, environmentId: string, subscriptionId: string): Promise<'FAILED' | 'ACTION_REQUIRED' | null> {
  const missing = await db.invoice.findMany({
    where: { environmentId, subscriptionId, failedSince: { not: null } },
    select: { status: true },
  })
  if (missing.length === 0) return null
  return missing.some(({ status }) => status === 'FAILED') ? 'FAILED' : 'ACTION_REQUIRED'
}

/** It is being taken back: its payment is not missed any more. */
export async function clearFailure(db: Db, environmentId: string, invoiceId: string): Promise<void> {
  await db.invoice.updateMany({ where: { environmentId, id: invoiceId }, data: { failedSince: null } })
}

const withLines = { invoiceLines: { orderBy: { position: 'asc' } } } satisfies Prisma.InvoiceInclude

function fromRow(row: Prisma.InvoiceGetPayload<{ include: typeof withLines }>): Invoice {
  const { invoiceLines, ...columns } = row
  return {
    ...columns,
    reason: row.reason as InvoiceReason,
    subTotal: toDecimal(row.subTotal),
    discount: toDecimal(row.discount),
    tax: toDecimal(row.tax),
    total: toDecimal(row.total),
    creditApplied: toDecimal(row.creditApplied),
    amountDue: toDecimal(row.amountDue),
    refundedAmount: toDecimal(row.refundedAmount),
    dueDate: row.dueDate?.getTime() ?? null,
    failedSince: row.failedSince?.getTime() ?? null,
    providerRevision: Number(row.providerRevision),
    periodStart: row.periodStart.getTime(),
    periodEnd: row.periodEnd.getTime(),
    createdAt: row.createdAt.getTime(),
    updatedAt: row.updatedAt.getTime(),
    lines: invoiceLines.map((line) => ({
      type: line.lineType as Line['type'],
      description: line.description,
      priceId: line.priceId,
      quantity: toDecimal(line.quantity),
      unitAmount: line.unitAmount && toDecimal(line.unitAmount),
      amount: toDecimal(line.amount),
      period: { start: line.periodStart.getTime(), end: line.periodEnd.getTime() },
      isProration: line.isProration,
    })),
  }
}

export async function insertInvoice(
  db: Db,
  facts: {
    environmentId: string
    subscriptionId: string
    customerId: string
    collectionMethod: CollectionMethod
    /** Null or absent: 30. */
    daysUntilDue?: number | null
    creditApplied: decimal.Decimal
    amountDue: decimal.Decimal
    createdAt: EpochMs
  },
  { id, lines, period, ...draft }: Draft & { id: string },
): Promise<void> {
  const { environmentId, createdAt, daysUntilDue, ...columns } = facts
  recordAudit(db, auditedInvoice(environmentId, id, null, newInvoice(facts, { ...draft, period })))
  const { reason, currency, subTotal, discount, tax, total } = draft
  await addInvoice(
    db,
    toRow({
      environmentId,
      id,
      ...columns,
      reason,
      currency,
      subTotal,
      discount,
      tax,
      total,
      status: 'OPEN',
      periodStart: new Date(period.start),
      periodEnd: new Date(period.end),
      createdAt: new Date(createdAt),
      dueDate: facts.collectionMethod === 'INVOICE' ? new Date(dueDateOf(createdAt, daysUntilDue ?? usualDaysUntilDue)) : null,
    }),
  )
  const rows = lines.map(({ type, period: { start, end }, ...line }, position) => ({
    environmentId,
    id: newId(),
    invoiceId: id,
    position,
    lineType: type,
    description: line.description,
    priceId: line.priceId,
    quantity: line.quantity,
    unitAmount: line.unitAmount,
    amount: line.amount,
    isProration: line.isProration,
    periodStart: new Date(start),
    periodEnd: new Date(end),
  }))
  await addInvoiceLines(db, rows.map(toRow))
}

const addInvoice = oncePerGroup(async (db, rows: Row[]) => {
  await insertRows(db, 'invoice', rows)
  return rows
})

const addInvoiceLines = oncePerGroup(async (db, all: Row[][]) => {
  const rows = all.flat()
  if (rows.length > 0) await insertRows(db, 'invoice_line', rows)
  return all
})

const usualDaysUntilDue = 30
const dueDateOf = (at: EpochMs, days: number): EpochMs =>
  Temporal.Instant.fromEpochMilliseconds(at).add({ hours: 24 * days }).epochMilliseconds

export async function findInvoice(db: Db, environmentId: string, by: { id: string } | { billingId: string }): Promise<Invoice | null> {
  const row = await db.invoice.findFirst({ where: { environmentId, ...by }, include: withLines })
  return row && fromRow(row)
}

/** By their ids. */
export async function findInvoicesById(db: Db, environmentId: string, ids: readonly string[]): Promise<Map<string, Invoice>> {
  const rows = await db.invoice.findMany({ where: { environmentId, id: { in: [...ids] } }, include: withLines })
  return new Map(rows.map((row) => [row.id, fromRow(row)]))
}

/** Of each subscription the newest that the provider has; those without one are absent. */
export async function findLatestInvoices(db: Db, environmentId: string, subscriptionIds: string[]): Promise<Map<string, Invoice>> {
  if (subscriptionIds.length === 0) return new Map()
  const latest = await db.$queryRaw<{ id: string }[]>(Prisma.sql`
    SELECT newest.id FROM unnest(${subscriptionIds}::uuid[]) AS asked (subscription_id)
    CROSS JOIN LATERAL (
      SELECT id FROM invoice
      WHERE environment_id = ${environmentId}::uuid AND subscription_id = asked.subscription_id AND billing_id IS NOT NULL
      ORDER BY created_at DESC, id DESC LIMIT 1
    ) AS newest`)
  const rows = await db.invoice.findMany({ where: { environmentId, id: { in: latest.map(({ id }) => id) } }, include: withLines })
  return new Map(rows.map((row) => [row.subscriptionId, fromRow(row)]))
}

/** Of subscriptions, the newest first. */
export async function findInvoices(db: Db, environmentId: string, subscriptionIds: readonly string[]): Promise<Invoice[]> {
  const where = { environmentId, subscriptionId: { in: [...subscriptionIds] } }
  const rows = await db.invoice.findMany({ where, include: withLines, orderBy: [{ createdAt: 'desc' }, { id: 'desc' }] })
  return rows.map(fromRow)
}

/** How invoices are paid, by their id; those that are not there are absent. */
export function findCharges(db: Db, environmentId: string, ids: readonly string[]): Promise<Map<string, Charge>> {
  return chargesOf(db, { environmentId, ids })
}

const chargesOf = oncePerGroup(async (db, all: { environmentId: string; ids: readonly string[] }[]) => {
  const ids = [...new Set(all.flatMap((asked) => asked.ids))]
  if (ids.length === 0) return all.map(() => new Map<string, Charge>())
  const environmentIds = [...new Set(all.map(({ environmentId }) => environmentId))]
  const select = { environmentId: true, id: true, customerId: true, status: true, hasFailed: true, refundedAmount: true } as const
  const rows = await db.invoice.findMany({ where: { environmentId: { in: environmentIds }, id: { in: ids } }, select })
  return all.map((asked) => {
    const own = rows.filter(({ environmentId, id }) => environmentId === asked.environmentId && asked.ids.includes(id))
    const toCharge = ({ customerId: payerId, ...row }: (typeof rows)[number]): Charge => {
      return { payerId, funding: fundingOf({ ...row, refundedAmount: toDecimal(row.refundedAmount) }) }
    }
    return new Map(own.map((row) => [row.id, toCharge(row)]))
  })
})

/** What the provider told becomes the mirror. Older news than what it has change nothing; answers whether it changed. */
export async function mirrorInvoice(db: Db, before: Invoice, news: KnownInvoice, failedSince: EpochMs | null): Promise<boolean> {
  const { billingId, number, status, revision, requiresAction, attemptCount, paymentUrl, paymentSecret, errorMessage, refundedAmount } =
    news
  const { environmentId, id } = before
  const isFailure = status === 'FAILED' || requiresAction
  const { count } = await db.invoice.updateMany({
    where: { environmentId, id, providerRevision: { lt: revision } },
    data: {
      billingId,
      number,
      status,
      requiresAction,
      attemptCount,
      paymentUrl,
      paymentSecret,
      errorMessage,
      refundedAmount,
      providerRevision: revision,
      failedSince: failedSince === null ? null : new Date(failedSince),
      ...(isFailure && { hasFailed: true }),
    },
  })
  if (count === 1) recordAudit(db, auditedInvoice(environmentId, id, invoiceState(before), invoiceState({ ...before, ...news })))
  return count === 1
}
