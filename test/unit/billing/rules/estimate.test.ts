import { expect } from 'chai'
import { type Account, newAccount } from '../../../../src/billing/rules/account.js'
import type { Draft } from '../../../../src/billing/rules/billing.js'
import { estimateOf, joined, paidFrom } from '../../../../src/billing/rules/estimate.js'
import { changeDraft, standingOf, totalled } from '../../../../src/billing/rules/invoice.js'
import { content, d, percentOff, price, standing, terms } from '../support.js'

const day = 86_400_000
const start = Date.parse('2027-04-01T00:00:00Z')
const period = { start, end: Date.parse('2027-05-01T00:00:00Z') }
const half = start + 15 * day

describe('what invoices of one instant use of a balance', () => {
  const cases: [name: string, balance: number, totals: number[], amountDue: number, used: number][] = [
    ['nothing is there', 0, [42], 42, 0],
    ['a part of it is paid', 10, [42], 32, 10],
    ['all of it is paid', 50, [42], 0, 42],
    ['two are paid in their order', 50, [42, 20], 12, 50],
    ['what the first gives back is used by the second, and is none of the balance', 0, [-20, 30], 10, 0],
    ['both are used', 5, [-20, 30], 5, 5],
    ['the balance is used before what is given back later', 5, [30, -20], 25, 5],
    ['debt is paid with it', -21, [42], 63, -21],
    ['nothing is invoiced', 10, [], 0, 0],
    ['only something is given back', 10, [-5], 0, 0],
  ]
  for (const [name, balance, totals, amountDue, used] of cases)
    it(name, () => expect(paidFrom(d(balance), totals.map(d))).to.deep.equal({ amountDue: d(amountDue), used: d(used) }))
})

const draft = (amount: number, given: Partial<Draft> = {}): Draft =>
  totalled({
    reason: 'SUBSCRIPTION_UPDATE',
    currency: 'USD',
    period,
    lines: [{ ...standing(amount, period).lines[0]!, period, isProration: false }],
    discount: d(1),
    tax: d(2),
    ...given,
  })

describe('invoices of one instant', () => {
  it('are one in the currency, reason and period of the last', () => {
    const last = { reason: 'BILLING_CYCLE', period: { start: half, end: period.end } } as const
    const all = joined([draft(10), draft(700, { currency: 'EUR' }), draft(5, last)])!
    expect(all).to.deep.include({ currency: 'USD', ...last, subTotal: '15', discount: '2', tax: '4', total: '17' })
    expect(all.lines.map(({ amount }) => amount)).to.deep.equal(['10', '5'])
  })
  it('are none where there are none', () => expect(joined([])).to.equal(null))
})

describe('an estimate', () => {
  const sold = content([price({ id: 'flat', amount: d(30) })])
  const estimate = (given: Partial<Parameters<typeof estimateOf>[0]> = {}) =>
    estimateOf({
      account: newAccount(terms()),
      drafts: [],
      content: sold,
      period,
      at: half,
      balance: d(0),
      customerDiscount: null,
      fallbackCurrency: 'GBP',
      ...given,
    })

  it('of what is invoiced adds up the invoices, and says what the balance pays', () => {
    const found = estimate({ drafts: [draft(10), draft(20)], balance: d(7) })
    expect(found).to.deep.include({
      currency: 'USD',
      period,
      subTotal: '30',
      discountAmount: '2',
      tax: '4',
      total: '32',
      balance: { initial: '7', used: '7' },
      amountDue: '25',
      proration: null,
    })
    expect(found.lines.map(({ amount }) => amount)).to.deep.equal(['10', '20'])
  })

  it('where nothing is invoiced is of nothing, in the currency that is agreed, else in that of the answer', () => {
    expect(estimate()).to.deep.include({
      currency: 'USD',
      subTotal: '0',
      discountAmount: '0',
      tax: '0',
      total: '0',
      lines: [],
      balance: null,
      amountDue: '0',
      proration: null,
    })
    expect(estimate({ account: newAccount(terms({ currency: null })) })).to.deep.include({ currency: 'GBP', recurring: null })
  })

  it('says what a whole period costs from then on, with the discount and the tax that hold', () => {
    const discount = percentOff(10)
    const agreed = terms({ taxPercentage: d(20), taxName: 'VAT' })
    const found = estimate({ account: newAccount(agreed), customerDiscount: discount })
    expect(found).to.deep.include({ discount, taxPercentage: '20', taxName: 'VAT' })
    expect(found.recurring).to.deep.equal({
      reason: 'BILLING_CYCLE',
      currency: 'USD',
      period,
      lines: [
        {
          type: 'BaseCharge',
          description: 'plan',
          priceId: 'flat',
          quantity: '1',
          unitAmount: '30',
          amount: '30',
          period,
          isProration: false,
        },
      ],
      discount: '3',
      tax: '5.4',
      subTotal: '30',
      total: '32.4',
    })
    expect(estimate()).to.deep.include({ discount: null, taxPercentage: null, taxName: null })
  })

  it('takes what the invoices have left standing for that, and what is sold where nothing is invoiced', () => {
    const account: Account = { ...newAccount(terms()), standing: standing(99, period) }
    expect(estimate({ account, drafts: [draft(10)] }).recurring!.total).to.equal('99')
    expect(estimate({ account }).recurring!.total).to.equal('30')
    expect(estimate({ drafts: [draft(10)] }).recurring!.total).to.equal('30')
  })

  it('of what is not billed says nothing of periods', () => {
    expect(estimate({ period: null, customerDiscount: percentOff(10) })).to.deep.include({ period: null, discount: null, recurring: null })
  })

  describe('says what is credited and charged for a part of a period', () => {
    const stands = (amount: number, currency = 'USD') =>
      standingOf({
        content: content([price({ amount: d(amount), currency: currency as 'USD' })]),
        terms: terms({ currency }),
        period,
        discount: null,
      })
    const change = (before: number | null, after: number | null, { at = half, currency = 'USD' } = {}) =>
      changeDraft({
        reason: 'SUBSCRIPTION_UPDATE',
        before: before === null ? null : stands(before, currency),
        after: after === null ? null : stands(after, currency),
        taxPercentage: null,
        at,
      })!

    it('of a change within it', () => {
      const expected = { at: half, credit: '-15', creditCurrency: 'USD', debit: '30' }
      expect(estimate({ drafts: [change(30, 60)] }).proration).to.deep.equal(expected)
      expect(estimate({ drafts: [draft(5), change(30, 60)] }).proration).to.deep.equal(expected)
      expect(estimate({ drafts: [change(30, 60), draft(5)] }).proration).to.deep.equal(expected)
    })
    it('of a change at its beginning, which gives back all of it', () => {
      const expected = { at: half, credit: '-30', creditCurrency: 'USD', debit: '60' }
      expect(estimate({ drafts: [change(30, 60, { at: start })] }).proration).to.deep.equal(expected)
    })
    it('and nothing where a whole one begins, or there is no change', () => {
      expect(estimate({ drafts: [change(null, 60, { at: start })] }).proration).to.equal(null)
      expect(estimate({ drafts: [draft(5)] }).proration).to.equal(null)
    })
    it('with the credit in the currency that it was charged in', () => {
      const drafts = [change(3_000, null, { currency: 'JPY' }), change(null, 60, { at: start })]
      expect(estimate({ drafts }).proration).to.deep.equal({ at: half, credit: '-1500', creditCurrency: 'JPY', debit: '60' })
      expect(estimate({ drafts })).to.include({ currency: 'USD', total: '60', amountDue: '60' })
    })
  })
})
