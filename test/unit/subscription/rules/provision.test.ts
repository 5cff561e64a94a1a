import { expect } from 'chai'
import * as decimal from '../../../../src/kernel/decimal.js'
import { Problem } from '../../../../src/kernel/problem.js'
import {
  decideProvision,
  isScheduled,
  type ProvisionDecision,
  type SubscriptionRequest,
} from '../../../../src/subscription/rules/provision.js'
import type { Subscription } from '../../../../src/subscription/rules/subscription.js'
import { addon, basic, day, freePlan, held, plan, price, product, request, subscription, t0, top, trial } from '../support.js'

const now = t0 + 5 * day
const trialPlan = plan('basic', { trial: { duration: 14, units: 'DAY', endBehavior: 'CANCEL_SUBSCRIPTION' } })
const resource = { id: 'r1', refId: 'r1' }
const many = product({ allowsMultipleSubscriptions: true })
const override = { isTrial: true, trialEndDate: null, trialEndBehavior: null }

const decide = (wanted: Partial<SubscriptionRequest>, holding: Subscription[] = [], isTrialUsed = false) =>
  decideProvision({ request: request(wanted), held: holding, isTrialUsed, now })

function created(decision: ProvisionDecision): Subscription {
  expect(decision.kind).to.equal('create')
  return decision.subscription
}

/** What happened to the others: their end and why. */
const ended = (decision: ProvisionDecision) =>
  decision.kind === 'create' ? decision.ended.map(({ id, cancelReason }) => `${id} ${cancelReason}`) : []

describe('provisioning decides', () => {
  interface Case {
    name: string
    wanted: Partial<SubscriptionRequest>
    held?: Subscription[]
    isTrialUsed?: boolean
    status: Subscription['status']
    ends?: string[]
  }
  const cases: Case[] = [
    { name: 'a plan without a trial is active', wanted: {}, status: 'ACTIVE' },
    { name: 'a plan with a trial begins with it', wanted: { plan: trialPlan }, status: 'IN_TRIAL' },
    { name: 'no trial for who had one', wanted: { plan: trialPlan }, isTrialUsed: true, status: 'ACTIVE' },
    { name: 'no trial for who skips it', wanted: { plan: trialPlan, skipTrial: true }, status: 'ACTIVE' },
    {
      name: 'no trial when it is overridden away',
      wanted: { plan: trialPlan, trialOverride: { ...override, isTrial: false } },
      status: 'ACTIVE',
    },
    {
      name: 'an overriding trial wins over eligibility',
      wanted: { plan: trialPlan, trialOverride: override },
      isTrialUsed: true,
      status: 'IN_TRIAL',
    },
    {
      name: 'an overriding trial needs no trial of the plan',
      wanted: { trialOverride: { ...override, trialEndDate: now + day } },
      status: 'IN_TRIAL',
    },
    {
      name: 'skipTrial wins over an overriding trial',
      wanted: { plan: trialPlan, skipTrial: true, trialOverride: override },
      status: 'ACTIVE',
    },
    { name: 'a start in the future waits', wanted: { startDate: now + day }, status: 'NOT_STARTED' },
    { name: 'a start in the future with a trial waits', wanted: { plan: trialPlan, startDate: now + day }, status: 'NOT_STARTED' },
    {
      name: 'a start in the past with a trial that still runs is in trial',
      wanted: { plan: trialPlan, startDate: now - day },
      status: 'IN_TRIAL',
    },
    {
      name: 'another plan replaces the active one',
      wanted: { plan: top },
      held: [subscription()],
      status: 'ACTIVE',
      ends: ['subscription UpgradeOrDowngrade'],
    },
    {
      name: 'a trial of another plan coexists with the paid one',
      wanted: { plan: plan('top', { trial: trialPlan.trial }) },
      held: [subscription()],
      status: 'IN_TRIAL',
    },
    {
      name: 'the plan that is in trial becomes paid',
      wanted: { plan: basic },
      held: [trial()],
      isTrialUsed: true,
      status: 'ACTIVE',
      ends: ['trial TrialConverted'],
    },
    { name: 'a paid plan coexists with the trial of another', wanted: { plan: top }, held: [trial()], isTrialUsed: true, status: 'ACTIVE' },
    {
      name: 'a second trial replaces the first',
      wanted: { plan: top, trialOverride: { ...override, trialEndDate: now + day } },
      held: [trial()],
      status: 'IN_TRIAL',
      ends: ['trial UpgradeOrDowngrade'],
    },
    {
      name: 'the paid life of a trial replaces the paid plan beside it too',
      wanted: { plan: top },
      held: [subscription(), trial({ plan: top })],
      isTrialUsed: true,
      status: 'ACTIVE',
      ends: ['subscription UpgradeOrDowngrade', 'trial TrialConverted'],
    },
    {
      name: 'a later start leaves the active one as it is',
      wanted: { plan: top, startDate: now + day },
      held: [subscription()],
      status: 'NOT_STARTED',
    },
    {
      name: 'a later start replaces another later start',
      wanted: { plan: top, startDate: now + day },
      held: [subscription({ status: 'NOT_STARTED', startDate: now + 2 * day })],
      status: 'NOT_STARTED',
      ends: ['subscription UpgradeOrDowngrade'],
    },
    {
      name: 'a pending payment is given up for another subscription',
      wanted: { plan: top, startDate: now + day },
      held: [subscription({ status: 'PAYMENT_PENDING' })],
      status: 'NOT_STARTED',
      ends: ['subscription UpgradeOrDowngrade'],
    },
    {
      name: 'another product is left alone',
      wanted: { plan: top },
      held: [subscription({ product: product({ id: 'other' }) })],
      status: 'ACTIVE',
    },
    {
      name: 'each resource has its own',
      wanted: { plan: top, product: many, resource },
      held: [subscription({ product: many })],
      status: 'ACTIVE',
    },
    {
      name: 'the plan of a resource is replaced for that resource',
      wanted: { plan: top, product: many, resource },
      held: [subscription({ product: many }), subscription({ id: 'of-r1', product: many, resource })],
      status: 'ACTIVE',
      ends: ['of-r1 UpgradeOrDowngrade'],
    },
  ]
  for (const { name, wanted, held: holding, isTrialUsed, status, ends } of cases) {
    it(name, () => {
      const decision = decide(wanted, holding, isTrialUsed)
      expect(created(decision).status).to.equal(status)
      expect(ended(decision)).to.deep.equal(ends ?? [])
    })
  }
})

