import { expect } from 'chai'
import fc from 'fast-check'
import type { Period, Standing } from '../../../../src/billing/rules/billing.js'
import { changeDraft, standingOf, sum } from '../../../../src/billing/rules/invoice.js'
import { creditOf, unusedOf, unusedShare } from '../../../../src/billing/rules/proration.js'
import * as decimal from '../../../../src/kernel/decimal.js'
import { minorDigits } from '../../../../src/kernel/money.js'
import { usagePeriodAt } from '../../../../src/metering/model/usage-period.js'
import { amountOff, content, d, percentOff, price, standing, terms } from '../support.js'

const iso = Date.parse
const april: Period = { start: iso('2026-04-01T00:00:00Z'), end: iso('2026-05-01T00:00:00Z') }

const anyCurrency = fc.constantFrom('USD', 'JPY', 'KWD', 'EUR')
/** Prices of several lines with a discount, as they come out of a catalog. */
const anyStanding = (period: Period, currency: string) =>
  fc
    .record({
      amounts: fc.array(fc.integer({ min: 0, max: 500_000 }), { minLength: 1, maxLength: 6 }),
      discount: fc.oneof(
        fc.constant(null),
        fc.integer({ min: 1, max: 100 }).map(percentOff),
        fc.integer({ min: 1, max: 900 }).map((off) => amountOff(off, currency)),
      ),
    })
    .map(({ amounts, discount }): Standing => {
      const prices = amounts.map((amount, index) =>
        price({ featureRefId: `f${index}`, amount: d(amount / 10_000), currency: currency as 'USD' }),
      )
      const quantities = prices.map(({ featureId }, index) => ({ featureId: featureId!, quantity: d(index * 7 + 1) }))
      return standingOf({
        content: content(prices, { quantities }),
        terms: terms({ currency }),
        period,
        discount,
      })!
    })
const anyChange = anyCurrency.chain((currency) =>
  fc.record({
    a: anyStanding(april, currency),
    b: anyStanding(april, currency),
    c: anyStanding(april, currency),
    at: fc.integer({ min: april.start, max: april.end }),
    later: fc.integer({ min: april.start, max: april.end }),
  }),
)
const change = (before: Standing | null, after: Standing | null, at: number) =>
  changeDraft({ reason: 'SUBSCRIPTION_UPDATE', before, after, taxPercentage: null, at })!
const minor = (amount: decimal.Decimal, currency: string) => Math.round(decimal.toNumber(amount) * 10 ** minorDigits(currency))

