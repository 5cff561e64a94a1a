import { expect } from 'chai'
import type { Invoice } from '../../../../src/billing/rules/billing.js'
import { newsEvent, type ToldInvoice, toldInvoice } from '../../../../src/billing/rules/events.js'
import { d } from '../support.js'

const invoice: ToldInvoice = {
  id: 'i',
  billingId: 'in_1',
  number: 'TG-1',
  status: 'OPEN',
  reason: 'BILLING_CYCLE',
  currency: 'EUR',
  total: d(50),
  amountDue: d('49.5'),
  periodStart: 0,
  periodEnd: 86_400_000,
  dueDate: null,
  attemptCount: 0,
  errorMessage: null,
}
const told = {
  invoiceId: 'i',
  billingId: 'in_1',
  number: 'TG-1',
  customerId: 'acme',
  subscriptionId: 'acme-team',
  status: 'OPEN',
  reason: 'BILLING_CYCLE',
  currency: 'EUR',
  total: '50',
  amountDue: '49.5',
  periodStart: '1970-01-01T00:00:00.000Z',
  periodEnd: '1970-01-02T00:00:00.000Z',
  dueDate: null,
  attemptCount: 0,
  errorMessage: null,
}
const tell = (fields: Partial<ToldInvoice>) =>
  toldInvoice({ ...invoice, ...fields }, { customerId: 'acme', subscriptionId: 'acme-team' }).invoice

describe('what events say of an invoice', () => {
  it('is whose it is, what it comes to and how it stands', () => {
    expect(tell({})).to.deep.equal(told)
    expect(tell({ dueDate: 0 })).to.deep.equal({ ...told, dueDate: '1970-01-01T00:00:00.000Z' })
  })

  it('is the beginning of what the provider says went wrong', () => {
    expect(tell({ errorMessage: 'declined' }).errorMessage).to.equal('declined')
    expect(tell({ errorMessage: 'x'.repeat(1_001) }).errorMessage).to.equal('x'.repeat(1_000))
  })
})

describe('news of an invoice', () => {
  type State = Pick<Invoice, 'status' | 'attemptCount'>
  const state = (status: State['status'], attemptCount = 0): State => ({ status, attemptCount })
  const cases: [name: string, before: State, after: State, event: ReturnType<typeof newsEvent>][] = [
    ['that it is paid', state('OPEN'), state('PAID', 1), 'invoice.paid'],
    ['that it is paid after all', state('FAILED', 1), state('PAID', 2), 'invoice.paid'],
    ['that its payment failed', state('OPEN'), state('FAILED', 1), 'invoice.failed'],
    ['that its payment failed, of an attempt that is known', state('OPEN', 1), state('FAILED', 1), 'invoice.failed'],
    ['that its payment failed again', state('FAILED', 1), state('FAILED', 2), 'invoice.failed'],
    ['what is known of a failure', state('FAILED', 1), state('FAILED', 1), null],
    ['an older failure', state('FAILED', 2), state('FAILED', 1), null],
    ['that it was taken back', state('OPEN'), state('CANCELED'), 'invoice.voided'],
    ['what is known', state('PAID', 1), state('PAID', 2), null],
    ['what is known of one that was taken back', state('CANCELED'), state('CANCELED'), null],
    ['an attempt at one that is open', state('OPEN'), state('OPEN', 1), null],
    ['that it is open again', state('FAILED', 1), state('OPEN', 1), null],
  ]
  for (const [name, before, after, event] of cases)
    it(`tell ${name} as ${event ?? 'nothing'}`, () => expect(newsEvent(before, after)).to.equal(event))
})
