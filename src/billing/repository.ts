import { Temporal } from 'temporal-polyfill'
import type { EpochMs } from '../kernel/clock.js'
import * as decimal from '../kernel/decimal.js'
import { newId } from '../kernel/id.js'
import { type Db, Prisma } from '../platform/postgres.js'
import type { Account } from './account.js'
import type { CollectionMethod, Draft, Invoice, InvoiceReason, Line } from './model.js'
import type { ProviderInvoice } from './provider.js'

const toDecimal = (value: Prisma.Decimal): decimal.Decimal => decimal.fromText(value.toFixed())
const toJson = (value: unknown): Prisma.InputJsonObject => value as Prisma.InputJsonObject

export interface StoredAccount {
  subscriptionId: string
  account: Account
  /** Until when the first payment is waited for. */
  paymentDueAt: EpochMs | null
  syncError: string | null
}

/** By subscription. Those that were never charged are absent. */
export async function findAccounts(db: Db, environmentId: string, subscriptionIds: string[]): Promise<Map<string, StoredAccount>> {
  if (subscriptionIds.length === 0) return new Map()
  const rows = await db.subscriptionBilling.findMany({ where: { environmentId, subscriptionId: { in: subscriptionIds } } })
  return new Map(
    rows.map(({ subscriptionId, account, paymentDueAt, syncError }) => [
      subscriptionId,
      { subscriptionId, account: account as unknown as Account, paymentDueAt: paymentDueAt?.getTime() ?? null, syncError },
    ]),
  )
}

export async function saveAccount(
  db: Db,
  environmentId: string,
  subscriptionId: string,
  { account, paymentDueAt }: { account: Account; paymentDueAt?: EpochMs | null },
): Promise<void> {
  const columns = {
    account: toJson(account),
    collectionMethod: account.terms.collectionMethod,
    couponId: account.terms.discount?.couponId ?? null,
    ...(paymentDueAt === undefined ? {} : { paymentDueAt: paymentDueAt === null ? null : new Date(paymentDueAt) }),
  }
  await db.subscriptionBilling.upsert({
    where: { environmentId_subscriptionId: { environmentId, subscriptionId } },
    create: { environmentId, subscriptionId, ...columns },
    update: columns,
  })
}

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
    creditApplied: decimal.Decimal
    amountDue: decimal.Decimal
    createdAt: EpochMs
  },
  { lines, period, ...draft }: Draft,
): Promise<string> {
  const { environmentId, createdAt, ...columns } = facts
  const id = newId()
  const { reason, currency, subTotal, discount, tax, total } = draft
  await db.invoice.create({
    data: {
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
      dueDate: facts.collectionMethod === 'INVOICE' ? new Date(dueDateOf(createdAt)) : null,
    },
  })
  await db.invoiceLine.createMany({
    data: lines.map(({ type, period: { start, end }, ...line }, position) => ({
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
    })),
  })
  return id
}

const daysUntilDue = 30
const dueDateOf = (at: EpochMs): EpochMs => Temporal.Instant.fromEpochMilliseconds(at).add({ hours: 24 * daysUntilDue }).epochMilliseconds

export async function findInvoice(db: Db, environmentId: string, by: { id: string } | { billingId: string }): Promise<Invoice | null> {
  const row = await db.invoice.findFirst({ where: { environmentId, ...by }, include: withLines })
  return row && fromRow(row)
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

/** What the provider told becomes the mirror. Older news than what it has change nothing; answers whether it changed. */
export async function mirrorInvoice(
  db: Db,
  environmentId: string,
  id: string,
  news: ProviderInvoice,
  failedSince: EpochMs | null,
): Promise<boolean> {
  const { billingId, number, status, revision, requiresAction, attemptCount, paymentUrl, paymentSecret, errorMessage, refundedAmount } =
    news
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
    },
  })
  return count === 1
}

/** What the customer has to its credit in the currency: invoices below zero, less what others have used of them. */
export async function findBalance(db: Db, environmentId: string, customerId: string, currency: string): Promise<decimal.Decimal> {
  const rows = await db.$queryRaw<{ balance: string }[]>(Prisma.sql`
    SELECT coalesce(sum(greatest(-total, 0) - credit_applied), 0)::text AS balance FROM invoice
    WHERE environment_id = ${environmentId}::uuid AND customer_id = ${customerId}::uuid AND currency = ${currency} AND status <> 'CANCELED'`)
  return decimal.fromText(rows[0]!.balance)
}

export interface BillingCoupon {
  id: string
  refId: string
  name: string
  percentOff: decimal.Decimal | null
  amountsOff: { amount: decimal.Decimal; currency: string }[] | null
  durationInMonths: number | null
  status: 'ACTIVE' | 'ARCHIVED'
  maxRedemptions: number | null
}

/** `lock`: nobody else gives it away until the transaction ends. */
export async function findCoupon(
  db: Db,
  environmentId: string,
  by: { refId: string } | { id: string },
  { lock }: { lock: boolean },
): Promise<BillingCoupon | null> {
  const row = await db.coupon.findFirst({ where: { environmentId, ...by } })
  if (!row) return null
  if (lock)
    await db.$queryRaw(Prisma.sql`SELECT FROM coupon WHERE environment_id = ${environmentId}::uuid AND id = ${row.id}::uuid FOR UPDATE`)
  const amounts = row.amountsOff as { amount: string | number; currency: string }[] | null
  return {
    id: row.id,
    refId: row.refId,
    name: row.name,
    percentOff: row.percentOff && toDecimal(row.percentOff),
    amountsOff: amounts?.map(({ amount, currency }) => ({ amount: decimal.fromText(String(amount)), currency })) ?? null,
    durationInMonths: row.durationInMonths,
    status: row.status,
    maxRedemptions: row.maxRedemptions,
  }
}

/** Of the customer itself. */
export async function findCustomerCouponId(db: Db, environmentId: string, customerId: string): Promise<string | null> {
  const row = await db.customer.findUnique({ where: { environmentId_id: { environmentId, id: customerId } }, select: { couponId: true } })
  return row?.couponId ?? null
}

/** Counts the coupon as given to the subscription, under the coupon's lock; false: it has been given to as many as it may. A repeat is one. */
export async function redeem(db: Db, environmentId: string, coupon: BillingCoupon, subscriptionId: string): Promise<boolean> {
  const data = [{ environmentId, couponId: coupon.id, subscriptionId }]
  const { count } = await db.couponRedemption.createMany({ data, skipDuplicates: true })
  if (count === 0 || coupon.maxRedemptions === null) return true
  return (await db.couponRedemption.count({ where: { environmentId, couponId: coupon.id } })) <= coupon.maxRedemptions
}
