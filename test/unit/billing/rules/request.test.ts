import { expect } from 'chai'
import type { Discount, PriceOverride, Terms } from '../../../../src/billing/rules/billing.js'
import {
  type AdHocDiscount,
  type BillingRequest,
  checkBillingRequest,
  checkOverrides,
  overridesAfter,
  termsAfter,
  usualTerms,
} from '../../../../src/billing/rules/request.js'
import type { Problem } from '../../../../src/kernel/problem.js'
import { content, d, percentOff, price, terms, version } from '../support.js'

const override = (given: Partial<PriceOverride> = {}): PriceOverride => ({
  addonRefId: null,
  featureRefId: null,
  amount: d(5),
  tiers: null,
  blockSize: null,
  ...given,
})
const tier = (upTo: number | null, unitPrice: number | null, flatPrice: number | null = null) => ({
  upTo: upTo === null ? null : d(upTo),
  unitPrice: unitPrice === null ? null : d(unitPrice),
  flatPrice: flatPrice === null ? null : d(flatPrice),
})

/** The place that a refusal names; null: it is not refused. */
function refusedAt(check: () => void): string | null {
  try {
    check()
    return null
  } catch (error) {
    const { code, reason, details } = error as Problem
    expect([code, reason]).to.deep.equal(['INVALID_ARGUMENT', 'BAD_USER_INPUT'])
    return String(details.path)
  }
}

describe('the terms of a subscription', () => {
  const agreed = (): Terms =>
    terms({
      collectionMethod: 'CHARGE',
      discount: percentOff(10),
      priceOverrides: [override()],
      minimumSpend: { amount: d(50), currency: 'USD' },
      taxPercentage: d(19),
      taxName: 'VAT',
      daysUntilDue: 14,
      awaitsPayment: false,
    })

  it('are by themselves an invoice that waits for its payment, and nothing else', () => {
    expect({ ...usualTerms }).to.deep.equal({
      collectionMethod: 'INVOICE',
      discount: null,
      priceOverrides: [],
      minimumSpend: null,
      taxPercentage: null,
      taxName: null,
      daysUntilDue: null,
      awaitsPayment: true,
    })
  })

  it('stay where nothing is said', () => expect(termsAfter(agreed(), {}, undefined)).to.deep.equal(agreed()))

  it('are each cleared by null, but for what there is always one of', () => {
    const request = {
      priceOverrides: null,
      minimumSpend: null,
      taxPercentage: null,
      daysUntilDue: null,
      collectionMethod: null,
      awaitsPayment: null,
    }
    expect(termsAfter(agreed(), request, null)).to.deep.equal({
      ...agreed(),
      discount: null,
      priceOverrides: [],
      minimumSpend: null,
      taxPercentage: null,
      taxName: null,
      daysUntilDue: null,
    })
  })

  it('become what is asked for, each alone', () => {
    const cases: [BillingRequest, Partial<Terms>][] = [
      [{ priceOverrides: [override({ amount: d(1) })] }, { priceOverrides: [override({ amount: d(1) })] }],
      [{ minimumSpend: { amount: d(1), currency: 'EUR' } }, { minimumSpend: { amount: d(1), currency: 'EUR' } }],
      [{ taxPercentage: d(7) }, { taxPercentage: d(7), taxName: null }],
      [
        { taxPercentage: d(7), taxName: 'GST' },
        { taxPercentage: d(7), taxName: 'GST' },
      ],
      [{ taxName: 'GST' }, {}],
      [{ daysUntilDue: 0 }, { daysUntilDue: 0 }],
      [{ collectionMethod: 'NONE' }, { collectionMethod: 'NONE' }],
      [{ awaitsPayment: true }, { awaitsPayment: true }],
    ]
    for (const [request, changed] of cases) expect(termsAfter(agreed(), request, undefined)).to.deep.equal({ ...agreed(), ...changed })
  })

  describe('keep a discount that is given again as it was, so that its months go on', () => {
    const given = (fields: Partial<Discount> = {}): Discount => ({
      ...percentOff(10),
      name: 'Spring',
      durationInMonths: 3,
      startDate: 1,
      ...fields,
    })
    const fixed = { percentOff: null, amountsOff: [{ amount: d(5), currency: 'USD' }] }
    const discountAfter = (before: Discount | null, asked: Discount | null, request: BillingRequest = {}) =>
      termsAfter(terms({ discount: before }), request, asked).discount
    const same: [string, Partial<Discount>, Partial<Discount>][] = [
      ['a percentage', {}, { startDate: 9 }],
      ['an amount', fixed, { ...fixed, amountsOff: [{ ...fixed.amountsOff[0]! }], startDate: 9 }],
    ]
    for (const [name, before, asked] of same) it(name, () => expect(discountAfter(given(before), given(asked))!.startDate).to.equal(1))

    const others: Partial<Discount>[] = [
      { source: 'promotionCode' },
      { couponId: 'other' },
      { name: 'Summer' },
      { percentOff: d(11) },
      fixed,
      { durationInMonths: 4 },
    ]
    for (const other of others)
      it(`but not one with another ${Object.keys(other)[0]}`, () =>
        expect(discountAfter(given(), given({ ...other, startDate: 9 }))).to.deep.equal(given({ ...other, startDate: 9 })))
    it('but not another amount, nor another currency', () => {
      for (const money of [
        { amount: d(6), currency: 'USD' },
        { amount: d(5), currency: 'EUR' },
      ])
        expect(discountAfter(given(fixed), given({ ...fixed, amountsOff: [money], startDate: 9 }))!.startDate).to.equal(9)
    })
    it('but not one that is to begin at a time', () => {
      expect(discountAfter(given(), given({ startDate: 9 }), { coupon: { couponRefId: 'c', startDate: 9 } })!.startDate).to.equal(9)
      expect(discountAfter(given(), given({ startDate: 9 }), { coupon: { couponRefId: 'c', startDate: null } })!.startDate).to.equal(1)
    })
    it('and one where there was none is new', () => expect(discountAfter(null, given({ startDate: 9 }))!.startDate).to.equal(9))
  })
})

