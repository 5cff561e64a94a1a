/** What the host application is told of an invoice. Pure. */
import type { EventPayload } from '../../notifications/model/catalog.js'
import type { Invoice } from './billing.js'

/** What of an invoice is told. */
export type ToldInvoice = Pick<
  Invoice,
  | 'id'
  | 'billingId'
  | 'number'
  | 'status'
  | 'reason'
  | 'currency'
  | 'total'
  | 'amountDue'
  | 'periodStart'
  | 'periodEnd'
  | 'dueDate'
  | 'attemptCount'
  | 'errorMessage'
>

const time = (at: number) => new Date(at).toISOString()

export const toldInvoice = (invoice: ToldInvoice, of: { customerId: string; subscriptionId: string }): EventPayload<'invoice.created'> => ({
  invoice: {
    invoiceId: invoice.id,
    billingId: invoice.billingId,
    number: invoice.number,
    ...of,
    status: invoice.status,
    reason: invoice.reason,
    currency: invoice.currency,
    total: invoice.total,
    amountDue: invoice.amountDue,
    periodStart: time(invoice.periodStart),
    periodEnd: time(invoice.periodEnd),
    dueDate: invoice.dueDate === null ? null : time(invoice.dueDate),
    attemptCount: invoice.attemptCount,
    errorMessage: invoice.errorMessage?.slice(0, maxErrorLength) ?? null,
  },
})

/** Providers may write much. */
const maxErrorLength = 1_000

/** What news of an invoice are about; null: nothing that is told. An attempt that failed again is told again. */
export function newsEvent(
  before: Pick<Invoice, 'status' | 'attemptCount'>,
  after: Pick<Invoice, 'status' | 'attemptCount'>,
): 'invoice.paid' | 'invoice.failed' | 'invoice.voided' | null {
  if (after.status === 'FAILED') return before.status !== 'FAILED' || after.attemptCount > before.attemptCount ? 'invoice.failed' : null
  if (after.status === before.status) return null
  if (after.status === 'PAID') return 'invoice.paid'
  return after.status === 'CANCELED' ? 'invoice.voided' : null
}
