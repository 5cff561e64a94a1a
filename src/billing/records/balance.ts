/** What payers have to their credit: the table `balance_entry`, to which rows are only added. */
import { recordAudit } from '../../audit/record/record.js'
import type { EpochMs } from '../../kernel/clock.js'
import * as decimal from '../../kernel/decimal.js'
import { type Db, Prisma } from '../../platform/postgres.js'
import { insertRows, oncePerGroup, toRow } from '../../platform/transaction-group.js'
import { auditedEntry } from '../rules/audited.js'
import { amountDueOf, balanceAfter, type Entry, type EntryKind, entriesOf } from '../rules/balance.js'
import type { Credit } from '../rules/billing.js'

/** An invoice that is being made, as far as its payer's balance is concerned. */
export interface Document {
  environmentId: string
  id: string
  /** The payer. */
  customerId: string
  currency: string
  total: decimal.Decimal
  credits?: Credit[]
  at: EpochMs
}

interface Payer {
  environmentId: string
  customerId: string
  currency: string
}

const keyOf = ({ environmentId, customerId, currency }: Payer): string => `${environmentId} ${customerId} ${currency}`

/** What may be spent; below 0: what is owed. */
export async function findBalance(db: Db, environmentId: string, customerId: string, currency: string): Promise<decimal.Decimal> {
  const payer = { environmentId, customerId, currency }
  return (await findBalances(db, [payer])).get(keyOf(payer)) ?? decimal.zero
}

/** Those without an entry are absent. */
async function findBalances(db: Db, payers: readonly Payer[]): Promise<Map<string, decimal.Decimal>> {
  const rows = await db.$queryRaw<{ environment_id: string; customer_id: string; currency: string; balance: string }[]>(Prisma.sql`
    SELECT environment_id, customer_id, currency, sum(amount)::text AS balance FROM balance_entry
    WHERE (environment_id, customer_id, currency) IN (SELECT * FROM unnest(${payers.map(({ environmentId }) => environmentId)}::uuid[],
        ${payers.map(({ customerId }) => customerId)}::uuid[], ${payers.map(({ currency }) => currency)}::text[]))
      AND kind NOT IN ('WAITING', 'DROPPED')
    GROUP BY environment_id, customer_id, currency`)
  return new Map(
    rows.map((row) => [
      keyOf({ environmentId: row.environment_id, customerId: row.customer_id, currency: row.currency }),
      decimal.fromText(row.balance),
    ]),
  )
}

/**
 * Enters what the invoices take from their payers' balances and give to them, in their order; answers what is left to be paid of each. A balance is held
 * until the transaction ends, so that nobody else spends it: those of several payers are taken in one order, the same for everybody.
 */
export const enterInvoices = oncePerGroup(async (db: Db, all: (readonly Document[])[]): Promise<decimal.Decimal[][]> => {
  const documents = all.flat()
  if (documents.length === 0) return all.map(() => [])
  await lockBalances(db, documents)
  const balances = await findBalances(db, documents)
  const rows: object[] = []
  const amountsDue = all.map((own) =>
    own.map((document) => {
      const { environmentId, total, at } = document
      const key = keyOf(document)
      const balance = balances.get(key) ?? decimal.zero
      balances.set(key, balanceAfter(balance, total))
      const amountDue = amountDueOf(total, balance)
      rows.push(...entriesOf({ ...document, amountDue }).map((entry) => toEntryRow(environmentId, entry, at)))
      return amountDue
    }),
  )
  await insertEntryRows(db, rows)
  return amountsDue
})

async function lockBalances(db: Db, payers: readonly Payer[]): Promise<void> {
  const keys = [...new Set(payers.map(({ environmentId, customerId }) => `balance ${environmentId} ${customerId}`))]
  // In the order of the locks themselves: two names may share one.
  await db.$executeRaw(Prisma.sql`
    SELECT pg_advisory_xact_lock(lock) FROM (
      SELECT DISTINCT hashtextextended(name, 0) AS lock FROM unnest(${keys}::text[]) AS asked (name) ORDER BY lock
    ) AS ordered`)
}

/** Entered again, an entry is the same. */
export async function insertEntries(db: Db, environmentId: string, entries: readonly Entry[], at: EpochMs): Promise<void> {
  for (const entry of entries) recordAudit(db, auditedEntry(environmentId, entry))
  await enterRows(
    db,
    entries.map((entry) => toEntryRow(environmentId, entry, at)),
  )
}

const enterRows = oncePerGroup(async (db: Db, all: object[][]) => {
  await insertEntryRows(db, all.flat())
  return all
})

async function insertEntryRows(db: Db, rows: readonly object[]): Promise<void> {
  if (rows.length > 0)
    await insertRows(
      db,
      'balance_entry',
      rows.map((row) => toRow({ ...row })),
      'ON CONFLICT DO NOTHING',
    )
}

const toEntryRow = (environmentId: string, { invoiceId, chargeId, kind, customerId, currency, amount }: Entry, at: EpochMs) => ({
  environmentId,
  invoiceId,
  chargeId,
  kind,
  customerId,
  currency,
  amount,
  createdAt: new Date(at),
})

/** All that the invoice caused, all about what it charged, and all about what is credited on it. */
export async function findEntries(db: Db, environmentId: string, invoiceId: string): Promise<Entry[]> {
  const own = await db.balanceEntry.findMany({ where: { environmentId, invoiceId }, select: { chargeId: true } })
  const chargeIds = [...new Set([invoiceId, ...own.map(({ chargeId }) => chargeId)])]
  const rows = await db.balanceEntry.findMany({
    where: { environmentId, OR: [{ invoiceId }, { chargeId: { in: chargeIds } }] },
    orderBy: [{ createdAt: 'asc' }, { invoiceId: 'asc' }, { chargeId: 'asc' }, { kind: 'asc' }],
  })
  return rows.map(({ environmentId: _, createdAt: __, kind, amount, ...row }) => ({
    ...row,
    kind: kind as EntryKind,
    amount: decimal.fromText(amount.toFixed()),
  }))
}