describe('the agreed prices after a change that waited', () => {
  const before = [override()]
  it('are those of before where the change says nothing', () => {
    for (const agreed of [null, {}, { request: {} }]) expect(overridesAfter(before, agreed)).to.equal(before)
  })
  it('are what the change says', () => {
    const own = [override({ amount: d(1) })]
    expect(overridesAfter(before, { request: { priceOverrides: own } })).to.equal(own)
    expect(overridesAfter(before, { request: { priceOverrides: null } })).to.deep.equal([])
  })
})

describe('agreed prices', () => {
  const sold = () =>
    content([price(), price({ featureRefId: 'seats' })], {
      addons: [{ version: version('extra', [price({ currency: 'EUR' })], 'ADDON'), quantity: 1 }],
    })
  const at = (overrides: PriceOverride[] | null, currency: string | null = 'USD') =>
    refusedAt(() => checkOverrides({ priceOverrides: overrides }, sold(), currency))
  const message = (own: PriceOverride, currency: string | null = 'USD') => {
    let text = ''
    try {
      checkOverrides({ priceOverrides: [own] }, sold(), currency)
    } catch (error) {
      text = (error as Error).message
    }
    return text
  }

  it('replace prices that are charged', () => {
    expect(at(null)).to.equal(null)
    expect(at([override(), override({ featureRefId: 'seats' })])).to.equal(null)
    expect(at([override({ addonRefId: 'extra' })], 'EUR')).to.equal(null)
  })
  it('are refused by their place where they replace none', () => {
    expect(at([override(), override({ featureRefId: 'desks' })])).to.equal('priceOverrides[1]')
    expect(at([override({ addonRefId: 'extra' })])).to.equal('priceOverrides[0]')
    expect(at([override({ currency: 'EUR' })])).to.equal('priceOverrides[0]')
    expect(at([override()], null)).to.equal('priceOverrides[0]')
  })
  it('are refused by what they would be of', () => {
    expect(message(override({ featureRefId: 'desks' })))
      .to.include('plan "plan"')
      .and.include('feature "desks"')
      .and.include('in USD')
    expect(message(override({ addonRefId: 'extra' })))
      .to.include('add-on "extra"')
      .and.include('flat fee')
      .and.include('in USD')
    expect(message(override({ currency: 'EUR' }))).to.include('in EUR')
    expect(message(override(), null)).not.to.include(' in ')
  })
})

