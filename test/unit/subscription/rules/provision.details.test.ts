import { expect } from 'chai'
import * as decimal from '../../../../src/kernel/decimal.js'
import { Problem } from '../../../../src/kernel/problem.js'
import { changesOf, decideProvision, type SubscriptionRequest } from '../../../../src/subscription/rules/provision.js'
import type { Subscription } from '../../../../src/subscription/rules/subscription.js'
import { addon, day, downgrading, freePlan, held, plan, price, product, request, subscription, t0, top, trial } from '../support.js'

const now = t0 + 5 * day
const decide = (wanted: Partial<SubscriptionRequest>, holding: Subscription[] = [], isTrialUsed = true) =>
  decideProvision({ request: request(wanted), held: holding, isTrialUsed, now })

const ownEntitlement = {
  id: 'own',
  featureId: 'seats',
  usageLimit: decimal.fromNumber(3),
  hasUnlimitedUsage: false,
  hasSoftLimit: true,
  enumValues: [],
  resetPeriod: null,
  resetRule: null,
}
const budget = { limit: decimal.fromNumber(100), hasSoftLimit: true }
const resource = { id: 'r1', refId: 'r1' }
const override = { isTrial: true, trialEndDate: null, trialEndBehavior: null }

describe('a subscription that is created', () => {
  const seats = price({ billingModel: 'PER_UNIT', featureId: 'seats', featureRefId: 'seats' })
  const extra = addon('extra')
  const wanted = (): SubscriptionRequest =>
    request({
      id: 'id',
      refId: 'ref',
      environmentId: 'e',
      customerId: 'c',
      payingCustomerId: 'parent',
      timeZone: 'Europe/Berlin',
      resource,
      plan: plan('sold', { pricingType: 'PAID', prices: [seats], compatibleAddonIds: ['extra'] }),
      product: downgrading,
      addons: [held(extra, 2)],
      quantities: [{ featureId: 'seats', featureRefId: 'seats', quantity: decimal.fromNumber(7) }],
      ownEntitlements: [ownEntitlement],
      billingCountryCode: 'DE',
      endDate: now + 100 * day,
      cancellationDate: now + 50 * day,
      budget,
      additionalMetaData: { a: 1 },
      billingId: 'b',
      crmId: 'crm',
      salesforceId: 's',
    })

  it('has all that was asked for, and is billed from the beginning on', () => {
    const {
      startDate: _,
      scheduleStrategy,
      scheduleId,
      skipTrial,
      trialOverride,
      billingCycleAnchor,
      billing,
      cancellationDate,
      ...asked
    } = wanted()
    expect(decide(wanted()).subscription).to.deep.equal({
      ...asked,
      status: 'ACTIVE',
      pricingType: 'PAID',
      billingPeriod: 'MONTHLY',
      startDate: now,
      trialEndDate: null,
      trialEndBehavior: null,
      cancellationDate: now,
      effectiveEndDate: now + 50 * day,
      cancelReason: null,
      billingAnchor: now,
      // The same hour in Berlin, where clocks go forward meanwhile.
      currentPeriod: { start: now, end: Date.parse('2026-04-05T23:00:00Z') },
      usageAnchor: now,
      entitlementsRevokedAt: null,
      scheduled: [],
      awaitsPayment: false,
      paymentCollection: 'NOT_REQUIRED',
      createdAt: now,
    })
  })

  it('has no cancellation where none was asked for', () => {
    expect(decide({}).subscription).to.include({ cancellationDate: null, effectiveEndDate: null })
  })

  it('is in no billing period before its paid life begins', () => {
    expect(decide({ startDate: now + day }).subscription.currentPeriod).to.equal(null)
    expect(decide({ trialOverride: { ...override, trialEndDate: now + day } }).subscription.currentPeriod).to.equal(null)
  })

  it('in the past is in the billing period of now', () => {
    const since = decide({ startDate: Date.parse('2026-01-02T00:00:00Z') }).subscription
    expect(since.currentPeriod).to.deep.equal({ start: Date.parse('2026-03-02T00:00:00Z'), end: Date.parse('2026-04-02T00:00:00Z') })
  })

  it('ends its trial as asked, else as the plan says, else by becoming paid', () => {
    const ends = { duration: 14, units: 'DAY', endBehavior: 'CANCEL_SUBSCRIPTION' } as const
    const behavior = (trialOverride: SubscriptionRequest['trialOverride'], ofPlan = plan('basic', { trial: ends })) =>
      decide({ plan: ofPlan, trialOverride }, [], false).subscription.trialEndBehavior
    expect(behavior(null)).to.equal('CANCEL_SUBSCRIPTION')
    expect(behavior(override)).to.equal('CANCEL_SUBSCRIPTION')
    expect(behavior({ ...override, trialEndBehavior: 'CONVERT_TO_PAID' })).to.equal('CONVERT_TO_PAID')
    expect(behavior({ ...override, trialEndDate: now + day }, plan('basic'))).to.equal('CONVERT_TO_PAID')
  })

  it('has the trial end that was asked for, whatever the plan says', () => {
    const tried = plan('basic', { trial: { duration: 14, units: 'DAY', endBehavior: 'CANCEL_SUBSCRIPTION' } })
    expect(decide({ plan: tried, trialOverride: { ...override, trialEndDate: now + day } }).subscription.trialEndDate).to.equal(now + day)
  })

  it('with a trial that is just over is paid from now on', () => {
    const over = { ...override, trialEndDate: now, trialEndBehavior: 'CONVERT_TO_PAID' as const }
    expect(decide({ startDate: t0, trialOverride: over }).subscription).to.include({ status: 'ACTIVE', billingAnchor: now, startDate: t0 })
  })
})

