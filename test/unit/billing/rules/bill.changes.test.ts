import { expect } from 'chai'
import { type Account, type BilledChange, newAccount } from '../../../../src/billing/rules/account.js'
import { type Billed, bill } from '../../../../src/billing/rules/bill.js'
import type { Charges } from '../../../../src/billing/rules/credit.js'
import type { Subscription } from '../../../../src/subscription/rules/subscription.js'
import { subscription as held } from '../../subscription/support.js'
import { d, percentOff, price, standing, terms, version } from '../support.js'

const day = 86_400_000
const start = Date.parse('2027-04-01T00:00:00Z')
const half = start + 15 * day
const end = Date.parse('2027-05-01T00:00:00Z')
const june = Date.parse('2027-06-01T00:00:00Z')
const period = { start, end }
const next = { start: end, end: june }
const anew = { start: half, end: Date.parse('2027-05-16T00:00:00Z') }

const calls = price({ id: 'calls', featureRefId: 'calls', billingModel: 'USAGE_BASED', amount: d(1) })
const plan = (amount: number) => version(`plan of ${amount}`, [price({ id: `fee of ${amount}`, amount: d(amount) }), calls])
const paying = (amount: number, fields: Partial<Subscription> = {}) =>
  held({ plan: plan(amount), pricingType: 'PAID', billingPeriod: 'MONTHLY', startDate: start, currentPeriod: period, ...fields })
const free = (fields: Partial<Subscription> = {}) => paying(0, { pricingType: 'FREE', billingPeriod: null, currentPeriod: null, ...fields })
const canceled = (cancelReason: Subscription['cancelReason'] = 'Immediate') =>
  paying(30, { status: 'CANCELED', cancelReason, effectiveEndDate: half, cancellationDate: half })

type Request = Parameters<typeof bill>[0]
const change = (account: Account, given: Partial<BilledChange>, rest: Partial<Request> = {}): Billed =>
  bill({
    account,
    change: {
      before: paying(30),
      after: paying(30),
      at: half,
      isRenewal: false,
      proration: 'INVOICE_IMMEDIATELY',
      creditsUnused: false,
      ...given,
    },
    ...rest,
  })
const begin = (given: Partial<BilledChange> = {}, rest: Partial<Request> = {}) =>
  change(newAccount(terms()), { before: null, at: start, ...given }, rest)
/** Charged 30 for April. */
const begun = () => begin().account
const used = (quantity: number, of = period) => ({ usage: [{ priceId: 'calls', period: of, quantity: d(quantity) }] })
const lines = ({ drafts }: Billed) => drafts.map(({ lines: all }) => all.map(({ amount }) => amount))
const shown = ({ drafts }: Billed) => drafts.map(({ reason, total }) => [reason, total])
const least = (amount: number) => terms({ minimumSpend: { amount: d(amount), currency: 'USD' } })

describe('the beginning of a subscription', () => {
  it('charges its first period in advance, and remembers it', () => {
    const billed = begin()
    expect(shown(billed)).to.deep.equal([['SUBSCRIPTION_CREATION', '30']])
    expect(billed.account).to.deep.include({
      fixedCharged: '30',
      pending: null,
      credited: null,
      usageCharged: [],
      creditsUnusedAtEnd: false,
      begun: [{ start, chargedFrom: start, months: 1 }],
    })
    expect(billed.account.standing).to.deep.include({ period, gross: '30', net: '30' })
  })
  it('of nothing makes no invoice and uses up no month of a coupon', () => {
    expect(begin({ after: free() })).to.deep.equal({ account: newAccount(terms()), drafts: [] })
    const nothing = begin({ after: paying(0) })
    expect([nothing.drafts, nothing.account.begun]).to.deep.equal([[], [{ start, chargedFrom: start, months: 0 }]])
  })
  it('takes the place of another one: with credit for what it has left', () => {
    const replaced = { ...standing(40, period), chargedBy: 'other' }
    const kept = begin({ at: half }, { replaced })
    expect([shown(kept), lines(kept)]).to.deep.equal([[['SUBSCRIPTION_CREATION', '-5']], [['-20', '15']]])
    expect(kept.account).to.deep.include({ fixedCharged: '15' })
    const own = begin({ at: half, after: paying(30, { currentPeriod: anew, startDate: half }) }, { replaced })
    expect(lines(own)).to.deep.equal([['-20', '30']])
    const over = begin({ at: end, after: paying(30, { currentPeriod: next, startDate: end }) }, { replaced })
    expect([shown(over), lines(over)]).to.deep.equal([[['SUBSCRIPTION_CREATION', '30']], [['30']]])
  })
  it('takes the place of another one with NONE: by what stands, where its period goes on, else without credit', () => {
    const replaced = { ...standing(40, period), chargedBy: 'other' }
    const kept = begin({ at: half, proration: 'NONE' }, { replaced })
    expect(kept.drafts).to.deep.equal([])
    expect(kept.account).to.deep.include({ standing: replaced, fixedCharged: '20' })
    const own = begin({ at: half, proration: 'NONE', after: paying(30, { currentPeriod: anew, startDate: half }) }, { replaced })
    expect(lines(own)).to.deep.equal([['30']])
  })
})