describe('what is asked for about money', () => {
  const discount = (given: Partial<AdHocDiscount>): BillingRequest => ({
    coupon: { discount: { name: null, percentOff: null, amountsOff: null, durationInMonths: null, ...given } },
  })
  const usd = (amount: string) => ({ amount: d(amount), currency: 'USD' })
  const counted = (given: Partial<PriceOverride>): BillingRequest => ({ priceOverrides: [override({ featureRefId: 'seats', ...given })] })

  const accepted: [string, BillingRequest][] = [
    ['nothing', {}],
    [
      'everything cleared',
      { coupon: null, minimumSpend: null, taxPercentage: null, taxRateIds: null, priceOverrides: null, daysUntilDue: null },
    ],
    ['no tax and all of it', { taxPercentage: d(0) }],
    ['a tax of 100 %', { taxPercentage: d(100) }],
    ['due at once', { daysUntilDue: 0 }],
    ['due in a year', { daysUntilDue: 365 }],
    ['a least spend', { minimumSpend: usd('0.01') }],
    ['a least spend in a currency without a minor unit', { minimumSpend: { amount: d(7), currency: 'JPY' } }],
    ['a coupon', { coupon: { couponRefId: 'spring' } }],
    ['a coupon of the provider', { coupon: { billingCouponId: 'x' } }],
    ['a code', { coupon: { promotionCode: 'x', couponRefId: null } }],
    ['the whole price off', discount({ percentOff: d(100) })],
    ['a part of a percent off', discount({ percentOff: d('0.1') })],
    ['amounts off', discount({ amountsOff: [usd('5'), { amount: d(4), currency: 'EUR' }], durationInMonths: 1 })],
    ['a price of nothing', { priceOverrides: [override({ amount: d(0) })] }],
    ['a price for blocks', counted({ blockSize: 0.5 })],
    ['tiers', counted({ amount: null, tiers: [tier(10, 0, null), tier(null, null, 0)] })],
  ]
  for (const [name, request] of accepted) it(`may be ${name}`, () => expect(refusedAt(() => checkBillingRequest(request))).to.equal(null))

  const [tax, due, coupon] = ['billingInformation.taxPercentage', 'billingInformation.invoiceDaysUntilDue', 'appliedCoupon']
  const refused: [string, BillingRequest, string][] = [
    ['a tax below 0', { taxPercentage: d('-0.1') }, tax],
    ['a tax above 100', { taxPercentage: d('100.1') }, tax],
    ['due before it is made', { daysUntilDue: -1 }, due],
    ['due in half a day', { daysUntilDue: 0.5 }, due],
    ['due in more than a year', { daysUntilDue: 366 }, due],
    ['a least spend of nothing', { minimumSpend: usd('0') }, 'minimumSpend'],
    ['a least spend below a minor unit', { minimumSpend: usd('1.001') }, 'minimumSpend'],
    ['a least spend of a part of a yen', { minimumSpend: { amount: d('1.5'), currency: 'JPY' } }, 'minimumSpend'],
    ['a least spend in what is no currency', { minimumSpend: { amount: d(1), currency: 'XXX' } }, 'minimumSpend'],
    ['no coupon at all', { coupon: {} }, coupon],
    ['two coupons', { coupon: { couponRefId: 'a', promotionCode: 'b' } }, coupon],
    ['a discount of nothing', discount({}), `${coupon}.discount`],
    ['a discount of both', discount({ percentOff: d(1), amountsOff: [usd('1')] }), `${coupon}.discount`],
    ['0 % off', discount({ percentOff: d(0) }), `${coupon}.discount.percentOff`],
    ['more than all of it off', discount({ percentOff: d('100.1') }), `${coupon}.discount.percentOff`],
    ['no amounts off', discount({ amountsOff: [] }), `${coupon}.discount.amountsOff`],
    ['an amount of nothing off', discount({ amountsOff: [usd('0')] }), `${coupon}.discount.amountsOff`],
    ['two amounts in one currency off', discount({ amountsOff: [usd('1'), usd('2')] }), `${coupon}.discount.amountsOff`],
    ['a discount for no month', discount({ percentOff: d(1), durationInMonths: 0 }), `${coupon}.discount.durationInMonths`],
    ['a discount for half a month', discount({ percentOff: d(1), durationInMonths: 1.5 }), `${coupon}.discount.durationInMonths`],
    ['neither a price nor tiers', { priceOverrides: [override(), override({ amount: null })] }, 'priceOverrides[1]'],
    ['a price and tiers', counted({ tiers: [tier(null, 1)] }), 'priceOverrides[0]'],
    ['a negative price', { priceOverrides: [override({ amount: d(-1) })] }, 'priceOverrides[0].price'],
    ['a flat fee in tiers', { priceOverrides: [override({ amount: null, tiers: [tier(null, 1)] })] }, 'priceOverrides[0]'],
    ['a flat fee in blocks', { priceOverrides: [override({ blockSize: 5 })] }, 'priceOverrides[0]'],
    ['a block of nothing', counted({ blockSize: 0 }), 'priceOverrides[0].blockSize'],
    ['tiers in blocks', counted({ amount: null, tiers: [tier(null, 1)], blockSize: 5 }), 'priceOverrides[0].blockSize'],
    ['no tiers', counted({ amount: null, tiers: [] }), 'priceOverrides[0].tiers'],
    [
      'a tier without an end before the last',
      counted({ amount: null, tiers: [tier(null, 1), tier(null, 1)] }),
      'priceOverrides[0].tiers[0].upTo',
    ],
    ['a negative unit price', counted({ amount: null, tiers: [tier(1, 1), tier(null, -1, 2)] }), 'priceOverrides[0].tiers[1]'],
    ['a negative flat price', counted({ amount: null, tiers: [tier(null, null, -1)] }), 'priceOverrides[0].tiers[0]'],
  ]
  for (const [name, request, path] of refused)
    it(`may not be ${name}`, () => expect(refusedAt(() => checkBillingRequest(request))).to.equal(path))

  it('has its tax rates looked up before: they are not for here', () => {
    expect(() => checkBillingRequest({ taxRateIds: [] })).to.throw(Error, 'looked up')
  })
})