describe('provisioning again', () => {
  const extra = addon('extra')
  const basicWithExtra = plan('basic', { compatibleAddonIds: ['extra', 'other'] })
  const active = subscription({ plan: basicWithExtra, addons: [held(extra, 2), held(addon('other'))] })

  it('answers what is active already, whatever order the add-ons are named in', () => {
    const decision = decide({ plan: basicWithExtra, addons: [held(addon('other')), held(extra, 2)] }, [active])
    expect(decision).to.deep.equal({ kind: 'existing', subscription: active })
  })
  it('keeps the version that is held when the plan has a newer one', () => {
    expect(decide({ plan: { ...basic, id: 'basic-v2' } }, [subscription()]).kind).to.equal('existing')
  })
  it('changes add-ons and quantities of what is active', () => {
    const decision = decide({ plan: basicWithExtra, addons: [held(extra, 3)] }, [active])
    expect(decision.kind).to.equal('update')
    expect(decision.subscription).to.include({ id: active.id, startDate: active.startDate })
    expect(decision.subscription.addons.map(({ quantity }) => quantity)).to.deep.equal([3])
  })
  it('is a change of plan when the billing period is another', () => {
    const both = plan('basic', { prices: [price(), price({ billingPeriod: 'ANNUALLY' })] })
    expect(ended(decide({ plan: both, billingPeriod: 'ANNUALLY' }, [subscription()]))).to.deep.equal(['subscription UpgradeOrDowngrade'])
  })
  it('answers the trial that is asked for again as a trial', () => {
    const running = trial()
    expect(decide({ trialOverride: { ...override, trialEndDate: now + day } }, [running], true)).to.deep.equal({
      kind: 'existing',
      subscription: running,
    })
  })
  it('answers what was asked to start at the same later time', () => {
    const upcoming = subscription({ status: 'NOT_STARTED', startDate: now + day })
    expect(decide({ startDate: now + day }, [upcoming])).to.deep.equal({ kind: 'existing', subscription: upcoming })
  })
  it('answers what was asked to start at the same earlier time', () => {
    const active = subscription({ startDate: now - day })
    expect(decide({ startDate: now - day }, [active])).to.deep.equal({ kind: 'existing', subscription: active })
  })
  it('takes a start that is ahead by what clocks differ for now, also when it is asked for again', () => {
    for (const ahead of [1, 59_999, 60_000]) {
      const decision = decide({ startDate: now + ahead })
      expect(created(decision)).to.include({ status: 'ACTIVE', startDate: now, billingAnchor: now })
      const again = decideProvision({
        request: request({ startDate: now + ahead }),
        held: [created(decision)],
        isTrialUsed: true,
        now: now + 5 * day,
      })
      expect(again).to.deep.equal({ kind: 'existing', subscription: created(decision) })
    }
    expect(created(decide({ startDate: now + 60_001 })).status).to.equal('NOT_STARTED')
  })
  it('lets a cheaper plan wait although its start is ahead by what clocks differ', () => {
    const product = { ...subscription().product, downgradeTiming: 'END_OF_BILLING_PERIOD' } as const
    const decision = decide({ product, plan: freePlan, startDate: now + 9_000 }, [subscription({ product })])
    expect(decision.subscription.scheduled.map(({ change }) => change.type)).to.deep.equal(['Downgrade'])
  })
  it('says that what was asked for is yet to come, also when it is asked for again', () => {
    const product = { ...subscription().product, downgradeTiming: 'END_OF_BILLING_PERIOD' } as const
    const active = subscription({ product, plan: basicWithExtra, addons: [held(extra, 3)] })
    const waits = (wanted: Partial<SubscriptionRequest>, holding: Subscription[]) =>
      isScheduled(decide({ product, ...wanted }, holding, true))
    const downgrade = decide({ product, plan: freePlan }, [active]).subscription
    expect([waits({ plan: freePlan }, [active]), waits({ plan: freePlan }, [downgrade])]).to.deep.equal([true, true])
    expect(waits({ plan: basicWithExtra, addons: [held(extra, 1)] }, [active])).to.equal(true)
    expect(waits({ plan: top }, [active])).to.equal(false)
    expect(waits({ plan: top, scheduleStrategy: 'END_OF_BILLING_PERIOD' }, [active])).to.equal(true)
    expect(waits({ plan: basicWithExtra, addons: [held(extra, 3)] }, [downgrade])).to.equal(false)
    expect([waits({}, []), waits({ startDate: now + day }, [])]).to.deep.equal([false, true])
  })
  it('is a new subscription when another start is asked for', () => {
    expect(ended(decide({ startDate: now - day }, [subscription()]))).to.deep.equal(['subscription UpgradeOrDowngrade'])
  })
})