describe('a change within a period', () => {
  it('credits the rest of the old and charges that of the new', () => {
    const billed = change(begun(), { after: paying(60) })
    expect([shown(billed), lines(billed)]).to.deep.equal([[['SUBSCRIPTION_UPDATE', '15']], [['-15', '30']]])
    expect(billed.account.fixedCharged).to.equal('45')
    expect(billed.account.standing!.net).to.equal('60')
    // Back after half of the rest: 45, less the unused 15 of 60, and the 7.50 of 30.
    const back = change(billed.account, { before: paying(60), after: paying(30), at: start + 22.5 * day })
    expect([lines(back), back.account.fixedCharged]).to.deep.equal([[['-15', '7.5']], '37.5'])
  })
  it('of nothing that is charged makes no invoice', () => {
    const account = begun()
    expect(change(account, { after: paying(30, { salesforceId: 'x' }) })).to.deep.equal({ account, drafts: [] })
  })
  it('waits for the next invoice with CREATE_PRORATIONS', () => {
    const waiting = change(begun(), { after: paying(60), proration: 'CREATE_PRORATIONS' })
    expect([waiting.drafts, waiting.account.pending!.lines.map(({ amount }) => amount)]).to.deep.equal([[], ['-15', '30']])
    expect(waiting.account.fixedCharged).to.equal('45')
    const renewed = change(waiting.account, { before: paying(60), after: paying(60, { currentPeriod: next }), at: end, isRenewal: true })
    expect([shown(renewed), lines(renewed)]).to.deep.equal([[['BILLING_CYCLE', '75']], [['60', '-15', '30']]])
  })
  it('costs nothing with NONE, and what is sold then is charged from the next period on', () => {
    const kept = change(begun(), { after: paying(60), proration: 'NONE' })
    expect([kept.drafts, kept.account.standing!.net, kept.account.fixedCharged]).to.deep.equal([[], '30', '30'])
    const renewed = change(kept.account, { before: paying(60), after: paying(60, { currentPeriod: next }), at: end, isRenewal: true })
    expect(shown(renewed)).to.deep.equal([['BILLING_CYCLE', '60']])
  })
  it('is discounted anew where the discount is its own, and not by what its customer was given or lost', () => {
    const own = change(begun(), {}, { terms: terms({ discount: percentOff(10) }) })
    expect(shown(own)).to.deep.equal([['SUBSCRIPTION_UPDATE', '-1.5']])
    const account = begun()
    expect(change(account, {}, { customerDiscount: percentOff(10) })).to.deep.equal({ account, drafts: [] })
    const discounted = begin({}, { customerDiscount: percentOff(10) }).account
    expect(change(discounted, {}).drafts).to.deep.equal([])
  })
  it('to what is charged after it was free is a beginning', () => {
    const paid = change(newAccount(terms()), { before: free(), after: paying(30, { currentPeriod: anew }) })
    expect(shown(paid)).to.deep.equal([['SUBSCRIPTION_CREATION', '30']])
  })
  it('to what is free gives back what is not used, unless with NONE', () => {
    const account = { ...begun(), terms: least(100) }
    const given = change(account, { after: free() }, used(3, { start, end: half }))
    // The least spend of half a month is 50: 15 were used in advance, and 3.
    expect([lines(given), given.account.standing]).to.deep.equal([[['-15'], ['3', '32']], null])
    expect(given.account.terms).to.equal(account.terms)
    expect(lines(change(account, { after: free(), proration: 'NONE' }, used(3, { start, end: half })))).to.deep.equal([['3', '17']])
  })
  it('is charged by the terms of before until then, and by those of the change from then on', () => {
    const agreed = terms({ taxPercentage: d(10) })
    const ended = change(begun(), { after: free() }, { terms: agreed, ...used(3, { start, end: half }) })
    expect(ended.drafts.map(({ tax }) => tax)).to.deep.equal(['0', '0'])
    expect(ended.account.terms).to.equal(agreed)
  })
})