describe('what is there already', () => {
  it('is not what only begins later, or asks for something else', () => {
    const upcoming = subscription({ status: 'NOT_STARTED', startDate: now + day })
    expect(decide({}, [upcoming]).kind).to.equal('create')
    expect(decide({ plan: top, startDate: now + day }, [upcoming]).kind).to.equal('create')
    const withExtra = plan('basic', { compatibleAddonIds: ['extra'] })
    expect(decide({ plan: withExtra, addons: [held(addon('extra'))], startDate: now + day }, [upcoming]).kind).to.equal('create')
  })

  it('is not the trial of another resource, nor a trial with other add-ons', () => {
    const many = product({ allowsMultipleSubscriptions: true })
    const asked = { product: many, trialOverride: { ...override, trialEndDate: now + day } }
    const running = trial({ product: many })
    expect(decide(asked, [running]).kind).to.equal('existing')
    expect(decide({ ...asked, resource }, [running]).kind).to.equal('create')
    const withExtra = plan('basic', { compatibleAddonIds: ['extra'] })
    expect(decide({ ...asked, plan: withExtra, addons: [held(addon('extra'))] }, [running]).kind).to.equal('create')
  })

  it('cannot be tried beside itself, and is tried beside another plan', () => {
    const asked = { startDate: now - day, trialOverride: { ...override, trialEndDate: now + day } }
    expect(() => decide(asked, [subscription()])).to.throw(Problem, 'beside itself')
    expect(decide(asked, [subscription({ plan: top })]).subscription.status).to.equal('IN_TRIAL')
  })

  it('that waits to become less is answered as it is, when that is asked for again', () => {
    const extra = addon('extra')
    const rules = product({ downgradeTiming: 'END_OF_BILLING_PERIOD' })
    const sold = plan('basic', { compatibleAddonIds: ['extra'] })
    const active = subscription({ plan: sold, product: rules, addons: [held(extra, 3)] })
    const fewer = decide({ plan: sold, product: rules, addons: [held(extra, 1)] }, [active])
    expect(fewer).to.include({ kind: 'update', waits: true })
    const taken = decide({ plan: sold, product: rules, addons: [held(extra, 3)] }, [fewer.subscription])
    expect(taken).to.include({ kind: 'existing' })
  })

  it('takes back what waits where that is not asked for any more, and is as it was where nothing does', () => {
    const seats = price({ billingModel: 'PER_UNIT', featureId: 'seats', featureRefId: 'seats' })
    const rules = product({ downgradeTiming: 'END_OF_BILLING_PERIOD' })
    const sold = plan('basic', { prices: [seats], compatibleAddonIds: ['extra'] })
    const quantities = [{ featureId: 'seats', featureRefId: 'seats', quantity: decimal.fromNumber(5) }]
    const active = subscription({ plan: sold, product: rules, quantities, addons: [held(addon('extra'), 3)] })
    const ask = (quantity: number, of: Subscription) =>
      decide({ plan: sold, product: rules, addons: [held(addon('extra'), quantity)] }, [of])
    const fewer = ask(1, active).subscription
    expect(fewer.scheduled).to.have.length(1)
    const back = ask(3, fewer)
    expect([back.kind, back.subscription]).to.deep.equal(['update', active])
    expect(ask(3, active)).to.deep.equal({ kind: 'existing', subscription: active })
  })

  it('is not what waits for its payment, when a trial is asked for', () => {
    const pending = subscription({ status: 'PAYMENT_PENDING' })
    expect(decide({ trialOverride: { ...override, trialEndDate: now + day } }, [pending]).subscription.status).to.equal('IN_TRIAL')
  })

  it('is not what was made to start at another time than it was asked for', () => {
    const earlier = subscription({ startDate: t0, createdAt: now - day })
    expect(decide({ startDate: now - day + 1_000 }, [earlier]).kind).to.equal('create')
  })

  it('and begins later goes on to do so', () => {
    const upcoming = subscription({ status: 'NOT_STARTED', plan: top, startDate: now + day })
    const decision = decide({}, [upcoming])
    expect(decision.kind === 'create' && decision.ended).to.deep.equal([])
  })

  it('has no trial that would have ended it by now', () => {
    const over = { ...override, trialEndDate: now, trialEndBehavior: 'CANCEL_SUBSCRIPTION' as const }
    expect(decide({ startDate: t0, trialOverride: over }).subscription).to.include({ status: 'ACTIVE', trialEndDate: null })
  })

  it('is changed at once, and nothing waits', () => {
    const sold = plan('basic', { compatibleAddonIds: ['extra'] })
    const decision = decide({ plan: sold, addons: [held(addon('extra'))] }, [subscription({ plan: sold })])
    expect(decision).to.include({ kind: 'update', waits: false })
  })

  it('of a resource is not in the way of one of the customer where several are allowed, and an ended one never is', () => {
    const many = product({ allowsMultipleSubscriptions: true })
    expect(decide({ product: many }, [subscription({ product: many, resource })]).kind).to.equal('create')
    expect(decide({}, [subscription({ resource, status: 'NOT_STARTED', startDate: now + day })]).kind).to.equal('create')
    expect(() => decide({}, [trial({ resource })])).to.throw(Problem, 'allows one subscription')
    expect(decide({}, [subscription({ resource, product: product({ id: 'other' }) })]).kind).to.equal('create')
  })
})

