/** What becomes of the invoices of the check's customers, and that no credit is more than what was paid. */
import { expect } from 'chai'
import { newId } from '../../../../src/kernel/id.js'
import type { Bench } from '../fixture.js'
import type { PaymentSpec } from './cases.js'

/** Whether time that an invoice charged for is given back: at once, when it is paid, or never. */
export type Funding = 'given' | 'waits' | 'never'

interface Sum {
  id: string
  status: string
  charged: string
  given: string
}

export class Payments {
  readonly #bench: Bench
  readonly #environmentId: string
  /** Of what something went wrong with. */
  readonly #fundings = new Map<string, Funding>()
  /** How often what was heard. */
  readonly #heard: Record<string, number>

  constructor(bench: Bench, environmentId: string, heard: Record<string, number>) {
    this.#heard = heard
    this.#bench = bench
    this.#environmentId = environmentId
  }

  fundingOf(invoiceId: string): Funding {
    return this.#fundings.get(invoiceId) ?? 'given'
  }

  /** Tells what became of one of the customer's latest invoices (our id of it); of a failed one if there is one to be paid late. */
  async settle(customerId: string, { which, outcome }: PaymentSpec): Promise<void> {
    const { billing, billingProvider, prisma } = this.#bench
    const environmentId = this.#environmentId
    const invoices = await prisma.invoice.findMany({ where: { environmentId, customerId }, orderBy: { id: 'desc' }, take: 4 })
    const failed = await prisma.invoice.findFirst({ where: { environmentId, customerId, status: 'FAILED' }, orderBy: { id: 'asc' } })
    const chosen = (outcome === 'paid late' && failed) || invoices[which]
    if (!chosen) return
    await billing.deliverAll(environmentId, chosen.subscriptionId)
    const { billingId } = await prisma.invoice.findFirstOrThrow({ where: { environmentId, id: chosen.id } })
    if (billingId === null) return
    const call = { environmentId, customerId, idempotencyKey: newId(), signal: AbortSignal.timeout(60_000) }
    const tell = async (news: Parameters<typeof billingProvider.tell>[2]) =>
      billing.hear(environmentId, (await billingProvider.tell(environmentId, billingId, news))!)
    if (outcome === 'failed') await tell({ status: 'FAILED', errorMessage: 'Card declined.' })
    if (outcome === 'taken back') await billing.hear(environmentId, await billingProvider.voidInvoice(call, { billingId }))
    if (outcome.startsWith('paid')) await tell({ status: 'PAID' })
    if (outcome === 'paid, then refunded') await billing.hear(environmentId, await billingProvider.refund(call, { billingId }))
    await this.look(customerId)
    this.#heard[outcome] = (this.#heard[outcome] ?? 0) + 1
  }

  /** By what the provider says of each invoice, which time may have moved too. */
  async look(customerId: string): Promise<void> {
    const rows = await this.#bench.prisma.builtinInvoice.findMany({ where: { environmentId: this.#environmentId, customerId } })
    for (const { idempotencyKey, status, refundedAmount } of rows) {
      const id = idempotencyKey.slice('invoice:'.length)
      const isDead = status === 'CANCELED' || Number(refundedAmount) > 0
      if (isDead) this.#fundings.set(id, 'never')
      else if (status === 'PAID') this.#fundings.set(id, 'given')
      else if (status === 'FAILED') this.#fundings.set(id, 'waits')
    }
  }

  /** Whether something may end by itself because nobody pays. */
  async isMissing(customerId: string): Promise<boolean> {
    return (await this.#bench.prisma.invoice.count({ where: { environmentId: this.#environmentId, customerId, status: 'FAILED' } })) > 0
  }

  /** Of each charge is given back what it charged at most, and nothing of one that is dead. What payers have is what is left of their entries. */
  async check(): Promise<void> {
    const { rows } = await this.#bench.pool.query<Sum>(
      `SELECT invoice.id, CASE WHEN status = 'CANCELED' OR refunded_amount > 0 THEN 'dead' ELSE 'alive' END AS status,
         (total + coalesce((SELECT sum(amount) FROM balance_entry e WHERE e.environment_id = $1 AND e.invoice_id = invoice.id AND e.kind = 'CREDIT'), 0))::float8::text AS charged,
         coalesce((SELECT sum(amount) FROM balance_entry e WHERE e.environment_id = $1 AND e.charge_id = invoice.id AND e.kind IN ('CREDIT', 'RELEASED', 'REVERSED')), 0)::float8::text AS given
       FROM invoice WHERE environment_id = $1`,
      [this.#environmentId],
    )
    for (const { id, status, charged, given } of rows)
      expect(Number(given), `credit for invoice ${id}, ${status}`).to.be.within(0, status === 'dead' ? 0 : Number(charged))
    const { rows: wrong } = await this.#bench.pool.query(
      `SELECT customer_id, currency, sum(due) AS due, sum(entered) AS entered FROM (
         SELECT customer_id, currency, 0 AS due, amount AS entered FROM balance_entry WHERE environment_id = $1 AND kind NOT IN ('WAITING', 'DROPPED')
         UNION ALL
         SELECT customer_id, currency, amount_due - total, 0 FROM invoice WHERE environment_id = $1 AND NOT (status = 'CANCELED' OR refunded_amount > 0)
         UNION ALL
         SELECT customer_id, currency, amount, 0 FROM balance_entry
         WHERE environment_id = $1 AND (kind IN ('RELEASED', 'REVERSED') OR kind = 'CREDIT' AND EXISTS (
           SELECT FROM invoice WHERE environment_id = $1 AND id = invoice_id AND (status = 'CANCELED' OR refunded_amount > 0)))
       ) AS parts GROUP BY customer_id, currency HAVING sum(due) <> sum(entered)`,
      [this.#environmentId],
    )
    expect(wrong, 'balances').to.deep.equal([])
  }
}