describe('a change that begins a period', () => {
  const after = paying(60, { currentPeriod: anew, billingAnchor: half })
  it('closes the one that runs: its usage, then the credit and the new one', () => {
    const billed = change(begun(), { after }, used(4, { start, end: half }))
    expect([shown(billed), lines(billed)]).to.deep.equal([
      [
        ['BILLING_CYCLE', '4'],
        ['SUBSCRIPTION_UPDATE', '45'],
      ],
      [['4'], ['-15', '60']],
    ])
    expect(billed.account).to.deep.include({ fixedCharged: '60' })
    expect(billed.account.begun.map(({ start: at }) => at)).to.deep.equal([start, half])
  })
  it('uses up no month of a coupon by the usage of the one before', () => {
    const nothing = paying(0, { currentPeriod: anew, billingAnchor: half })
    const billed = change(begin({ after: paying(0) }).account, { before: paying(0), after: nothing }, used(4, { start, end: half }))
    expect(billed.account.begun).to.deep.equal([{ start: half, chargedFrom: half, months: 0 }])
  })
  it('counts what is given back as none of what was spent, and with NONE gives nothing back', () => {
    const account = { ...begun(), terms: least(100) }
    expect(lines(change(account, { after }))).to.deep.equal([['35'], ['-15', '60']])
    expect(lines(change(account, { after, proration: 'NONE' }))).to.deep.equal([['20'], ['60']])
  })
  it('keeps what waits for the new invoice', () => {
    const { account } = change(begun(), { after: paying(60), proration: 'CREATE_PRORATIONS' })
    const billed = change(account, { before: paying(60), after }, used(4, { start, end: half }))
    expect(lines(billed)).to.deep.equal([['4'], ['-30', '60', '-15', '30']])
  })
  it('at the end of the old one ends it first; what is sold then is charged by the renewal that comes next', () => {
    const closed = change(begun(), { after: paying(60), at: end }, used(5))
    expect([shown(closed), closed.account.standing]).to.deep.equal([[['BILLING_CYCLE', '5']], null])
    const again = change(closed.account, { before: paying(60), after: paying(90), at: end }, { terms: least(1) })
    expect([again.drafts, again.account.terms.minimumSpend!.amount]).to.deep.equal([[], '1'])
    const renewed = change(again.account, { before: paying(90), after: paying(90, { currentPeriod: next }), at: end, isRenewal: true })
    expect(shown(renewed)).to.deep.equal([['BILLING_CYCLE', '90']])
  })
  it('and is over when it is recorded late, ends the old one too', () => {
    const closed = change(begun(), { after: paying(60), at: end + day }, used(5))
    expect([shown(closed), closed.account.standing]).to.deep.equal([[['BILLING_CYCLE', '5']], null])
  })
  it('of what has no charge yet is no renewal', () => {
    const paid = change(begun(), { after: paying(60, { currentPeriod: next }), at: end })
    expect(shown(paid)).to.deep.equal([['BILLING_CYCLE', '60']])
  })
})

