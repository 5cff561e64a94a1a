import { expect } from 'chai'
import { type Account, newAccount } from '../../../../src/billing/rules/account.js'
import type { Draft, UsageCharged } from '../../../../src/billing/rules/billing.js'
import { totalled } from '../../../../src/billing/rules/invoice.js'
import { addPending, handedOver, withLateUsage, withPending } from '../../../../src/billing/rules/pending.js'
import { lateMs } from '../../../../src/metering/model/windows.js'
import { subscription } from '../../subscription/support.js'
import { d, standing, terms } from '../support.js'

const day = 86_400_000
const start = Date.parse('2027-04-01T00:00:00Z')
const half = start + 15 * day
const period = { start, end: Date.parse('2027-05-01T00:00:00Z') }

const draft = (amount: number, given: Partial<Draft> = {}): Draft =>
  totalled({
    reason: 'SUBSCRIPTION_UPDATE',
    currency: 'USD',
    period,
    lines: [{ ...standing(amount, period).lines[0]!, period, isProration: true }],
    discount: d(1),
    tax: d(2),
    ...given,
  })
const account = (fields: Partial<Account> = {}): Account => ({ ...newAccount(terms()), standing: standing(30, period), ...fields })
const amounts = ({ lines }: Pick<Draft, 'lines'>) => lines.map(({ amount }) => amount)
const credit = { chargeId: 'first', amount: d(5) }
const other = { chargeId: 'other', amount: d(7) }

describe('what waits for the next invoice', () => {
  it('waits with what waits already', () => {
    const once = addPending(account(), draft(10))!
    expect(once).to.deep.equal({ lines: draft(10).lines, discount: '1', tax: '2', credits: [] })
    const twice = addPending(
      account({ pending: addPending(account(), draft(10, { credits: [credit] })) }),
      draft(-4, { credits: [other] }),
    )!
    expect(twice).to.deep.include({ discount: '2', tax: '4', credits: [credit, other] })
    expect(amounts(twice)).to.deep.equal(['10', '-4'])
    // As it was kept before there were credits.
    const { credits: _, ...older } = once
    expect(addPending(account({ pending: older }), draft(1))!.credits).to.deep.equal([])
  })

  it('comes with it, and waits no more', () => {
    const pending = addPending(account(), draft(10, { credits: [credit] }))
    const { account: after, drafts } = withPending(account({ pending }), draft(20, { credits: [other] }))
    expect(after.pending).to.equal(null)
    expect(drafts).to.have.length(1)
    expect(drafts[0]).to.deep.include({ subTotal: '30', discount: '2', tax: '4', total: '32', credits: [other, credit], hasPending: true })
    expect(amounts(drafts[0]!)).to.deep.equal(['20', '10'])
    const { credits: _, ...older } = addPending(account(), draft(10))!
    expect(withPending(account({ pending: older }), draft(20)).drafts[0]!.credits).to.deep.equal([])
  })

  it('makes no invoice where there is nothing on it', () => {
    const without = account()
    expect(withPending(without, draft(0))).to.deep.equal({ account: without, drafts: [] })
    expect(withPending(without, draft(5)).drafts).to.deep.equal([draft(5)])
    const empty = withPending(account({ pending: addPending(account(), draft(0)) }), draft(0))
    expect([empty.drafts, empty.account.pending]).to.deep.equal([[], null])
  })

  it('is invoiced to who paid until then, when somebody else pays from then on', () => {
    const pending = addPending(account(), draft(10))
    const before = subscription({ customerId: 'acme', payingCustomerId: 'parent' })
    const change = { before, after: { ...before, payingCustomerId: null }, at: half } as Parameters<typeof handedOver>[1]
    const { account: after, drafts } = handedOver(account({ pending }), change)
    expect(after.pending).to.equal(null)
    expect(drafts).to.have.length(1)
    expect(drafts[0]).to.deep.include({
      reason: 'SUBSCRIPTION_UPDATE',
      currency: 'USD',
      payerId: 'parent',
      period: { start: half, end: period.end },
      subTotal: '10',
      discount: '1',
      tax: '2',
      total: '11',
    })
    expect(amounts(drafts[0]!)).to.deep.equal(['10'])
    const late = handedOver(account({ pending }), { ...change, at: period.end + day })
    expect(late.drafts[0]!.period).to.deep.equal({ start: period.end + day, end: period.end + day })

    for (const [given, changed] of [
      [{ pending }, { after: before }],
      [{ pending }, { before: null }],
      [{ pending: null }, {}],
      [{ pending, standing: null }, {}],
    ] as const) {
      const kept = account(given)
      expect(handedOver(kept, { ...change, ...changed })).to.deep.equal({ account: kept, drafts: [] })
    }
  })
})

describe('usage that came late', () => {
  const charged = (end: number): UsageCharged => ({ priceId: 'calls', period: { start: start - 9 * day, end }, amount: d(1) })
  const at = start + lateMs

  it('waits for the next invoice, in its currency', () => {
    const { account: after, drafts } = withLateUsage(account(), { late: draft(10), at: half })
    expect(drafts).to.deep.equal([])
    expect(amounts(after.pending!)).to.deep.equal(['10'])
  })
  it('is an invoice where none is to come, or one in another currency', () => {
    for (const [of, late] of [
      [account({ standing: null }), draft(10)],
      [account(), draft(10, { currency: 'EUR' })],
    ] as const) {
      const { account: after, drafts } = withLateUsage(of, { late, at: half })
      expect([after.pending, drafts]).to.deep.equal([null, [late]])
    }
  })
  it('is not remembered when no more can come, whether any came or not', () => {
    const usageCharged = [charged(start), charged(start + 1)]
    for (const late of [null, draft(10)])
      expect(withLateUsage(account({ usageCharged }), { late, at }).account.usageCharged).to.deep.equal([charged(start + 1)])
    expect(withLateUsage(account({ usageCharged }), { late: null, at }).drafts).to.deep.equal([])
  })
})
