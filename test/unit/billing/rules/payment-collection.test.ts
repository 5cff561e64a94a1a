import { expect } from 'chai'
import { consequenceOf, hasNeverBegun } from '../../../../src/billing/rules/payment-collection.js'
import { d } from '../support.js'

type Input = Parameters<typeof consequenceOf>[0]
const now = 1_000_000_000
const dayMs = 86_400_000

const outcome = (
  subscription: Partial<Input['subscription']>,
  news: Partial<Input['news']>,
  {
    before = {},
    ...rest
  }: { before?: Partial<Input['before']> } & Partial<Pick<Input, 'collectionMethod' | 'isTakenBack' | 'endsBy'>> = {},
) =>
  consequenceOf({
    subscription: {
      status: 'ACTIVE',
      cancelReason: null,
      billingPeriod: 'MONTHLY',
      currentPeriod: { start: 0, end: 2 * now },
      effectiveEndDate: null,
      ...subscription,
    },
    before: { status: 'OPEN', failedSince: null, periodEnd: 2 * now, ...before },
    news: {
      billingId: 'in_1',
      number: null,
      status: 'OPEN',
      revision: 1,
      amountDue: d(10),
      refundedAmount: d(0),
      requiresAction: false,
      attemptCount: 1,
      paymentUrl: null,
      paymentSecret: null,
      errorMessage: null,
      ...news,
    },
    collectionMethod: 'CHARGE',
    isTakenBack: false,
    now,
    ...rest,
  })

const waits = { status: 'PAYMENT_PENDING' as const }
const ended = (cancelReason: Input['subscription']['cancelReason']) => ({
  status: 'CANCELED' as const,
  cancelReason,
  effectiveEndDate: now,
})
const neverBegun = (cancelReason: Input['subscription']['cancelReason']) => ({ ...ended(cancelReason), currentPeriod: null })

describe('what an invoice means for its subscription', () => {
  it('starts what waits when it is paid', () =>
    expect(outcome(waits, { status: 'PAID' })).to.include({ trigger: 'paid', paymentCollection: 'NOT_REQUIRED' }))

  it('takes the invoice back before what waits ends', () => {
    expect(outcome(waits, { status: 'FAILED' })).to.deep.include({ trigger: null, next: { kind: 'VOID' } })
    expect(outcome(waits, { status: 'CANCELED' }, { isTakenBack: true })).to.include({ trigger: 'paymentDeadline' })
    for (const endsBy of ['cancel', 'replace'] as const)
      expect(outcome(waits, { status: 'CANCELED' }, { isTakenBack: true, endsBy })).to.include({ trigger: endsBy })
    expect(outcome(waits, { status: 'PAID' }, { isTakenBack: true, endsBy: 'cancel' })).to.include({ trigger: 'paid', next: null })
  })

  it('tries a failed charge again after 1, 2, 3 and 3 days, and then leaves it to the customer', () => {
    const next = (attemptCount: number) => outcome({}, { status: 'FAILED', attemptCount }).next
    expect([1, 2, 3, 4].map((count) => next(count))).to.deep.equal([1, 2, 3, 3].map((days) => ({ kind: 'COLLECT', delayMs: days * dayMs })))
    expect(next(5)).to.equal(null)
    expect(outcome({}, { status: 'FAILED' }, { collectionMethod: 'INVOICE' }).next).to.equal(null)
  })

  it('remembers since when the payment is missing, through further failures', () => {
    expect(outcome({}, { status: 'FAILED' }).failedSince).to.equal(now)
    expect(outcome({}, { status: 'FAILED' }, { before: { status: 'FAILED', failedSince: 5 } }).failedSince).to.equal(5)
    expect(outcome({}, { status: 'PAID' }, { before: { status: 'FAILED', failedSince: 5 } }).failedSince).to.equal(null)
    expect(outcome({}, { requiresAction: true }).failedSince).to.equal(now)
  })

  it('ends a running subscription only when we took its invoice back', () => {
    expect(outcome({}, { status: 'CANCELED' }, { isTakenBack: true }).trigger).to.equal('collectionFailed')
    expect(outcome({}, { status: 'CANCELED' }).trigger).to.equal(null)
  })

  it('gives back a payment that nobody waits for any more, once, and says so', () => {
    for (const late of [
      outcome(neverBegun('PendingPaymentExpired'), { status: 'PAID' }),
      outcome(neverBegun('CustomerArchived'), { status: 'PAID' }),
      outcome(ended('CancelledByBilling'), { status: 'PAID' }),
      outcome({}, { status: 'PAID' }, { before: { status: 'CANCELED' } }),
    ]) {
      expect(late.next).to.deep.equal({ kind: 'REFUND' })
      expect(late.visibleError).to.match(/given back/)
      expect(late.trigger).to.equal(null)
    }
    expect(outcome(neverBegun('PendingPaymentExpired'), { status: 'PAID', refundedAmount: d(10) }).next).to.equal(null)
  })

  it('keeps a payment for what was used before the end', () => {
    expect(outcome(ended('Immediate'), { status: 'PAID' }).next).to.equal(null)
    expect(outcome(ended('UpgradeOrDowngrade'), { status: 'PAID' }).next).to.equal(null)
    expect(outcome(ended('CancelledByBilling'), { status: 'PAID' }, { before: { periodEnd: now } }).next).to.equal(null)
    // It was charged for, and then became free.
    expect(outcome({ ...neverBegun('Immediate'), billingPeriod: null }, { status: 'PAID' }).next).to.equal(null)
  })

  it('tells how an open invoice stands', () => {
    expect(outcome({}, {}).paymentCollection).to.equal('PROCESSING')
    expect(outcome(waits, {}).paymentCollection).to.equal('ACTION_REQUIRED')
    expect(outcome({}, {}, { collectionMethod: 'INVOICE' }).paymentCollection).to.equal('NOT_REQUIRED')
    expect(outcome({}, { requiresAction: true }).paymentCollection).to.equal('ACTION_REQUIRED')
  })
})

