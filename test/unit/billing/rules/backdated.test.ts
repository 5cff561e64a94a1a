import { expect } from 'chai'
import { newAccount } from '../../../../src/billing/rules/account.js'
import { pastCharges, withPastPeriods } from '../../../../src/billing/rules/backdated.js'
import { bill } from '../../../../src/billing/rules/bill.js'
import type { Discount } from '../../../../src/billing/rules/billing.js'
import { totalled } from '../../../../src/billing/rules/invoice.js'
import type { Problem } from '../../../../src/kernel/problem.js'
import type { Subscription } from '../../../../src/subscription/rules/subscription.js'
import { subscription } from '../../subscription/support.js'
import { d, percentOff, price, standing, terms, version } from '../support.js'

const day = 86_400_000
const at = (text: string) => Date.parse(`${text}T00:00:00Z`)
const [january, february, march, april] = [at('2027-01-01'), at('2027-02-01'), at('2027-03-01'), at('2027-04-01')]
const since = (startDate: number, fields: Partial<Subscription> = {}) =>
  subscription({
    plan: version('plan', [price({ id: 'flat', amount: d(30) })]),
    pricingType: 'PAID',
    billingPeriod: 'MONTHLY',
    startDate,
    ...fields,
  })
const coupon = (months: number): Discount => ({ ...percentOff(10), durationInMonths: months })

describe('the periods before a subscription was asked for', () => {
  const past = (of: Subscription, until: number, given: { discount?: Discount; customerDiscount?: Discount } = {}) =>
    pastCharges(of, newAccount(terms({ discount: given.discount ?? null })), { until, customerDiscount: given.customerDiscount ?? null })

  it('are charged whole, the oldest first, and none that is not over', () => {
    const { standings, begun } = past(since(january), march)!
    expect(standings.map(({ period, gross }) => [period.start, period.end, gross])).to.deep.equal([
      [january, february, '30'],
      [february, march, '30'],
    ])
    expect(begun).to.deep.equal([
      { start: january, chargedFrom: january, months: 1 },
      { start: february, chargedFrom: february, months: 1 },
    ])
    expect(past(since(january), february)!.standings).to.have.length(1)
  })

  it('are none where none is over, or nothing is sold for money', () => {
    expect(past(since(january), january)).to.equal(null)
    expect(past(since(january, { billingPeriod: null }), april)).to.equal(null)
    expect(pastCharges(since(january), newAccount(terms({ currency: null })), { until: april, customerDiscount: null })).to.equal(null)
  })

  it('use up the months of a coupon, where they come to something', () => {
    const nets = (given: Parameters<typeof past>[2]) => past(since(january), april, given)!.standings.map(({ net }) => net)
    expect(nets({ discount: coupon(2) })).to.deep.equal(['27', '27', '30'])
    expect(nets({ customerDiscount: coupon(1) })).to.deep.equal(['27', '30', '30'])
    expect(nets({ discount: coupon(1), customerDiscount: percentOff(50) })).to.deep.equal(['27', '15', '15'])
    // One that is given later does not hold for them.
    expect(nets({ discount: { ...percentOff(10), startDate: march } })).to.deep.equal(['30', '30', '27'])
    const nothing = since(january, { plan: version('plan', [price({ amount: d(0) })]) })
    expect(past(nothing, march)!.begun.map(({ months }) => months)).to.deep.equal([0])
  })

  it('of a year use up twelve months', () => {
    const annual = since(at('2025-04-01'), { plan: version('plan', [price({ billingPeriod: 'ANNUALLY' })]), billingPeriod: 'ANNUALLY' })
    expect(past(annual, april)!.begun.map(({ months }) => months)).to.deep.equal([12, 12])
  })

  it('are ten years of months at most', () => {
    expect(past(since(at('2017-04-01')), april)!.standings).to.have.length(120)
    try {
      past(since(at('2017-03-01')), april)
      expect.fail('it is refused')
    } catch (error) {
      expect((error as Problem).details).to.deep.equal({ path: 'startDate' })
    }
  })

  it('are on the first invoice, before what begins, each with its discount and its tax', () => {
    const first = { start: january, end: february }
    const draft = totalled({
      reason: 'SUBSCRIPTION_CREATION',
      currency: 'USD',
      period: { start: march, end: april },
      lines: [{ ...standing(30, first).lines[0]!, period: { start: march, end: april }, isProration: false }],
      discount: d(1),
      tax: d(2),
    })
    const joined = withPastPeriods(draft, [standing(20, first, 'USD', 18), standing(10, { start: february, end: march })], {
      taxPercentage: d(50),
    })
    expect(joined).to.deep.include({
      reason: 'SUBSCRIPTION_CREATION',
      period: draft.period,
      subTotal: '60',
      discount: '3',
      tax: '16',
      total: '73',
    })
    expect(joined.lines.map(({ amount, period, isProration }) => [amount, period.start, isProration])).to.deep.equal([
      ['20', january, false],
      ['10', february, false],
      ['30', march, false],
    ])
  })
})

describe('a subscription that is charged from a start in the past on', () => {
  const now = march + 9 * day
  const begun = (given: Partial<Parameters<typeof bill>[0]['change']> = {}, agreed = terms({ discount: coupon(3) })) =>
    bill({
      account: newAccount(agreed),
      change: {
        before: null,
        after: since(january, { currentPeriod: { start: march, end: april } }),
        at: now,
        isRenewal: false,
        proration: 'INVOICE_IMMEDIATELY',
        creditsUnused: false,
        isBackdated: true,
        ...given,
      },
    })

  it('has one invoice with all of them, and its coupon counts from then on', () => {
    const { drafts, account } = begun()
    expect(drafts).to.have.length(1)
    expect(drafts[0]).to.include({ reason: 'SUBSCRIPTION_CREATION', subTotal: '90', discount: '9', total: '81' })
    expect(account.begun).to.deep.equal([
      { start: january, chargedFrom: january, months: 1 },
      { start: february, chargedFrom: february, months: 1 },
      { start: march, chargedFrom: now, months: 1 },
    ])
    expect(begun({ isBackdated: false }).drafts[0]).to.include({ subTotal: '30' })
  })
  it('has what any other has where no period is over, or nothing is charged', () => {
    const fresh = since(march, { currentPeriod: { start: march, end: april } })
    expect(begun({ after: fresh }).drafts[0]).to.include({ subTotal: '30', total: '27' })
    expect(begun({ after: since(january, { status: 'IN_TRIAL' }) }).drafts).to.deep.equal([])
  })
  it('by the terms that are agreed with it, and the coupon of its customer', () => {
    const account = newAccount(terms())
    const change = {
      before: null,
      after: since(january, { currentPeriod: { start: march, end: april } }),
      at: now,
      isRenewal: false,
    } as const
    const { drafts } = bill({
      account,
      terms: terms({ taxPercentage: d(10) }),
      customerDiscount: coupon(1),
      change: { ...change, proration: 'INVOICE_IMMEDIATELY', creditsUnused: false, isBackdated: true },
    })
    expect(drafts[0]).to.include({ subTotal: '90', discount: '3', tax: '8.7', total: '95.7' })
  })
  it('is none that is there already', () => {
    try {
      begun({ before: since(january) })
      expect.fail('it is refused')
    } catch (error) {
      expect((error as Problem).details).to.deep.equal({ path: 'billingInformation.isBackdated' })
    }
  })
})