describe('a provisioned subscription', () => {
  it('has its trial in the local time of the customer', () => {
    // Clocks in Berlin go forward on 2026-03-29: the trial ends at the same hour of the day.
    const wanted = {
      plan: plan('basic', { trial: { duration: 1, units: 'MONTH', endBehavior: 'CONVERT_TO_PAID' } }),
      timeZone: 'Europe/Berlin',
    } as const
    expect(created(decide(wanted)).trialEndDate).to.equal(Date.parse('2026-04-05T23:00:00Z'))
  })
  it('keeps a start in the past as anchor', () => {
    expect(created(decide({ startDate: t0 }))).to.include({ startDate: t0, billingAnchor: t0, usageAnchor: t0 })
  })
  it('counts from the end of a trial that was over before it was asked for', () => {
    const wanted = { plan: plan('basic', { trial: { duration: 2, units: 'DAY', endBehavior: 'CONVERT_TO_PAID' } }), startDate: t0 } as const
    const anchors = { billingAnchor: t0 + 2 * day, usageAnchor: t0 + 2 * day }
    expect(created(decide(wanted))).to.include({ status: 'ACTIVE', startDate: t0, trialEndDate: t0 + 2 * day, ...anchors })
  })
  it('has no trial when that would have ended it before it was asked for', () => {
    const wanted = {
      plan: plan('basic', { trial: { duration: 2, units: 'DAY', endBehavior: 'CANCEL_SUBSCRIPTION' } }),
      startDate: t0,
    } as const
    expect(created(decide(wanted))).to.include({ status: 'ACTIVE', trialEndDate: null, billingAnchor: t0 })
  })
  it('is billed monthly when sold both ways, as sold when one way, and not at all without prices', () => {
    const period = (wanted: Partial<SubscriptionRequest>) => created(decide(wanted)).billingPeriod
    expect(period({ plan: plan('p', { prices: [price({ billingPeriod: 'ANNUALLY' }), price()] }) })).to.equal('MONTHLY')
    expect(period({ plan: plan('p', { prices: [price({ billingPeriod: 'ANNUALLY' })] }) })).to.equal('ANNUALLY')
    expect(period({ plan: freePlan, billingPeriod: 'ANNUALLY' })).to.equal(null)
  })

  describe('begins its usage', () => {
    const anchor = (
      usageOnPlanChange: 'ALWAYS_RESET' | 'NEVER_RESET' | 'BILLING_PERIOD_CHANGE',
      wanted: Partial<SubscriptionRequest>,
      ...holding: Subscription[]
    ) => {
      const rules = product({ usageOnPlanChange })
      return created(
        decide(
          { product: rules, ...wanted },
          holding.map((one) => ({ ...one, product: rules })),
        ),
      ).usageAnchor
    }
    const annual = plan('annual', { prices: [price({ billingPeriod: 'ANNUALLY' })] })
    it('at the change by default', () => expect(anchor('ALWAYS_RESET', { plan: top }, subscription())).to.equal(now))
    it('where the old one did with NEVER_RESET', () => expect(anchor('NEVER_RESET', { plan: annual }, subscription())).to.equal(t0))
    it('where the old one did when only another billing period resets', () => {
      expect(anchor('BILLING_PERIOD_CHANGE', { plan: top }, subscription())).to.equal(t0)
      expect(anchor('BILLING_PERIOD_CHANGE', { plan: annual }, subscription())).to.equal(now)
    })
    it('anew when a trial becomes paid', () => expect(anchor('NEVER_RESET', { plan: basic }, trial())).to.equal(now))
    it('never where something never in force would have', () => {
      const upcoming = subscription({ status: 'NOT_STARTED', startDate: now + 9 * day })
      expect(anchor('NEVER_RESET', { plan: top, startDate: now + day }, upcoming)).to.equal(now + day)
      const pending = subscription({ status: 'PAYMENT_PENDING', startDate: t0 - day })
      expect(anchor('NEVER_RESET', { plan: top }, pending, subscription())).to.equal(t0)
    })
  })
})