describe('what is said of a payment', () => {
  it('whole, of one that failed', () => {
    expect(outcome({}, { status: 'FAILED' })).to.deep.equal({
      trigger: null,
      paymentCollection: 'FAILED',
      next: { kind: 'COLLECT', delayMs: dayMs },
      failedSince: now,
      visibleError: null,
    })
    expect(outcome(waits, { status: 'FAILED' })).to.deep.equal({
      trigger: null,
      paymentCollection: 'FAILED',
      next: { kind: 'VOID' },
      failedSince: null,
      visibleError: null,
    })
    expect(outcome({}, { status: 'FAILED', attemptCount: 0 }).next).to.deep.equal({ kind: 'COLLECT', delayMs: dayMs })
  })
  it('and nothing more of what was paid, or is not to be paid any more', () => {
    const settled = { trigger: null, paymentCollection: 'NOT_REQUIRED', next: null, failedSince: null, visibleError: null }
    expect(outcome({}, { status: 'PAID' })).to.deep.equal(settled)
    expect(outcome(ended('Immediate'), { status: 'CANCELED' }, { isTakenBack: true })).to.deep.equal(settled)
    expect(outcome({}, { status: 'CANCELED' })).to.deep.equal(settled)
  })
  it('names the invoice whose payment is given back by its number, else by its identifier', () => {
    const late = (number: string | null) => outcome({}, { status: 'PAID', number }, { before: { status: 'CANCELED' } }).visibleError
    expect(late('2027-1')).to.include('Invoice 2027-1 ')
    expect(late(null)).to.include('Invoice in_1 ')
  })
  it('gives nothing back where nothing was to be paid, or it was paid in time', () => {
    expect(outcome(neverBegun('PendingPaymentExpired'), { status: 'PAID', amountDue: d(0) }).next).to.equal(null)
    expect(outcome(neverBegun('Immediate'), { status: 'PAID' }, { before: { status: 'PAID' } }).next).to.equal(null)
    expect(outcome({ cancelReason: 'CancelledByBilling' }, { status: 'PAID' }).next).to.equal(null)
  })
  it('counts the time of a running subscription only', () => {
    expect(outcome(waits, { requiresAction: true })).to.include({ paymentCollection: 'ACTION_REQUIRED', failedSince: null })
    expect(outcome(ended('Immediate'), { requiresAction: true }).failedSince).to.equal(null)
    expect(outcome({}, { requiresAction: true }, { before: { failedSince: 5 } }).failedSince).to.equal(5)
  })
  it('and of a subscription whether it has begun', () => {
    const of = (fields: Partial<Parameters<typeof hasNeverBegun>[0]>) =>
      hasNeverBegun({ status: 'CANCELED', billingPeriod: 'MONTHLY', currentPeriod: null, ...fields })
    expect(of({})).to.equal(true)
    expect(of({ status: 'PAYMENT_PENDING', billingPeriod: null })).to.equal(true)
    expect(of({ status: 'ACTIVE' })).to.equal(false)
    expect(of({ billingPeriod: null })).to.equal(false)
    expect(of({ currentPeriod: { start: 0, end: 1 } })).to.equal(false)
  })
})
