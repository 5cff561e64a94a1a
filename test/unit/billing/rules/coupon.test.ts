import { expect } from 'chai'
import fc from 'fast-check'
import { type Account, newAccount } from '../../../../src/billing/rules/account.js'
import { bill } from '../../../../src/billing/rules/bill.js'
import type { BegunPeriod, Discount } from '../../../../src/billing/rules/billing.js'
import { discountOn, holds, monthsOf, toDiscount, withBegun } from '../../../../src/billing/rules/coupon.js'
import type { Coupon } from '../../../../src/catalog/model/coupon.js'
import * as decimal from '../../../../src/kernel/decimal.js'
import type { Subscription } from '../../../../src/subscription/rules/subscription.js'
import { amountOff, d, percentOff, price, terms, version } from '../support.js'

const day = 86_400_000
const april = Date.parse('2027-04-01T00:00:00Z')
/** Of 30 days each. */
const monthStart = (index: number) => april + index * 30 * day
const begunAt = (months: number[]): BegunPeriod[] =>
  months.map((count, index) => ({ start: monthStart(index), chargedFrom: monthStart(index), months: count }))

describe('a coupon of some months', () => {
  const cases: [string, { given: number; months: number | null; begun: number[]; at?: number; from?: number }, boolean][] = [
    ['holds from its start on', { given: april, months: 2, begun: [] }, true],
    ['does not hold before its start', { given: april + 1, months: null, begun: [] }, false],
    ['holds for its second month', { given: april, months: 2, begun: [1] }, true],
    ['does not hold for a third one', { given: april, months: 2, begun: [1, 1] }, false],
    ['is not used up by months that come to nothing', { given: april, months: 2, begun: [0, 1, 0] }, true],
    ['counts from when it was given', { given: monthStart(7), months: 2, begun: [1, 1, 1, 1, 1, 1, 1] }, true],
    [
      'does not hold for the month in which it was given',
      { given: april + 10 * day, months: 2, begun: [1], at: april + 20 * day, from: april },
      false,
    ],
    ['for ever holds in it', { given: april + 10 * day, months: null, begun: [1], at: april + 20 * day, from: april }, true],
    ['of 12 months holds for one year', { given: april, months: 12, begun: [12] }, false],
    ['of 13 months holds for two years', { given: april, months: 13, begun: [12] }, true],
    ['of 25 months holds for three years', { given: april, months: 25, begun: [12, 12] }, true],
  ]
  for (const [name, { given, months, begun, at, from }, expected] of cases)
    it(name, () => {
      const now = at ?? Math.max(monthStart(begun.length), monthStart(0))
      expect(holds({ startDate: given, durationInMonths: months }, { at: now, chargedFrom: from ?? now, begun: begunAt(begun) })).to.equal(
        expected,
      )
    })
})

interface Month {
  /** What is charged in advance, in whole units; nothing is a plan that costs nothing. */
  flat: number
  used: number
}

interface Story {
  months: Month[]
  own: Discount | null
  /** Of the customer, from one month on to another. */
  customer: { discount: Discount; from: number; until: number } | null
}

const anyCoupon = fc
  .record({
    kind: fc.constantFrom('percent', 'amount'),
    given: fc.integer({ min: 0, max: 8 * 30 }),
    months: fc.option(fc.integer({ min: 1, max: 4 })),
  })
  .map(
    ({ kind, given, months }): Discount => ({
      ...(kind === 'percent' ? percentOff(10) : amountOff(7)),
      startDate: april + given * day,
      durationInMonths: months,
    }),
  )
const anyStory: fc.Arbitrary<Story> = fc.record({
  months: fc.array(fc.record({ flat: fc.constantFrom(0, 0, 3, 20), used: fc.constantFrom(0, 0, 5, 40) }), { minLength: 2, maxLength: 10 }),
  own: fc.option(anyCoupon),
  customer: fc.option(fc.record({ discount: anyCoupon, from: fc.integer({ min: 0, max: 9 }), until: fc.integer({ min: 0, max: 11 }) })),
})

