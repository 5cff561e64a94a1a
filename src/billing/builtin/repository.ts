import { recordAudit } from '../../audit/record/record.js'
import { recordEvents } from '../../changes/events.js'
import { findCustomer } from '../../customer/records/customers.js'
import type { Decimal } from '../../kernel/decimal.js'
import { fromText } from '../../kernel/decimal.js'
import { newId } from '../../kernel/id.js'
import { Prisma, type PrismaClient } from '../../platform/postgres.js'
import { inTransaction } from '../../platform/transaction.js'
import { auditedPaymentMethod, auditedTaxRate } from '../rules/audited.js'
import type { Draft, InvoiceStatus } from '../rules/billing.js'
import type { TaxRate } from '../rules/provider.js'

export interface BuiltinInvoiceRow {
  id: string
  number: string
  customerId: string
  status: InvoiceStatus
  revision: number
  amountDue: Decimal
  refundedAmount: Decimal
  requiresAction: boolean
  attemptCount: number
  paymentToken: string | null
  errorMessage: string | null
}

/** Tables of the builtin provider. Transactions of its own: for the platform this is a network call. */
export class BuiltinRepository {
  readonly #prisma: PrismaClient

  constructor(prisma: PrismaClient) {
    this.#prisma = prisma
  }

  /** The invoice with the key, made when there is none. */
  createInvoice({
    environmentId,
    customerId,
    idempotencyKey,
    currency,
    amountDue,
    document,
    paymentToken,
    decide,
  }: {
    environmentId: string
    customerId: string
    idempotencyKey: string
    currency: string
    amountDue: Decimal
    document: Draft
    paymentToken: string
    decide: (hasPaymentMethod: boolean) => Pick<BuiltinInvoiceRow, 'status' | 'attemptCount'>
  }): Promise<BuiltinInvoiceRow> {
    return inTransaction(this.#prisma, async (db) => {
      // The row of numbers is everybody's turn: whoever has the key was before us, or comes after.
      const [counter] = await db.$queryRaw<{ last_number: bigint }[]>(Prisma.sql`
        INSERT INTO builtin_invoice_number AS counter (environment_id, last_number) VALUES (${environmentId}::uuid, 0)
        ON CONFLICT (environment_id) DO UPDATE SET last_number = counter.last_number RETURNING last_number`)
      const made = await db.builtinInvoice.findUnique({ where: { environmentId_idempotencyKey: { environmentId, idempotencyKey } } })
      if (made) return fromRow(made)
      const method = await db.builtinPaymentMethod.findUnique({ where: { environmentId_customerId: { environmentId, customerId } } })
      const lastNumber = counter!.last_number + 1n
      await db.builtinInvoiceNumber.update({ where: { environmentId }, data: { lastNumber } })
      const row = await db.builtinInvoice.create({
        data: {
          environmentId,
          id: `in_${newId().replaceAll('-', '')}`,
          number: `INV-${String(lastNumber).padStart(6, '0')}`,
          customerId,
          idempotencyKey,
          currency,
          amountDue,
          document: document as unknown as Prisma.InputJsonObject,
          paymentToken,
          ...decide(method !== null),
        },
      })
      return fromRow(row)
    })
  }

  /**
   * Changes an invoice under its lock; its revision grows when something changed. With a key that was seen before, the invoice is only answered.
   * Null: there is none.
   */
  change(
    { environmentId, billingId, idempotencyKey }: { environmentId: string; billingId: string; idempotencyKey: string | null },
    change: (row: BuiltinInvoiceRow, hasPaymentMethod: boolean) => BuiltinInvoiceRow,
  ): Promise<BuiltinInvoiceRow | null> {
    return inTransaction(this.#prisma, async (db) => {
      await db.$queryRaw(Prisma.sql`
        SELECT FROM builtin_invoice WHERE environment_id = ${environmentId}::uuid AND id = ${billingId} FOR UPDATE`)
      const where = { environmentId_id: { environmentId, id: billingId } }
      const found = await db.builtinInvoice.findUnique({ where })
      if (!found) return null
      const before = fromRow(found)
      if (idempotencyKey !== null) {
        const data = [{ environmentId, idempotencyKey, invoiceId: billingId }]
        const { count } = await db.builtinRequest.createMany({ data, skipDuplicates: true })
        if (count === 0) return before
      }
      const method = await db.builtinPaymentMethod.findUnique({
        where: { environmentId_customerId: { environmentId, customerId: before.customerId } },
      })
      const after = change(before, method !== null)
      if (after === before) return before
      const { status, refundedAmount, requiresAction, attemptCount, errorMessage } = after
      const revision = BigInt(before.revision + 1)
      return fromRow(
        await db.builtinInvoice.update({ where, data: { status, refundedAmount, requiresAction, attemptCount, errorMessage, revision } }),
      )
    })
  }

  findPaymentMethods(environmentId: string, customerIds: readonly string[]): Promise<{ customerId: string; reference: string }[]> {
    return this.#prisma.builtinPaymentMethod.findMany({ where: { environmentId, customerId: { in: [...customerIds] } } })
  }

  /** `ids` null: all. */
  async findTaxRates(environmentId: string, ids: readonly string[] | null): Promise<TaxRate[]> {
    const where = { environmentId, ...(ids && { id: { in: [...ids] } }) }
    const rows = await this.#prisma.builtinTaxRate.findMany({ where, orderBy: { id: 'asc' } })
    return rows.map(toTaxRate)
  }

  async saveTaxRate(environmentId: string, { id, ...facts }: TaxRate): Promise<void> {
    const where = { environmentId_id: { environmentId, id } }
    await inTransaction(this.#prisma, async (db) => {
      const found = await db.builtinTaxRate.findUnique({ where })
      await db.builtinTaxRate.upsert({ where, create: { environmentId, id, ...facts }, update: facts })
      recordAudit(db, auditedTaxRate(environmentId, found && toTaxRate(found), { id, ...facts }))
    })
  }

  async setPaymentMethod(environmentId: string, customerId: string, reference: string | null): Promise<void> {
    const where = { environmentId_customerId: { environmentId, customerId } }
    await inTransaction(this.#prisma, async (db) => {
      const found = await db.builtinPaymentMethod.findUnique({ where })
      if (found?.reference === reference || (!found && reference === null)) return
      if (reference === null) await db.builtinPaymentMethod.delete({ where })
      else await db.builtinPaymentMethod.upsert({ where, create: { environmentId, customerId, reference }, update: { reference } })
      const customer = (await findCustomer(db, environmentId, { id: customerId }))!
      recordAudit(db, auditedPaymentMethod(environmentId, customer.refId, found?.reference ?? null, reference))
      await recordEvents(db, environmentId, async () => [
        { type: 'payment_method.changed', customerId, data: { customerId: customer.refId, hasPaymentMethod: reference !== null } },
      ])
    })
  }
}

const toTaxRate = ({ id, displayName, percentage }: Prisma.BuiltinTaxRateGetPayload<object>): TaxRate => ({
  id,
  displayName,
  percentage: fromText(percentage.toFixed()),
})

function fromRow(row: Prisma.BuiltinInvoiceGetPayload<object>): BuiltinInvoiceRow {
  const { id, number, customerId, status, requiresAction, attemptCount, paymentToken, errorMessage } = row
  return {
    id,
    number,
    customerId,
    status,
    requiresAction,
    attemptCount,
    paymentToken,
    errorMessage,
    revision: Number(row.revision),
    amountDue: fromText(row.amountDue.toFixed()),
    refundedAmount: fromText(row.refundedAmount.toFixed()),
  }
}