describe('proration', () => {
  it('costs in two steps what it costs in one', () => {
    fc.assert(
      fc.property(anyChange, ({ a, b, c, at }) => {
        expect(decimal.add(change(a, b, at).total, change(b, c, at).total)).to.equal(change(a, c, at).total)
      }),
    )
  })

  it('costs nothing there and back but the time between', () => {
    fc.assert(
      fc.property(anyChange, ({ a, b, at, later }) => {
        expect(decimal.add(change(a, b, at).total, change(b, a, at).total)).to.equal('0')
        const [from, to] = [Math.min(at, later), Math.max(at, later)]
        const total = decimal.add(change(a, b, from).total, change(b, a, to).total)
        const between = (stands: Standing) => decimal.subtract(unusedOf(stands, from).net, unusedOf(stands, to).net)
        expect(total).to.equal(decimal.subtract(between(b), between(a)))
      }),
    )
  })

  it('never credits more than was charged, in no line and in total', () => {
    fc.assert(
      fc.property(anyChange, ({ a, at, later }) => {
        const charged = unusedOf(a, Math.min(at, later))
        const credit = creditOf(a, Math.max(at, later))
        expect(decimal.compare(decimal.negate(credit.net), charged.net)).to.be.at.most(0)
        expect(decimal.compare(decimal.negate(credit.net), a.net)).to.be.at.most(0)
        for (const [index, line] of credit.lines.entries())
          expect(decimal.compare(decimal.negate(line.amount), a.lines[index]!.amount)).to.be.at.most(0)
      }),
    )
  })

  it('has lines that add up to what is charged, in minor units', () => {
    fc.assert(
      fc.property(anyChange, ({ a, b, at }) => {
        const draft = change(a, b, at)
        expect(sum(draft.lines.map(({ amount }) => amount))).to.equal(draft.subTotal)
        expect(decimal.subtract(draft.subTotal, draft.discount)).to.equal(draft.total)
        expect(decimal.add(draft.credit, draft.debit)).to.equal(draft.total)
        for (const { amount } of draft.lines)
          expect(minor(amount, draft.currency)).to.be.closeTo(decimal.toNumber(amount) * 10 ** minorDigits(draft.currency), 1e-6)
      }),
    )
  })

  it('gives zero for a period without length, and never something that is no number', () => {
    const empty = { start: 5_000, end: 5_000 }
    for (const at of [0, 5_000, 9_000]) expect(unusedOf(standing(30, empty), at).net).to.equal('0')
  })

  it('counts to the second', () => {
    const minute = { start: 0, end: 60_000 }
    expect(unusedOf(standing(60, minute), 999).net).to.equal('60')
    expect(unusedOf(standing(60, minute), 1_000).net).to.equal('59')
    expect(unusedOf(standing(60, minute), 59_999).net).to.equal('1')
  })

  it('is the same in six time zones, up to their shift', () => {
    const zones = ['UTC', 'Asia/Tokyo', 'Asia/Kathmandu', 'Pacific/Honolulu', 'America/Bogota', 'Asia/Kolkata']
    const totals = zones.map((timeZone) => {
      const local = (text: string) => iso(`${text}Z`) - offsetOf(timeZone)
      const period = usagePeriodAt({
        period: 'MONTH',
        rule: 'SubscriptionStart',
        anchor: local('2026-01-31T09:00:00'),
        timeZone,
        at: local('2026-02-15T00:00:00'),
      })
      return change(standing(310, period), standing('99.99', period), local('2026-02-14T12:34:56')).total
    })
    expect(new Set(totals).size).to.equal(1)
  })
})

/** Of zones whose clocks never change. */
function offsetOf(timeZone: string): number {
  const at = iso('2026-02-01T00:00:00Z')
  const local = new Intl.DateTimeFormat('sv', { timeZone, dateStyle: 'short', timeStyle: 'medium' }).format(at)
  return iso(`${local.replace(' ', 'T')}Z`) - at
}

describe('the share of a period', () => {
  const minute = { start: 60_000, end: 120_000 }
  it('that is not used is all of it before its beginning, and nothing from its end on', () => {
    expect(unusedShare(minute, 0)).to.deep.equal({ numerator: 60_000n, denominator: 60_000n })
    expect(unusedShare(minute, 60_000)).to.deep.equal({ numerator: 60_000n, denominator: 60_000n })
    for (const at of [120_000, 500_000]) expect(unusedShare(minute, at).numerator).to.equal(0n)
    expect(unusedShare({ start: 0, end: 1_500 }, 1_500).numerator).to.equal(0n)
    expect(unusedShare({ start: 0, end: 1_500 }, 1_499)).to.deep.equal({ numerator: 500n, denominator: 1_500n })
  })
  it('is told from the whole in its lines', () => {
    const [whole] = unusedOf(standing(30, minute), 60_000).lines
    expect(whole).to.deep.include({ amount: '30', period: minute, isProration: false })
    const [part] = unusedOf(standing(30, minute), 90_000).lines
    expect(part).to.deep.include({ amount: '15', period: { start: 90_000, end: 120_000 }, isProration: true })
    expect(unusedOf(standing(30, minute), 0).lines[0]!.period).to.deep.equal(minute)
    expect(creditOf(standing(30, minute), 60_000).lines[0]).to.deep.include({ amount: '-30', period: minute, isProration: true })
  })
})