describe('a renewal', () => {
  const renew = (account: Account, rest: Partial<Request> = {}, at = end, following = next) =>
    change(account, { after: paying(30, { currentPeriod: following }), at, isRenewal: true }, rest)

  it('charges the usage of the period that ended and the next one in advance', () => {
    const billed = renew(begun(), used(7))
    expect([shown(billed), lines(billed)]).to.deep.equal([[['BILLING_CYCLE', '37']], [['30', '7']]])
    expect(billed.account).to.deep.include({ fixedCharged: '30' })
    expect(billed.account.standing!.period).to.deep.equal(next)
    expect(billed.account.usageCharged.map(({ amount, period: of }) => [amount, of])).to.deep.equal([['7', period]])
  })
  it('charges late usage of the one before, once', () => {
    const first = renew(begun(), used(7)).account
    const july = { start: june, end: Date.parse('2027-07-01T00:00:00Z') }
    const both = { usage: [...used(9).usage, ...used(1, next).usage] }
    const second = change(
      first,
      { before: paying(30, { currentPeriod: next }), after: paying(30, { currentPeriod: july }), at: june, isRenewal: true },
      both,
    )
    expect(lines(second)).to.deep.equal([['30', '2', '1']])
    const amounts = second.account.usageCharged.map(({ amount, period: of }) => [amount, of.start])
    // What is too old for late usage is forgotten.
    expect(amounts).to.deep.include(['1', end])
    expect(amounts.filter(([, at]) => at === start).map(([amount]) => amount)).to.satisfy((all: string[]) =>
      all.every((one) => one === '9'),
    )
  })
  it('remembers what it charged for usage as long as more of it may come', () => {
    const other = { priceId: 'gone', period: { start, end: half }, amount: d(1) }
    const { account } = renew({ ...begun(), usageCharged: [other] }, used(7))
    expect(account.usageCharged.map(({ priceId }) => priceId)).to.deep.equal(['calls', 'gone'])
  })
  it('uses up a month of a coupon where its invoice comes to something, by usage too', () => {
    const months = (rest: Partial<Request>) => {
      const nothing = paying(0, { currentPeriod: next })
      const { account } = begin({ after: paying(0) })
      return change(account, { before: paying(0), after: nothing, at: end, isRenewal: true }, rest).account.begun
    }
    expect(months(used(5))).to.deep.equal([{ start: end, chargedFrom: end, months: 1 }])
    expect(months(used(0))).to.deep.equal([{ start: end, chargedFrom: end, months: 0 }])
  })
  it('to nothing that is charged ends what was', () => {
    const ended = change(begun(), { after: paying(30, { billingPeriod: null, currentPeriod: null }), at: end, isRenewal: true }, used(7))
    expect([shown(ended), ended.account.standing, ended.account.fixedCharged]).to.deep.equal([[['BILLING_CYCLE', '7']], null, '0'])
  })
  it('counts the whole of what was charged in advance as spent', () => {
    expect(lines(renew({ ...begun(), terms: least(50) }, used(7)))).to.deep.equal([['30', '7', '13']])
  })
  it('discounts usage by what holds for the next period, and at an end by what holds for the one that runs', () => {
    const once = { ...percentOff(50), durationInMonths: 1 }
    const { account } = begin({}, { terms: terms({ discount: once }) })
    expect(renew(account, used(10)).drafts[0]).to.include({ discount: '0' })
    expect(change(account, { after: canceled() }, used(10, { start, end: half })).drafts[0]).to.include({ discount: '5' })
    expect(change(account, { after: { ...canceled(), effectiveEndDate: end }, at: end }, used(10)).drafts[0]).to.include({ discount: '0' })
  })
})

describe('the end of a subscription', () => {
  const usage = used(3, { start, end: half })
  const ended = (account: Account, given: Partial<BilledChange> = {}, rest: Partial<Request> = usage) =>
    change(account, { after: canceled(), ...given }, rest)

  it('charges what was used, and gives nothing back by itself', () => {
    const billed = ended({ ...begun(), terms: least(100) })
    expect([lines(billed), billed.account.standing, billed.account.fixedCharged]).to.deep.equal([[['3', '17']], null, '0'])
  })
  it('gives back what is not used where that is asked, before what is to be paid; it is none of what was spent', () => {
    const billed = ended({ ...begun(), terms: least(100) }, { creditsUnused: true })
    expect([shown(billed), lines(billed)]).to.deep.equal([
      [
        ['SUBSCRIPTION_UPDATE', '-15'],
        ['BILLING_CYCLE', '35'],
      ],
      [['-15'], ['3', '32']],
    ])
  })
  it('leaves to its successor to give it back', () => {
    const billed = ended({ ...begun(), terms: least(100) }, { after: canceled('UpgradeOrDowngrade'), goesToSuccessor: true })
    expect(lines(billed)).to.deep.equal([['3', '32']])
  })
  it('of what was never charged makes no invoice', () => {
    expect(ended(newAccount(terms())).drafts).to.deep.equal([])
  })

  describe('gives back what was asked for when it was decided', () => {
    const scheduled = paying(30, { cancellationDate: start, effectiveEndDate: half })
    const asked = (given: Partial<BilledChange> = {}, account = begun()) =>
      change(account, { after: scheduled, at: start + day, creditsUnused: true, ...given })
    const outcome = (account: Account, after: Subscription) => lines(change(account, { before: scheduled, after }))

    it('and not before', () => {
      const { account, drafts, waiting } = asked()
      expect([drafts, waiting, account.creditsUnusedAtEnd]).to.deep.equal([[], undefined, true])
      expect({ ...account, creditsUnusedAtEnd: false }).to.deep.equal(begun())
      expect(outcome(account, canceled('ScheduledCancellation'))).to.deep.equal([['-15']])
    })
    it('and not when it is replaced, or ends at once for another reason', () => {
      const { account } = asked()
      expect(outcome(account, canceled('UpgradeOrDowngrade'))).to.deep.equal([])
      expect(outcome(account, canceled('Immediate'))).to.deep.equal([])
      expect(outcome(begun(), canceled('ScheduledCancellation'))).to.deep.equal([])
    })
    it('and as was asked last, where it is decided anew', () => {
      const { account } = asked()
      for (const moved of [{ effectiveEndDate: half + day }, { cancellationDate: start + day }]) {
        const after = { ...scheduled, ...moved }
        expect(asked({ before: scheduled, after, creditsUnused: false }, account).account.creditsUnusedAtEnd).to.equal(false)
        expect(asked({ before: scheduled, after }, account).account.creditsUnusedAtEnd).to.equal(true)
      }
      // Asked again at the same instant, it is asked for all the same.
      const silent = asked({ creditsUnused: false }).account
      expect(asked({ before: scheduled }, silent).account.creditsUnusedAtEnd).to.equal(true)
      // A change of something else says nothing of its end.
      expect(asked({ before: scheduled, after: scheduled, creditsUnused: false }, account).account.creditsUnusedAtEnd).to.equal(true)
      expect(asked({ before: null, after: scheduled, creditsUnused: false }, account).account.creditsUnusedAtEnd).to.equal(true)
    })
  })
})

