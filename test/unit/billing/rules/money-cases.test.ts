import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { discountOn } from '../../../../src/billing/rules/coupon.js'
import { changeDraft, standingOf } from '../../../../src/billing/rules/invoice.js'
import { costOf } from '../../../../src/billing/rules/price.js'
import * as decimal from '../../../../src/kernel/decimal.js'
import { round } from '../../../../src/kernel/money.js'
import { amountOff, content, d, percentOff, price, terms } from '../support.js'

interface Cases {
  proration: {
    name: string
    timezone: string
    period: [string, string]
    at: string
    currency: string
    old: number
    new: number
    trial?: boolean
    percentOff?: number
    credit: number
    debit: number
    total: number
  }[]
  tiers: {
    name: string
    mode?: 'GRADUATED' | 'VOLUME'
    tiers?: { upTo: number | null; unitPrice: number }[]
    blockSize?: number
    blockPrice?: number
    quantity: number
    amount: number
  }[]
  coupons: {
    name: string
    currency: string
    percentOff?: number
    amountOff?: number
    subTotal?: number
    discount?: number
    total?: number
    oldTotal?: number
    newTotal?: number
    difference?: number
  }[]
}

const cases: Cases = JSON.parse(readFileSync('test/cases/money.json', 'utf8'))
const asNumber = (amount: decimal.Decimal | undefined) => (amount === undefined ? 0 : decimal.toNumber(amount))

describe('money cases', () => {
  for (const c of cases.proration) {
    it(`prorates: ${c.name}`, () => {
      const period = { start: Date.parse(c.period[0]), end: Date.parse(c.period[1]) }
      const at = Date.parse(c.at)
      const stands = (amount: number) =>
        standingOf({
          content: content([price({ amount: d(amount), currency: c.currency as 'USD' })]),
          terms: terms({ currency: c.currency }),
          period,
          discount: c.percentOff ? percentOff(c.percentOff) : null,
        })
      // A trial has no standing: nothing was charged, and its new plan charges nothing either before the trial is over.
      const draft = c.trial
        ? null
        : changeDraft({ reason: 'SUBSCRIPTION_UPDATE', before: stands(c.old), after: stands(c.new), taxPercentage: null, at })
      expect(asNumber(draft?.credit)).to.equal(c.credit)
      expect(asNumber(draft?.debit)).to.equal(c.debit)
      expect(asNumber(draft?.total)).to.equal(c.total)
    })
  }

  for (const c of cases.tiers) {
    it(`prices: ${c.name}`, () => {
      const tiers =
        c.tiers?.map(({ upTo, unitPrice }) => ({ upTo: upTo === null ? null : d(upTo), unitPrice: d(unitPrice), flatPrice: null })) ?? null
      const amount = c.blockPrice === undefined ? null : d(c.blockPrice)
      const cost = costOf({ tiers, tiersMode: c.mode ?? null, amount, blockSize: c.blockSize ?? null }, d(c.quantity))
      expect(asNumber(round(cost, 'USD'))).to.equal(c.amount)
    })
  }

  for (const c of cases.coupons) {
    it(`discounts: ${c.name}`, () => {
      const discount = c.percentOff === undefined ? amountOff(c.amountOff!) : percentOff(c.percentOff)
      const off = (total: number) => discountOn(d(total), discount, c.currency)
      if (c.subTotal !== undefined) {
        expect(asNumber(off(c.subTotal))).to.equal(c.discount)
        expect(asNumber(decimal.subtract(d(c.subTotal), off(c.subTotal)))).to.equal(c.total)
        return
      }
      const period = { start: 0, end: 1_000_000 }
      const stands = (amount: number) => standingOf({ content: content([price({ amount: d(amount) })]), terms: terms(), period, discount })
      const draft = changeDraft({
        reason: 'SUBSCRIPTION_UPDATE',
        before: stands(c.oldTotal!),
        after: stands(c.newTotal!),
        taxPercentage: null,
        at: 0,
      })
      expect(asNumber(draft?.total)).to.equal(c.difference)
    })
  }
})