describe('a plan change that waits', () => {
  const rules = product({ downgradeTiming: 'END_OF_BILLING_PERIOD' })
  const periodEnd = Date.parse('2026-04-01T00:00:00Z')
  const cheap = plan('cheap', { prices: [price({ amount: decimal.fromNumber(1) })] })
  const current = (fields: Partial<Subscription> = {}) =>
    subscription({ plan: top, product: rules, currentPeriod: { start: t0, end: periodEnd }, ...fields })
  const asked = (fields: Partial<SubscriptionRequest> = {}): Partial<SubscriptionRequest> => ({
    product: rules,
    plan: cheap,
    ownEntitlements: [ownEntitlement],
    budget,
    additionalMetaData: { a: 1 },
    payingCustomerId: 'parent',
    salesforceId: 's',
    billing: { collectionMethod: 'CHARGE' },
    ...fields,
  })

  it('keeps everything that was agreed with it', () => {
    const { subscription: waiting } = decide(asked(), [current()])
    expect(waiting.scheduled).to.deep.equal([
      {
        id: 'scheduled',
        executeAt: periodEnd,
        change: {
          type: 'Downgrade',
          plan: cheap,
          billingPeriod: 'MONTHLY',
          addons: [],
          quantities: [],
          agreed: {
            ownEntitlements: [ownEntitlement],
            budget,
            additionalMetaData: { a: 1 },
            payingCustomerId: 'parent',
            salesforceId: 's',
            billing: { collectionMethod: 'CHARGE' },
            billingAgreement: null,
          },
        },
      },
    ])
    expect({ ...waiting, scheduled: [] }).to.deep.equal(current())
  })

  describe('asked for again', () => {
    const both = plan('cheap', {
      prices: [...cheap.prices, price({ billingPeriod: 'ANNUALLY', amount: decimal.fromNumber(1) })],
      compatibleAddonIds: ['extra'],
    })
    const same: [string, Partial<SubscriptionRequest>][] = [
      ['is the same', {}],
      ['is the same when entitlements are called otherwise', { ownEntitlements: [{ ...ownEntitlement, id: 'another' }] }],
      ['is the same when the agreement names things in another order', { additionalMetaData: { b: 2, a: 1 } }],
    ]
    const other: [string, Partial<SubscriptionRequest>][] = [
      ['with another limit is another one', { ownEntitlements: [{ ...ownEntitlement, usageLimit: decimal.fromNumber(4) }] }],
      ['with another budget is another one', { budget: null }],
      ['with other terms of payment is another one', { billing: null }],
      ['with another billing period is another one', { billingPeriod: 'ANNUALLY' }],
      ['with an add-on is another one', { addons: [held(addon('extra'))] }],
      ['of another plan is another one', { plan: { ...both, packageId: 'third' } }],
      ['at another time is another one', { scheduleStrategy: 'IMMEDIATE' }],
    ]
    const first = () => decide(asked({ plan: both, additionalMetaData: { a: 1, b: 2 } }), [current()]).subscription
    for (const [name, fields] of same)
      it(name, () => {
        const waiting = first()
        const again = decide(asked({ plan: both, additionalMetaData: { a: 1, b: 2 }, ...fields }), [waiting])
        expect(again).to.deep.equal({ kind: 'existing', subscription: waiting, waits: true })
      })
    for (const [name, fields] of other)
      it(name, () => {
        const again = decide(asked({ plan: both, additionalMetaData: { a: 1, b: 2 }, scheduleId: 'again', ...fields }), [first()])
        expect(again.kind).to.equal(fields.scheduleStrategy ? 'create' : 'update')
        if (again.kind === 'update') expect(again.subscription.scheduled.map(({ id }) => id)).to.deep.equal(['again'])
      })

    it('as an upgrade, by what is held now, is another one', () => {
      const waiting = first()
      const [downgrade] = waiting.scheduled
      const upgrade = { ...downgrade!, change: { ...downgrade!.change, type: 'Plan' } } as (typeof waiting.scheduled)[number]
      const again = decide(asked({ plan: both, additionalMetaData: { a: 1, b: 2 }, scheduleId: 'again' }), [
        { ...waiting, scheduled: [upgrade] },
      ])
      expect(again.subscription.scheduled.map(({ id, change }) => [id, change.type])).to.deep.equal([['again', 'Downgrade']])
    })

    it('as a migration to the same version is another one: it says nothing of what is agreed', () => {
      const waiting = first()
      const [downgrade] = waiting.scheduled
      const migration = {
        ...downgrade!,
        change: { ...downgrade!.change, type: 'MigrateToLatest' as const },
      } as (typeof waiting.scheduled)[number]
      const again = decide(asked({ plan: both, scheduleId: 'again' }), [{ ...waiting, scheduled: [migration] }])
      expect(again.subscription.scheduled.map(({ id }) => id)).to.deep.equal(['again'])
    })
  })

  it('is for neither an end nor another country, which it names', () => {
    const pathOf = (fields: Partial<SubscriptionRequest>, of = current()) => {
      try {
        decide(asked(fields), [of])
        return null
      } catch (error) {
        return (error as Problem).details.path
      }
    }
    expect(pathOf({ endDate: now + 99 * day })).to.equal('endDate')
    expect(pathOf({ cancellationDate: now + 99 * day })).to.equal('cancellationDate')
    expect(pathOf({ billingCountryCode: 'DE' })).to.equal('billingCountryCode')
    expect(pathOf({ billingCountryCode: 'DE' }, current({ billingCountryCode: 'DE' }))).to.equal(null)
    expect(pathOf({ endDate: now + 99 * day, scheduleStrategy: 'IMMEDIATE' })).to.equal(null)
  })

  it('is one of what is active, not of the trial beside it', () => {
    const decision = decide(asked(), [trial({ plan: plan('third'), product: rules }), current()])
    expect([decision.kind, decision.subscription.id]).to.deep.equal(['update', 'subscription'])
  })

  it('keeps the billing country where none is named', () => {
    expect(decide(asked(), [current({ billingCountryCode: 'DE' })]).subscription.billingCountryCode).to.equal('DE')
  })

  it('is another one where it waits for another time', () => {
    const waiting = decide(asked(), [current()]).subscription
    const sooner = { ...waiting, scheduled: waiting.scheduled.map((one) => ({ ...one, executeAt: now + day })) }
    expect(decide(asked({ scheduleId: 'again' }), [sooner]).subscription.scheduled.map(({ id }) => id)).to.deep.equal(['again'])
  })

  it('is another one than one of which nothing is known but its content', () => {
    const waiting = decide(asked(), [current()]).subscription
    const silent = {
      ...waiting,
      scheduled: waiting.scheduled.map((one) => ({ ...one, change: { ...one.change, agreed: null } as typeof one.change })),
    }
    expect(decide(asked({ scheduleId: 'again' }), [silent]).subscription.scheduled.map(({ id }) => id)).to.deep.equal(['again'])
  })

  it('is none where a start is given, or a trial begins', () => {
    expect(decide(asked({ startDate: now + day }), [current()]).subscription.status).to.equal('NOT_STARTED')
    expect(decide(asked({ trialOverride: { ...override, trialEndDate: now + day } }), [current()]).subscription.status).to.equal('IN_TRIAL')
  })
})