describe('a subscription that waits for its first payment', () => {
  const pending = (fields: Partial<Subscription> = {}) => paying(30, { status: 'PAYMENT_PENDING', currentPeriod: null, ...fields })
  const active = () => paying(30)
  const asked = (rest: Partial<Request> = {}, at = start) => begin({ after: pending(), at }, rest)

  it('is charged when it is asked for, and no more when it is paid', () => {
    const { account, drafts } = asked()
    expect(drafts.map(({ total }) => total)).to.deep.equal(['30'])
    const paid = change(account, { before: pending(), after: active() })
    expect([paid.drafts, paid.account]).to.deep.equal([[], account])
  })
  it('and is given up leaves nothing', () => {
    const { account } = asked()
    const given = { before: pending(), after: { ...pending(), status: 'CANCELED' as const }, creditsUnused: true }
    expect(change(account, given)).to.deep.equal({ account: newAccount(account.terms), drafts: [] })
  })
  it('has nothing to give back while it waits, whatever is asked', () => {
    const { account } = asked()
    const later = change(account, {
      before: pending(),
      after: pending({ cancellationDate: half, effectiveEndDate: end }),
      creditsUnused: true,
    })
    expect([later.drafts, later.account.standing]).to.deep.equal([[], account.standing])
  })
  it('is charged another period than it was, where it is paid in that; meanwhile it has used nothing', () => {
    const { account } = asked()
    const paid = change(account, { before: pending(), after: paying(30, { currentPeriod: next }), at: end + day }, used(9))
    expect(lines(paid)).to.deep.equal([['30']])
    expect(paid.account.credited).to.equal(null)
  })

  describe('credits the other one, which goes on until then', () => {
    const replaced = { ...standing(40, period), chargedBy: 'other' }
    const waiting = (given: Partial<typeof replaced> = {}, rest: Partial<Request> = {}) =>
      asked({ replaced: { ...replaced, ...given }, ...rest }, half)
    const paid = (account: Account, of: typeof replaced | null = replaced, rest: Partial<Request> = {}) =>
      change(account, { before: pending(), after: active(), at: half + day }, { replaced: of, ...rest })

    it('on its invoice, and then no more', () => {
      const { account, drafts } = waiting()
      expect(lines({ account, drafts })).to.deep.equal([['-20', '15']])
      expect(account.credited).to.deep.equal({ chargedBy: 'other', periodStart: start })
      expect(paid(account).drafts).to.deep.equal([])
      expect(paid(account).account.credited).to.equal(null)
    })
    it('after its payment where another invoice has charged for that meanwhile, or for another period', () => {
      const { account } = waiting()
      // 14 of 30 days are left of 60.
      expect(lines(paid(account, { ...replaced, ...standing(60, period), chargedBy: 'changed' }))).to.deep.equal([['-28']])
      const longer = { start: start + day, end }
      expect(lines(paid(account, { ...replaced, period: longer }))).to.deep.equal([['-19.31']])
    })
    it('after its payment where it waits for an invoice itself', () => {
      const { chargedBy: _, ...unnamed } = replaced
      const { account, drafts } = asked({ replaced: unnamed }, half)
      expect([lines({ account, drafts }), account.credited]).to.deep.equal([[['30']], null])
      expect(lines(change(account, { before: pending(), after: active(), at: half + day }, { replaced: unnamed }))).to.deep.equal([
        ['-18.67'],
      ])
    })
    it('after its payment where it was charged in another currency', () => {
      const { account, drafts } = waiting({ currency: 'EUR' })
      expect([lines({ account, drafts }), account.credited]).to.deep.equal([[['30']], null])
    })
    it('after its payment where its own is missing, or it was another’s', () => {
      const by =
        (funding: 'given' | 'waits', payerId: string): Charges =>
        () => ({ funding, payerId })
      for (const charges of [by('waits', 'customer'), by('given', 'parent')]) {
        const { account, drafts } = waiting({}, { charges })
        expect([drafts.length, account.credited]).to.deep.equal([1, null])
        expect(drafts[0]!.credits ?? []).to.deep.equal([])
        const then = paid(account, replaced, { charges })
        expect([then.drafts.map(({ total, payerId }) => [total, payerId]), then.waiting?.map(({ amount }) => amount)]).to.deep.equal(
          charges('')!.funding === 'waits' ? [[], ['18.67']] : [[['-18.67', 'parent']], []],
        )
      }
    })
    it('after its payment, not when something else changes while it waits', () => {
      const { account } = waiting()
      const changed = { ...replaced, chargedBy: 'changed' }
      for (const of of [changed, null]) {
        const still = change(account, { before: pending(), after: pending({ salesforceId: 'x' }) }, { replaced: of })
        expect([still.drafts, still.account]).to.deep.equal([[], account])
      }
    })
    it('and not where it is sold for nothing itself', () => {
      const { account, drafts } = waiting({}, { terms: terms({ currency: null }) })
      expect([drafts, account.credited, account.standing]).to.deep.equal([[], null, null])
    })
    it('and not at all where there is none any more', () => {
      expect(paid(asked({}, half).account, null).drafts).to.deep.equal([])
    })
  })
})

