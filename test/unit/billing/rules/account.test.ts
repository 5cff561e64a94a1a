import { expect } from 'chai'
import {
  type Account,
  type BilledChange,
  beginsUsage,
  chargedPeriod,
  chargesIn,
  closesPeriod,
  discountAt,
  endedPart,
  isCharged,
  isReplaced,
  isSamePeriod,
  lateUsageDueAt,
  newAccount,
  stillOpen,
  usageAsked,
  usageKey,
} from '../../../../src/billing/rules/account.js'
import type { Credit, UsageCharged } from '../../../../src/billing/rules/billing.js'
import { lateMs } from '../../../../src/metering/model/windows.js'
import type { Subscription } from '../../../../src/subscription/rules/subscription.js'
import { subscription as held } from '../../subscription/support.js'
import { d, percentOff, price, standing, terms, version } from '../support.js'

const day = 86_400_000
const start = Date.parse('2027-04-01T00:00:00Z')
const half = start + 15 * day
const end = Date.parse('2027-05-01T00:00:00Z')
const period = { start, end }
const nextPeriod = { start: end, end: Date.parse('2027-06-01T00:00:00Z') }
const seats = { featureRefId: 'seats', billingModel: 'USAGE_BASED' as const, amount: d(1) }

const plan = (calls = price({ ...seats, id: 'calls', featureRefId: 'calls' })) => version('plan', [price({ id: 'flat' }), calls])
const subscription = (fields: Partial<Subscription> = {}): Subscription =>
  held({ plan: plan(), startDate: start, currentPeriod: period, pricingType: 'PAID', billingPeriod: 'MONTHLY', ...fields })
const change = (fields: Partial<BilledChange> = {}): BilledChange => ({
  before: subscription(),
  after: subscription(),
  at: half,
  isRenewal: false,
  proration: 'INVOICE_IMMEDIATELY',
  creditsUnused: false,
  ...fields,
})
const canceled = () => subscription({ status: 'CANCELED', cancelReason: 'Immediate', effectiveEndDate: half })
const account = (fields: Partial<Account> = {}): Account => ({ ...newAccount(terms()), standing: standing(30, period), ...fields })
const charged = (fields: Partial<UsageCharged> = {}): UsageCharged => ({ priceId: 'calls', period, amount: d(1), ...fields })

describe('the account of a subscription', () => {
  it('is empty at first', () => {
    const agreed = terms()
    expect(newAccount(agreed)).to.deep.equal({
      terms: agreed,
      standing: null,
      fixedCharged: '0',
      usageCharged: [],
      pending: null,
      credited: null,
      creditsUnusedAtEnd: false,
      begun: [],
    })
  })

  it('discounts by its own coupon, else by that of its customer, counted since the period was begun', () => {
    const [own, ofCustomer] = [{ ...percentOff(10), durationInMonths: 1 }, percentOff(20)]
    const at = (fields: Partial<Account>, given = ofCustomer) =>
      discountAt(
        { terms: terms({ discount: own }), begun: [], ...fields },
        { customerDiscount: given, period: nextPeriod, at: nextPeriod.start },
      )
    const begun = [{ start: start, chargedFrom: start, months: 1 }]
    expect(at({})).to.equal(own)
    expect(at({ begun })).to.equal(ofCustomer)
    // Of a period that runs it is the first month still.
    expect(at({ begun: [{ start: nextPeriod.start, chargedFrom: nextPeriod.start, months: 1 }] })).to.equal(own)
    expect(at({ terms: terms() })).to.equal(ofCustomer)
    const since = { ...percentOff(10), durationInMonths: 1, startDate: half }
    const running = { customerDiscount: since, period, at: half }
    expect(discountAt({ terms: terms(), begun: [{ start, chargedFrom: start, months: 1 }] }, running)).to.equal(null)
    expect(discountAt({ terms: terms(), begun: [] }, running)).to.equal(since)
  })
})

describe('a subscription is charged', () => {
  const cases: [Partial<Subscription>, boolean][] = [
    [{}, true],
    [{ status: 'PAYMENT_PENDING' }, true],
    [{ status: 'IN_TRIAL' }, false],
    [{ status: 'NOT_STARTED' }, false],
    [{ status: 'CANCELED' }, false],
    [{ pricingType: 'FREE' }, false],
    [{ pricingType: 'CUSTOM' }, false],
    [{ billingPeriod: null }, false],
  ]
  for (const [fields, expected] of cases)
    it(`${JSON.stringify(fields)}: ${expected}`, () => expect(isCharged(subscription(fields))).to.equal(expected))

  it('for the period that it has begun, else for the first one', () => {
    expect(chargedPeriod(subscription(), half)).to.equal(period)
    expect(chargedPeriod(subscription({ currentPeriod: null }), half)).to.deep.equal(period)
    expect(chargedPeriod(subscription({ currentPeriod: null, billingPeriod: null }), half)).to.equal(null)
  })
})

