import { expect } from 'chai'
import { type Account, type BilledChange, newAccount } from '../../../../src/billing/rules/account.js'
import { bill } from '../../../../src/billing/rules/bill.js'
import type { Draft } from '../../../../src/billing/rules/billing.js'
import type { Subscription } from '../../../../src/subscription/rules/subscription.js'
import { d, price, terms, version } from '../support.js'

const start = Date.parse('2027-04-01T00:00:00Z')
const half = Date.parse('2027-04-16T00:00:00Z')
const end = Date.parse('2027-05-01T00:00:00Z')
const calls = price({ featureRefId: 'calls', billingModel: 'USAGE_BASED', amount: d('0.01') })
const inDollars = version('dollars', [price({ amount: d(30) }), calls])
const inYen = version('yen', [price({ amount: d(3_000), currency: 'JPY' })])

const subscription = (given: Partial<Subscription> = {}): Subscription =>
  ({
    id: 's',
    environmentId: 'e',
    customerId: 'c',
    plan: inDollars,
    addons: [],
    quantities: [],
    billingPeriod: 'MONTHLY',
    status: 'ACTIVE',
    pricingType: 'PAID',
    timeZone: 'UTC',
    startDate: start,
    billingAnchor: start,
    currentPeriod: { start, end },
    ...given,
  }) as unknown as Subscription

const standard = { at: start, isRenewal: false, proration: 'INVOICE_IMMEDIATELY', creditsUnused: false } as const
const inUsd = terms({ taxPercentage: d(20) })
const inJpy = terms({ currency: 'JPY', taxPercentage: d(20) })
const begun = (): Account => bill({ account: newAccount(inUsd), change: { before: null, after: subscription(), ...standard } }).account
const shown = (drafts: Draft[]) => drafts.map(({ currency, subTotal, tax, total }) => [currency, subTotal, tax, total])