describe('credit for what is not paid', () => {
  const by =
    (funding: 'given' | 'waits' | 'never', payerId = 'customer'): Charges =>
    () => ({ funding, payerId })
  const charged = (): Account => {
    const { standing: stands, ...account } = begun()
    return { ...account, standing: { ...stands!, chargedBy: 'first' } }
  }
  const upgraded = (charges: Charges) => change(charged(), { after: paying(60) }, { charges })

  it('is on the invoice of a change where it is given to who pays that', () => {
    const billed = upgraded(by('given'))
    expect([lines(billed), billed.waiting]).to.deep.equal([[['-15', '30']], []])
    expect(billed.drafts[0]!.credits).to.deep.equal([{ chargeId: 'first', amount: '15' }])
  })
  it('waits where that payment is missing, and what is charged is charged', () => {
    const billed = upgraded(by('waits'))
    expect(lines(billed)).to.deep.equal([['30']])
    expect(billed.waiting).to.deep.equal([{ chargeId: 'first', amount: '15', currency: 'USD', payerId: 'customer' }])
    // What was spent is the same.
    expect(billed.account.fixedCharged).to.equal('45')
  })
  it('is none where it never will be paid', () => {
    const billed = upgraded(by('never'))
    expect([lines(billed), billed.waiting]).to.deep.equal([[['30']], []])
  })
  it('is a document of its own, which comes first, for who paid', () => {
    const billed = upgraded(by('given', 'parent'))
    expect(billed.drafts.map(({ total, payerId }) => [total, payerId])).to.deep.equal([
      ['-15', 'parent'],
      ['30', undefined],
    ])
  })
  it('is given apart too where the change waits for the next invoice', () => {
    const billed = change(charged(), { after: paying(60), proration: 'CREATE_PRORATIONS' }, { charges: by('given', 'parent') })
    expect([lines(billed), billed.account.pending!.lines.map(({ amount }) => amount)]).to.deep.equal([[['-15']], ['30']])
    const own = change(charged(), { after: paying(60), proration: 'CREATE_PRORATIONS' }, { charges: by('given') })
    expect(own.drafts).to.deep.equal([])
  })
})