describe('a period that stands', () => {
  const cases: [string, Partial<BilledChange>, boolean][] = [
    ['goes on with a change within it', {}, false],
    ['is over with its renewal', { isRenewal: true, at: end - 1 }, true],
    ['is over when nothing is charged any more', { after: canceled() }, true],
    ['is over at its end', { at: end }, true],
    ['goes on until its end', { at: end - 1 }, false],
    ['is over when another one begins', { after: subscription({ currentPeriod: { start: half, end: half + 30 * day } }) }, true],
    ['is over when it is to end at another time', { after: subscription({ currentPeriod: { start, end: end + day } }) }, true],
  ]
  for (const [name, fields, expected] of cases)
    it(name, () => expect(closesPeriod(standing(30, period), change(fields))).to.equal(expected))
})

describe('usage that has to be known for a change', () => {
  const own = { priceId: 'calls', featureId: 'id of calls' }
  const asked = (fields: Partial<BilledChange>, given: Partial<Account> = {}) => usageAsked(account(given), change(fields))

  it('is none where no period is over, nothing stands, or nothing was used', () => {
    expect(asked({})).to.deep.equal([])
    expect(asked({ isRenewal: true }, { standing: null })).to.deep.equal([])
    expect(asked({ isRenewal: true, before: null })).to.deep.equal([])
    expect(asked({ before: subscription({ status: 'PAYMENT_PENDING' }), after: canceled() })).to.deep.equal([])
  })

  it('is that of the period that ends with it', () => {
    expect(asked({ isRenewal: true, at: end })).to.deep.equal([{ ...own, period, since: start }])
    expect(asked({ after: canceled() })).to.deep.equal([{ ...own, period: { start, end: half }, since: start }])
    expect(asked({ at: end + day, isRenewal: true })).to.deep.equal([{ ...own, period, since: start }])
  })

  it('begins where usage is its own, and ends where that of the change begins', () => {
    expect(asked({ after: canceled() }, { usageFrom: start + 5 })).to.deep.equal([
      { ...own, period: { start: start + 5, end: half }, since: start + 5 },
    ])
    expect(asked({ after: canceled() }, { usageFrom: start - 5 })[0]!.period.start).to.equal(start)
    expect(asked({ after: canceled(), usageUntil: half - 5 })[0]!.period.end).to.equal(half - 5)
    // What ended before the change is not cut by it.
    expect(asked({ at: end + day, isRenewal: true, usageUntil: half })[0]!.period.end).to.equal(end)
  })

  it('of one that took over a running period begins with it; where units are coarser it is known since the period began', () => {
    const sharing = (calls?: Parameters<typeof plan>[0]) => subscription({ startDate: start + day, plan: plan(calls) })
    expect(asked({ isRenewal: true, at: end, before: sharing() })).to.deep.equal([
      { ...own, period: { start: start + day, end }, since: start + day },
    ])
    const thousands = price({ ...seats, id: 'calls', featureRefId: 'calls', unitTransformation: { divide: 1_000, round: 'UP' } })
    expect(asked({ isRenewal: true, at: end, before: sharing(thousands) })[0]!.since).to.equal(start)
    expect(asked({ isRenewal: true, at: end, before: subscription({ plan: plan(thousands) }) })[0]!.since).to.equal(start)
    const late = asked({ isRenewal: true, at: end, before: subscription({ plan: plan(thousands) }) }, { usageFrom: start + 5 })
    expect(late[0]!.since).to.equal(start + 5)
  })

  it('is late usage too, of every period that is open, by the price that it was charged by', () => {
    const earlier = { start: start - 31 * day, end: start }
    const gone = price({ ...seats, id: 'gone' })
    const sold = { price: gone, version: { kind: 'PLAN' as const, displayName: 'old' } }
    const found = asked(
      { isRenewal: true, at: end },
      {
        usageCharged: [
          charged({ period: earlier }),
          charged({ period: earlier, since: earlier.start - day, priceId: 'gone', charge: sold }),
          charged({ period: earlier, priceId: 'unknown' }),
          charged({ period: earlier, priceId: 'euro', charge: { ...sold, price: { ...gone, id: 'euro', currency: 'EUR' } } }),
        ],
      },
    )
    expect(found).to.deep.equal([
      { ...own, period: earlier, since: earlier.start },
      { priceId: 'gone', featureId: 'id of seats', period: earlier, since: earlier.start - day },
      { ...own, period, since: start },
    ])
  })

  it('is priced in the currency of the period, whatever is agreed from then on', () => {
    const euro = { ...terms(), currency: 'EUR' }
    expect(asked({ isRenewal: true, at: end }, { terms: euro }).map(({ priceId }) => priceId)).to.deep.equal(['calls'])
  })
})

