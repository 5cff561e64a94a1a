import { expect } from 'chai'
import { newAccount } from '../../../../src/billing/rules/account.js'
import { bill } from '../../../../src/billing/rules/bill.js'
import type { Subscription } from '../../../../src/subscription/rules/subscription.js'
import { d, price, terms, version } from '../support.js'

describe('what a subscription was charged', () => {
  it('is the same in any order of its add-ons', () => {
    const [start, end] = [Date.parse('2027-04-01T00:00:00Z'), Date.parse('2027-05-01T00:00:00Z')]
    const addons = ['support', 'storage'].map((refId) => ({
      id: refId,
      version: version(refId, [price({ amount: d(5) })], 'ADDON'),
      quantity: 1,
    }))
    const held = {
      plan: version('plan', [price({ amount: d(30) })]),
      addons,
      quantities: [],
      billingPeriod: 'MONTHLY',
      status: 'ACTIVE',
      pricingType: 'PAID',
      timeZone: 'UTC',
      startDate: start,
      currentPeriod: { start, end },
    } as unknown as Subscription
    const change = { isRenewal: false, proration: 'INVOICE_IMMEDIATELY', creditsUnused: false } as const
    const begun = bill({ account: newAccount(terms()), change: { ...change, before: null, after: held, at: start } })
    const after = { ...held, addons: addons.toReversed() }
    const { account, drafts } = bill({ account: begun.account, change: { ...change, before: held, after, at: start + 86_400_000 } })
    expect(drafts).to.deep.equal([])
    expect(account).to.deep.equal(begun.account)
  })
})