describe('the billing period of a plan that takes the place of another one', () => {
  const current = subscription({ currentPeriod: { start: t0, end: t0 + 31 * day } })
  const replaced = (fields: Partial<SubscriptionRequest>) => {
    const decision = decideProvision({ request: request({ plan: top, ...fields }), held: [current], isTrialUsed: true, now: t0 + 10 * day })
    return decision.subscription
  }

  it('begins with it', () => {
    for (const billingCycleAnchor of [null, 'NOW'] as const)
      expect(replaced({ billingCycleAnchor })).to.deep.include({ billingAnchor: t0 + 10 * day, usageAnchor: t0 + 10 * day })
  })

  it('goes on when it is to stay unchanged; usage is not billing and begins anew all the same', () => {
    expect(replaced({ billingCycleAnchor: 'UNCHANGED' })).to.deep.include({
      startDate: t0 + 10 * day,
      billingAnchor: t0,
      currentPeriod: current.currentPeriod,
      usageAnchor: t0 + 10 * day,
    })
  })

  it('cannot go on in a start of the past', () => {
    expect(() => replaced({ billingCycleAnchor: 'UNCHANGED', startDate: t0 })).to.throw(Problem, 'leave startDate out')
  })
})

describe('provisioning refuses', () => {
  const basicWithExtra = plan('basic', { compatibleAddonIds: ['extra', 'sub-extra'] })
  const extra = addon('extra', { maxQuantity: 3 })
  const seats = price({ billingModel: 'PER_UNIT', featureId: 'seats', featureRefId: 'seats', minUnitQuantity: 2, maxUnitQuantity: 5 })
  const units = (quantity: number, featureId = 'seats') => [{ featureId, featureRefId: featureId, quantity: decimal.fromNumber(quantity) }]
  const refusals: [string, Partial<SubscriptionRequest>, string, Subscription[]?][] = [
    ['an add-on of another plan', { addons: [held(extra)] }, 'cannot be added'],
    ['an add-on more often than it may be held', { plan: basicWithExtra, addons: [held(extra, 4)] }, '3 times at most'],
    ['none of an add-on', { plan: basicWithExtra, addons: [held(extra, 0)] }, 'above 0'],
    ['half an add-on', { plan: basicWithExtra, addons: [held(extra, 1.5)] }, 'whole number'],
    [
      'an add-on without the one it needs',
      { plan: basicWithExtra, addons: [held(addon('sub-extra', { dependencies: ['extra'] }))] },
      'needs add-on "extra"',
    ],
    ['a quantity of what is not sold per unit', { quantities: units(1) }, 'not sold per unit'],
    ['too few units', { plan: plan('basic', { prices: [seats] }), quantities: units(1) }, 'from 2 to 5'],
    ['too many units', { plan: plan('basic', { prices: [seats] }), quantities: units(6) }, 'from 2 to 5'],
    ['a billing period that is not sold', { billingPeriod: 'ANNUALLY' }, 'not sold ANNUALLY'],
    ['a second subscription of a product that allows one', { resource }, 'allows one subscription', [subscription()]],
    ['one of the customer beside one of its resource', {}, 'allows one subscription', [subscription({ resource })]],
    ['a trial without an end', { trialOverride: override }, 'give trialEndDate'],
    ['a trial that ends before it starts', { trialOverride: { ...override, trialEndDate: now } }, 'after the start date'],
    [
      'a trial of the plan that is paid for',
      { startDate: now, trialOverride: { ...override, trialEndDate: now + day } },
      'beside itself',
      [subscription()],
    ],
  ]
  for (const [name, wanted, message, holding] of refusals) {
    it(name, () => expect(() => decide(wanted, holding)).to.throw(message))
  }
  it('none of what is allowed', () => {
    const both = [held(extra, 3), held(addon('sub-extra', { dependencies: ['extra'] }))]
    expect(decide({ plan: { ...basicWithExtra, prices: [seats] }, addons: both, quantities: units(5) }).kind).to.equal('create')
  })
})