describe('usage begins anew', () => {
  const beginning = (fields: Partial<BilledChange> = {}) => change({ before: null, at: start, ...fields })
  const ofOther = { before: subscription({ id: 'other' }), after: { ...canceled(), id: 'other' }, at: start }
  const all = (other: Partial<typeof ofOther>) => [beginning(), { ...ofOther, ...other }]
  const backdated = () => subscription({ startDate: start - 9 * day })

  const cases: [string, boolean, Partial<Account>, BilledChange, Parameters<typeof beginsUsage>[2]?][] = [
    ['not with a renewal', false, {}, change({ isRenewal: true })],
    ['with a first payment', true, {}, change({ before: subscription({ status: 'PAYMENT_PENDING' }) })],
    ['where the period is closed', true, {}, change({ at: end })],
    ['not within a period', false, {}, change()],
    ['with a beginning', true, { standing: null }, beginning()],
    ['with a beginning that is yet to come', true, { standing: null }, beginning({ at: start - 1 })],
    ['not with a beginning in the past, which has the usage since then', false, { standing: null }, beginning({ after: backdated() })],
    ['where it takes the place of another at that instant', true, { standing: null }, change({ at: start }), all({})],
    ['not where nothing else happens', false, { standing: null }, change({ at: start }), [change({ at: start })]],
    ['not where the other ended at another time', false, { standing: null }, change({ at: start }), all({ at: start - 1 })],
    [
      'not where the other was never in force',
      false,
      { standing: null },
      change({ at: start }),
      all({ before: subscription({ status: 'NOT_STARTED' }) }),
    ],
    ['not where the other goes on', false, { standing: null }, change({ at: start }), all({ after: subscription({ id: 'other' }) })],
    [
      'not where the other is of another resource',
      false,
      { standing: null },
      change({ at: start }),
      all({ after: { ...canceled(), resource: { id: 'r', refId: 'r' } } }),
    ],
  ]
  for (const [name, expected, given, of, happens] of cases)
    it(name, () => expect(beginsUsage(account(given), of, happens ?? [of])).to.equal(expected))
})

describe('late usage', () => {
  const earlier = { start: start - 31 * day, end: start }

  it('is looked for when no more can come: of what goes on for its first period, of what has ended for its last', () => {
    const usageCharged = [charged(), charged({ period: earlier })]
    expect(lateUsageDueAt(account({ usageCharged }))).to.equal(start + lateMs)
    expect(lateUsageDueAt(account({ usageCharged, standing: null }))).to.equal(end + lateMs)
    expect(lateUsageDueAt(account())).to.equal(null)
  })

  it('may come until its time is over', () => {
    const both = [charged(), charged({ period: earlier })]
    expect(stillOpen(both, start + lateMs - 1)).to.deep.equal(both)
    expect(stillOpen(both, start + lateMs)).to.deep.equal([both[0]])
    expect(stillOpen(both, end + lateMs)).to.deep.equal([])
  })

  it('is of the same price in the same period', () => {
    expect(usageKey(charged())).to.equal(usageKey(charged({ amount: d(9) })))
    expect(usageKey(charged())).not.to.equal(usageKey(charged({ priceId: 'other' })))
    expect(usageKey(charged())).not.to.equal(usageKey(charged({ period: earlier })))
  })
})

describe('periods', () => {
  it('are the same with both ends', () => {
    expect(isSamePeriod(period, { ...period })).to.equal(true)
    expect(isSamePeriod(period, { start, end: half })).to.equal(false)
    expect(isSamePeriod(period, { start: half, end })).to.equal(false)
    expect(isSamePeriod(period, null)).to.equal(false)
  })

  it('are in force from the beginning of the subscription to its end, and never longer than they are', () => {
    const part = (startDate: number, at: number) => endedPart(period, subscription({ startDate }), at)
    expect(part(start - day, half)).to.deep.equal({ start, end: half })
    expect(part(start + day, end + day)).to.deep.equal({ start: start + day, end })
    expect(part(end + day, end)).to.deep.equal({ start: end, end })
  })
})

describe('a subscription was replaced', () => {
  for (const [fields, expected] of [
    [{ status: 'CANCELED', cancelReason: 'UpgradeOrDowngrade' }, true],
    [{ status: 'CANCELED', cancelReason: 'TrialConverted' }, true],
    [{ status: 'CANCELED', cancelReason: 'Immediate' }, false],
    [{ status: 'ACTIVE', cancelReason: 'UpgradeOrDowngrade' }, false],
  ] as const)
    it(`${fields.status} ${fields.cancelReason}: ${expected}`, () => expect(isReplaced(subscription(fields))).to.equal(expected))
})

describe('the payments that decide about what is given back', () => {
  const charged = { ...standing(30, period), chargedBy: 'standing' }
  const credits = [{ chargeId: 'a' }, {}, { chargeId: 'b' }] as Credit[]
  const pending = { credits } as NonNullable<Account['pending']>

  it('are those of what waits, and of what stands where that is given back', () => {
    const both = account({ standing: charged, pending })
    expect(chargesIn(both, { isCredited: true })).to.deep.equal(['standing', 'a', 'b'])
    expect(chargesIn(both, { isCredited: false })).to.deep.equal(['a', 'b'])
  })

  it('are none where nothing was charged, or nothing waits', () => {
    const none: Partial<Account>[] = [{ standing: null }, { pending: {} as NonNullable<Account['pending']> }, {}]
    for (const fields of none) expect(chargesIn(account(fields), { isCredited: true })).to.deep.equal([])
    expect(chargesIn(account({ standing: charged }), { isCredited: true })).to.deep.equal(['standing'])
  })
})