describe('another currency', () => {
  const moved = (change: Partial<BilledChange> = {}, { account = begun(), usage = 0 } = {}) =>
    bill({
      account,
      terms: inJpy,
      change: { before: subscription(), after: subscription({ plan: inYen }), ...standard, at: half, ...change },
      usage: [{ priceId: calls.id, period: { start, end: half }, quantity: d(usage) }],
    })

  it('gives back in the old currency what is not used, and charges the rest of the period in the new one', () => {
    const { drafts, account } = moved()
    expect(shown(drafts)).to.deep.equal([
      ['USD', '-15', '-3', '-18'],
      ['JPY', '1500', '300', '1800'],
    ])
    expect(account.standing).to.include({ currency: 'JPY', gross: '3000' })
    expect(account.fixedCharged).to.equal('1500')
  })

  it('charges the whole of a period that begins then, and what was used before in the old currency', () => {
    const period = { start: half, end: Date.parse('2027-05-16T00:00:00Z') }
    const after = subscription({ plan: inYen, currentPeriod: period, billingAnchor: half })
    expect(shown(moved({ after }, { usage: 250 }).drafts)).to.deep.equal([
      ['USD', '2.5', '0.5', '3'],
      ['USD', '-15', '-3', '-18'],
      ['JPY', '3000', '600', '3600'],
    ])
  })

  it('gives back what waited for the next invoice too', () => {
    const dearer = subscription({ plan: version('dollars', [price({ amount: d(90) }), calls]) })
    const change = { before: subscription(), after: dearer, ...standard, at: half, proration: 'CREATE_PRORATIONS' as const }
    const waits = bill({ account: begun(), change })
    expect(waits.drafts).to.deep.equal([])
    const { drafts, account } = moved({ before: dearer }, { account: waits.account })
    // 45 of the dearer plan back, and the 30 that were never invoiced are.
    expect(shown(drafts)).to.deep.equal([
      ['USD', '-15', '-3', '-18'],
      ['JPY', '1500', '300', '1800'],
    ])
    expect(account.pending).to.equal(null)
  })

  it('waits with NONE for the end of a period that goes on, and then closes it in the old currency', () => {
    const { drafts, account } = moved({ proration: 'NONE' })
    expect(drafts).to.deep.equal([])
    const after = subscription({ plan: inYen })
    const next = { ...after, currentPeriod: { start: end, end: Date.parse('2027-06-01T00:00:00Z') } }
    const renewal = { before: after, after: next, ...standard, at: end, isRenewal: true }
    const minimum = { ...account, terms: { ...account.terms, minimumSpend: { amount: d(40), currency: 'USD' } } }
    expect(shown(bill({ account: minimum, change: renewal }).drafts)).to.deep.equal([
      ['USD', '10', '2', '12'],
      ['JPY', '3000', '600', '3600'],
    ])
  })

  it('gives nothing back with NONE where a period begins', () => {
    const after = subscription({ plan: inYen, currentPeriod: { start: half, end: Date.parse('2027-05-16T00:00:00Z') } })
    expect(shown(moved({ after, proration: 'NONE' }).drafts)).to.deep.equal([['JPY', '3000', '600', '3600']])
  })

  it('of a plan that takes the place of another gives back the other, after its payment where that comes first', () => {
    const replaced = begun().standing!
    const waiting = subscription({ id: 't', plan: inYen, status: 'PAYMENT_PENDING', currentPeriod: null, billingAnchor: half })
    const asked = bill({ account: newAccount(inJpy), change: { before: null, after: waiting, ...standard, at: half }, replaced })
    expect(shown(asked.drafts)).to.deep.equal([['JPY', '3000', '600', '3600']])
    const paid = { before: waiting, after: { ...waiting, status: 'ACTIVE' as const }, ...standard, at: half }
    expect(shown(bill({ account: asked.account, change: paid, replaced }).drafts)).to.deep.equal([['USD', '-15', '-3', '-18']])
    const atOnce = bill({ account: newAccount(inJpy), change: { ...paid, before: null }, replaced })
    expect(shown(atOnce.drafts)).to.deep.equal([
      ['USD', '-15', '-3', '-18'],
      ['JPY', '3000', '600', '3600'],
    ])
  })

  it('says of each invoice why it is made', () => {
    const reasons = ({ drafts }: ReturnType<typeof bill>) => drafts.map(({ reason, currency }) => [currency, reason])
    expect(reasons(moved())).to.deep.equal([
      ['USD', 'SUBSCRIPTION_UPDATE'],
      ['JPY', 'SUBSCRIPTION_UPDATE'],
    ])
    const successor = { before: null, after: subscription({ id: 't', plan: inYen }), ...standard, at: half }
    expect(reasons(bill({ account: newAccount(inJpy), change: successor, replaced: begun().standing }))).to.deep.equal([
      ['USD', 'SUBSCRIPTION_UPDATE'],
      ['JPY', 'SUBSCRIPTION_CREATION'],
    ])
    // What waited is invoiced, though nothing is given back.
    const dearer = subscription({ plan: version('dollars', [price({ amount: d(90) }), calls]) })
    const waits = bill({
      account: begun(),
      change: { before: subscription(), after: dearer, ...standard, at: half, proration: 'CREATE_PRORATIONS' },
    })
    const period = { start: half, end: Date.parse('2027-05-16T00:00:00Z') }
    const after = subscription({ plan: inYen, currentPeriod: period, billingAnchor: half })
    expect(reasons(moved({ before: dearer, after, proration: 'NONE' }, { account: waits.account }))).to.deep.equal([
      ['USD', 'SUBSCRIPTION_UPDATE'],
      ['JPY', 'SUBSCRIPTION_UPDATE'],
    ])
  })

  it('of what costs nothing from then on only gives back', () => {
    const free = version('yen', [price({ amount: d(0), currency: 'JPY' })])
    expect(shown(moved({ after: subscription({ plan: free }) }).drafts)).to.deep.equal([['USD', '-15', '-3', '-18']])
  })

  it('from the end of a period on gives nothing back: it is over', () => {
    const after = subscription({ plan: inYen, currentPeriod: { start: end, end: Date.parse('2027-06-01T00:00:00Z') } })
    const { drafts } = moved({ after, at: end })
    expect(drafts.map(({ currency, reason, total }) => [currency, reason, total])).to.deep.equal([['JPY', 'BILLING_CYCLE', '3600']])
  })

  it('of tax gives back what was charged, to the cent, in as many steps as it takes', () => {
    const plan = (amount: string) => subscription({ plan: version('dollars', [price({ amount: d(amount) })]) })
    const [dear, cheap] = [plan('1996.17'), plan('341.43')]
    const steps = [
      { before: null, after: dear, ...standard },
      { before: dear, after: cheap, ...standard },
      { before: cheap, after: { ...cheap, status: 'CANCELED' as const }, ...standard, creditsUnused: true },
    ]
    let account = newAccount(inUsd)
    const totals = steps.flatMap((change) => {
      const billed = bill({ account, change })
      account = billed.account
      return billed.drafts.map(({ total }) => total)
    })
    expect(totals).to.deep.equal(['2395.4', '-1985.68', '-409.72'])
  })

  it('of tax gives back what was charged, whatever the rate is by now', () => {
    const after = subscription({ plan: version('dollars', [price({ amount: d(60) })]) })
    const { drafts } = bill({
      account: begun(),
      terms: terms({ taxPercentage: d(10) }),
      change: { before: subscription(), after, ...standard, at: half },
    })
    expect(shown(drafts)).to.deep.equal([['USD', '15', '0', '15']])
  })
})