/** What each invoice has taken off, through the rules: the first of the beginning, then one of each renewal. */
function discounts({ months, own, customer }: Story): string[] {
  const calls = price({ featureRefId: 'calls', billingModel: 'USAGE_BASED', amount: d(1) })
  const held = (index: number): Subscription =>
    ({
      plan: version('plan', [price({ amount: d(months[index]!.flat) }), calls]),
      addons: [],
      quantities: [],
      billingPeriod: 'MONTHLY',
      status: 'ACTIVE',
      pricingType: 'PAID',
      timeZone: 'UTC',
      startDate: april,
      currentPeriod: { start: monthStart(index), end: monthStart(index + 1) },
    }) as unknown as Subscription
  let account: Account = newAccount(terms({ discount: own }))
  return months.map((_, index) => {
    const at = monthStart(index)
    const before = index === 0 ? null : held(index - 1)
    const { drafts, ...billed } = bill({
      account,
      change: { before, after: held(index), at, isRenewal: index > 0, proration: 'INVOICE_IMMEDIATELY', creditsUnused: false },
      usage: before ? [{ priceId: calls.id, period: before.currentPeriod!, quantity: d(months[index - 1]!.used) }] : [],
      customerDiscount: customer && customer.from <= index && index < customer.until ? customer.discount : null,
    })
    account = billed.account
    return drafts.map(({ discount }) => discount).reduce(decimal.add, decimal.zero)
  })
}

/** The same by counting: it knows nothing of accounts. */
function counted({ months, own, customer }: Story): string[] {
  const totals = months.map(({ flat }, index) => flat + (months[index - 1]?.used ?? 0))
  const isHeld = ({ startDate, durationInMonths }: Discount, index: number) => {
    const since = totals.map((total, month) => ({ total, month })).filter(({ month }) => monthStart(month) >= startDate)
    const discounted = since.filter(({ total }) => total > 0).slice(0, durationInMonths ?? undefined)
    return discounted.some(({ month }) => month === index)
  }
  return totals.map((total, index) => {
    const ofCustomer = customer && customer.from <= index && index < customer.until ? customer.discount : null
    const discount = [own, ofCustomer].find((one) => one && isHeld(one, index))
    if (!discount) return '0'
    return String(discount.percentOff ? Math.round(total * 10) / 100 : Math.min(total, 7))
  })
}

describe('the discounts of a run of months', () => {
  it("are those of its own coupon while it holds, else of its customer's as it is then, each for as many months as it has", () => {
    fc.assert(
      fc.property(anyStory, (story) => {
        expect(discounts(story)).to.deep.equal(counted(story))
      }),
      { numRuns: 2_000 },
    )
  }).timeout(20_000)
})

describe('a coupon', () => {
  it('is given as it is in the catalog, from an instant on', () => {
    const coupon = {
      id: 'c',
      refId: 'spring',
      name: 'Spring',
      percentOff: d(10),
      amountsOff: null,
      durationInMonths: 3,
    } as unknown as Coupon
    expect(toDiscount(coupon, 'customerCoupon', april)).to.deep.equal({
      source: 'customerCoupon',
      couponId: 'c',
      name: 'Spring',
      percentOff: '10',
      amountsOff: null,
      durationInMonths: 3,
      startDate: april,
    })
  })
  it('takes off what it says, in the currency that it names, and never more than there is', () => {
    const dollars = {
      percentOff: null,
      amountsOff: [
        { amount: d(3), currency: 'EUR' },
        { amount: d(5), currency: 'USD' },
      ],
    }
    const off = (total: number, discount: Parameters<typeof discountOn>[1], currency = 'USD') => discountOn(d(total), discount, currency)
    expect([off(20, dollars), off(20, dollars, 'EUR'), off(20, dollars, 'GBP'), off(4, dollars), off(5, dollars)]).to.deep.equal([
      '5',
      '3',
      '0',
      '4',
      '5',
    ])
    expect([off(0, dollars), off(-20, dollars), off(-20, percentOff(10)), off(20, null)]).to.deep.equal(['0', '0', '0', '0'])
    expect(off(20, { percentOff: null, amountsOff: null })).to.equal('0')
  })
  it('is used up by what begins before, not by the period itself or what comes after', () => {
    const once = { startDate: april, durationInMonths: 1 }
    const at = monthStart(1)
    const begun = (...indexes: number[]) =>
      indexes.map((index) => ({ start: monthStart(index), chargedFrom: monthStart(index), months: 1 }))
    expect(holds(once, { at, chargedFrom: at, begun: begun(1, 2) })).to.equal(true)
    expect(holds(once, { at, chargedFrom: at, begun: begun(0, 1) })).to.equal(false)
  })
  it('is counted by each period once, and by none that came to nothing', () => {
    const period = (index: number, months: number) => ({ start: monthStart(index), chargedFrom: monthStart(index), months })
    expect(withBegun([period(0, 1), period(1, 0), period(2, 0)], period(2, 1))).to.deep.equal([period(0, 1), period(2, 1)])
    expect(withBegun([period(0, 1), period(1, 1)], period(1, 12))).to.deep.equal([period(0, 1), period(1, 12)])
    expect([monthsOf({ billingPeriod: 'MONTHLY' }), monthsOf({ billingPeriod: 'ANNUALLY' })]).to.deep.equal([1, 12])
  })
})