describe('the billing period that is to go on', () => {
  const current = (fields: Partial<Subscription> = {}) => subscription({ currentPeriod: { start: t0, end: t0 + 31 * day }, ...fields })
  const anchor = (fields: Partial<SubscriptionRequest>, holding: Subscription[]) =>
    decide({ plan: top, billingCycleAnchor: 'UNCHANGED', ...fields }, holding).subscription.billingAnchor
  const annual = plan('annual', { prices: [price({ billingPeriod: 'ANNUALLY' })] })

  it('goes on only in one of the same length that is in force at once', () => {
    expect(anchor({}, [current()])).to.equal(t0)
    expect(anchor({}, [])).to.equal(now)
    expect(anchor({}, [current({ currentPeriod: null })])).to.equal(now)
    expect(anchor({ plan: annual }, [current()])).to.equal(now)
    expect(anchor({ startDate: now + day }, [current()])).to.equal(now + day)
    expect(anchor({ trialOverride: { ...override, trialEndDate: now + day } }, [current()])).to.equal(now)
    expect(anchor({}, [trial({ plan: top, currentPeriod: { start: t0, end: t0 + 31 * day } })])).to.equal(now)
  })
})

describe('the refusals of a provisioning name the field', () => {
  const path = (wanted: Partial<SubscriptionRequest>, holding: Subscription[] = []) => {
    try {
      decide(wanted, holding)
    } catch (error) {
      return [(error as Problem).reason, (error as Problem).details.path]
    }
    return null
  }
  const trialEnd = 'trialOverrideConfiguration.trialEndDate'
  const current = subscription({ currentPeriod: { start: t0, end: t0 + 31 * day } })
  const cases: [string, Partial<SubscriptionRequest>, Subscription[], string, string?][] = [
    ['a trial without an end', { trialOverride: override }, [], 'BAD_USER_INPUT', trialEnd],
    ['a trial that ends at its start', { trialOverride: { ...override, trialEndDate: now } }, [], 'BAD_USER_INPUT', trialEnd],
    [
      'a trial beside itself',
      { startDate: now, trialOverride: { ...override, trialEndDate: now + day } },
      [subscription()],
      'BAD_USER_INPUT',
      'trialOverrideConfiguration.isTrial',
    ],
    [
      'a billing period that goes on from a start in the past',
      { plan: top, billingCycleAnchor: 'UNCHANGED', startDate: t0 },
      [current],
      'BAD_USER_INPUT',
      'billingCycleAnchor',
    ],
    ['an end that is not in the future', { endDate: now }, [], 'BAD_USER_INPUT', 'endDate'],
    ['an end at a later start', { startDate: now + day, endDate: now + day }, [], 'BAD_USER_INPUT', 'endDate'],
    ['a cancellation that is not in the future', { cancellationDate: now }, [], 'INVALID_CANCELLATION_DATE'],
    ['a cancellation at a later start', { startDate: now + day, cancellationDate: now + day }, [], 'INVALID_CANCELLATION_DATE'],
    ['a billing period that is not sold', { billingPeriod: 'ANNUALLY' }, [], 'BAD_USER_INPUT', 'billingPeriod'],
  ]
  for (const [name, wanted, holding, reason, at] of cases) it(name, () => expect(path(wanted, holding)).to.deep.equal([reason, at]))

  it('and an end just after is fine', () => {
    expect(path({ endDate: now + 1, cancellationDate: now + 1 })).to.equal(null)
    expect(path({ startDate: now + day, endDate: now + day + 1 })).to.equal(null)
    expect(path({ startDate: t0, endDate: now + 1 })).to.equal(null)
    expect(path({ plan: freePlan, startDate: t0, endDate: now })).to.deep.equal(['BAD_USER_INPUT', 'endDate'])
  })
})

describe('the changes of a decision', () => {
  it('are those that it ends, then what it is about, each with what was before', () => {
    const old = subscription()
    const decision = decide({ plan: top }, [old])
    expect(changesOf(decision, [old], now)).to.deep.equal([
      { before: old, after: decision.kind === 'create' && decision.ended[0], at: now, isRenewal: false },
      { before: null, after: decision.subscription, at: now, isRenewal: false },
    ])
  })
  it('are one for what is changed, and none for what stays', () => {
    const sold = plan('basic', { compatibleAddonIds: ['extra'] })
    const old = subscription({ plan: sold })
    const decision = decide({ plan: sold, addons: [held(addon('extra'))] }, [old])
    expect(changesOf(decision, [old], now)).to.deep.equal([{ before: old, after: decision.subscription, at: now, isRenewal: false }])
    expect(changesOf(decide({}, [subscription()]), [subscription()], now)).to.deep.equal([])
  })
})
