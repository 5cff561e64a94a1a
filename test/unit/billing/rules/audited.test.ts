import { expect } from 'chai'
import { differenceOf } from '../../../../src/audit/model/difference.js'
import {
  auditedEntry,
  auditedInvoice,
  auditedPaymentMethod,
  auditedTaxRate,
  auditedTerms,
  invoiceState,
  newInvoice,
} from '../../../../src/billing/rules/audited.js'
import type { Invoice } from '../../../../src/billing/rules/billing.js'
import type { Subscription } from '../../../../src/subscription/rules/subscription.js'
import { d, percentOff, terms } from '../support.js'

const subscription = { environmentId: 'e', refId: 'acme-team' } as Subscription
const changed = { changed: true }

describe('what the audit log says of the money of a subscription', () => {
  const override = { featureId: 'f' } as never

  it('is all that is agreed, where nothing was', () => {
    const change = auditedTerms(
      subscription,
      null,
      terms({
        discount: percentOff(10),
        priceOverrides: [override],
        minimumSpend: { amount: d(5), currency: 'USD' },
        taxPercentage: d(19),
        taxName: 'VAT',
        daysUntilDue: 14,
      }),
    )
    expect(change).to.deep.equal({
      environmentId: 'e',
      kind: 'SUBSCRIPTION',
      id: 'acme-team',
      before: {},
      after: {
        currency: 'USD',
        paymentCollectionMethod: 'INVOICE',
        discount: percentOff(10),
        priceOverrides: [override],
        minimumSpend: { amount: '5', currency: 'USD' },
        taxPercentage: '19',
        daysUntilDue: 14,
      },
    })
  })

  it('is what is agreed otherwise', () => {
    expect(differenceOf(auditedTerms(subscription, terms(), terms({ daysUntilDue: null })))).to.equal(null)
    expect(differenceOf(auditedTerms(subscription, terms({ priceOverrides: [override] }), terms({ currency: null })))).to.deep.equal({
      before: { currency: 'USD', priceOverrides: [override] },
      after: { currency: null, priceOverrides: null },
    })
    expect(auditedTerms(subscription, terms({ daysUntilDue: 0 }), terms()).before).to.include({ daysUntilDue: 0 })
  })
})

describe('what the audit log says of an invoice', () => {
  const money = { subTotal: d(50), discount: d(5), tax: d(9), total: d(54), creditApplied: d(4), amountDue: d(50) }
  const invoice = {
    ...money,
    subscriptionId: 's',
    customerId: 'c',
    reason: 'BILLING_CYCLE',
    currency: 'EUR',
    collectionMethod: 'CHARGE',
    billingId: null,
    number: null,
    status: 'OPEN',
    requiresAction: false,
    attemptCount: 0,
    errorMessage: null,
    refundedAmount: d(0),
    paymentSecret: 'secret',
    paymentUrl: 'https://pay.example.com/secret',
  } as Invoice

  it('is what it comes to, when it is made', () => {
    expect(newInvoice(invoice, { ...invoice, period: { start: 0, end: 86_400_000 } })).to.deep.equal({
      ...money,
      subscription: { id: 's' },
      customer: { id: 'c' },
      status: 'OPEN',
      billingReason: 'BILLING_CYCLE',
      currency: 'EUR',
      collectionMethod: 'CHARGE',
      periodStart: '1970-01-01T00:00:00.000Z',
      periodEnd: '1970-01-02T00:00:00.000Z',
    })
  })

  it('is what became of it, and nothing of how it is paid', () => {
    const paid = { ...invoice, billingId: 'in_1', number: 'TG-1', status: 'PAID' as const, attemptCount: 1, paymentUrl: null }
    const change = auditedInvoice('e', 'i', invoiceState(invoice), invoiceState(paid))
    expect(change).to.include({ environmentId: 'e', kind: 'INVOICE', id: 'i' })
    expect(differenceOf(change)).to.deep.equal({
      before: { billingId: null, number: null, status: 'OPEN', attemptCount: 0 },
      after: { billingId: 'in_1', number: 'TG-1', status: 'PAID', attemptCount: 1 },
    })
    expect(invoiceState({ ...paid, requiresAction: true, errorMessage: 'declined', refundedAmount: d(3) })).to.include({
      requiresAction: true,
      errorMessage: 'declined',
      refundedAmount: '3',
    })
  })
})

describe('what the audit log says', () => {
  it('of an entry of a balance is the entry, by what makes it the only one', () => {
    const entry = { invoiceId: 'i', chargeId: 'j', kind: 'CREDIT' as const, customerId: 'c', currency: 'EUR', amount: d(3) }
    expect(auditedEntry('e', entry)).to.deep.equal({
      environmentId: 'e',
      kind: 'BALANCE_ENTRY',
      id: 'i/j/CREDIT',
      before: null,
      after: entry,
    })
  })

  it('of a tax rate is all of it', () => {
    const [vat, more] = [19, 20].map((percentage) => ({ id: 'vat', displayName: 'VAT', percentage: d(percentage) }))
    const of = { environmentId: 'e', kind: 'TAX_RATE', id: 'vat' }
    expect(auditedTaxRate('e', null, vat!)).to.deep.equal({ ...of, before: null, after: vat })
    expect(auditedTaxRate('e', vat!, more!)).to.deep.equal({ ...of, before: vat, after: more })
  })

  it('of a payment method is whether there is one, and that it is another one', () => {
    const change = auditedPaymentMethod('e', 'acme', null, 'pm_1')
    expect(change).to.include({ environmentId: 'e', kind: 'PAYMENT_METHOD', id: 'acme' })
    expect(differenceOf(change)).to.deep.equal({
      before: { hasPaymentMethod: false, defaultPaymentMethodId: null },
      after: { hasPaymentMethod: true, defaultPaymentMethodId: changed },
    })
    expect(differenceOf(auditedPaymentMethod('e', 'acme', 'pm_1', 'pm_2'))).to.deep.equal({
      before: { defaultPaymentMethodId: changed },
      after: { defaultPaymentMethodId: changed },
    })
    expect(auditedPaymentMethod('e', 'acme', 'pm_1', null)).to.have.deep.property('after', {
      hasPaymentMethod: false,
      defaultPaymentMethodId: null,
    })
  })
})
