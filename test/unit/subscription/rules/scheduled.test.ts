import { expect } from 'chai'
import * as decimal from '../../../../src/kernel/decimal.js'
import { changeBillingPeriod, execute, firstScheduled, withScheduled } from '../../../../src/subscription/rules/scheduled.js'
import type {
  OwnEntitlement,
  PlanAgreement,
  PlanContent,
  ScheduledChange,
  Subscription,
} from '../../../../src/subscription/rules/subscription.js'
import { addon, day, held, plan, price, product, subscription, t0, top } from '../support.js'

type Change = ScheduledChange['change']
const at = t0 + 10 * day
const seats = price({ billingModel: 'PER_UNIT', featureId: 'seats', featureRefId: 'Seats' })
const desks = price({ billingModel: 'PER_UNIT', featureId: 'desks', featureRefId: 'Desks' })
const units = (featureId: string, quantity: number) => ({
  featureId,
  featureRefId: featureId === 'seats' ? 'Seats' : 'Desks',
  quantity: decimal.fromNumber(quantity),
})
const [backup, support] = [addon('backup'), addon('support')]
const content = (to = top): PlanContent => ({ plan: to, billingPeriod: 'MONTHLY', addons: [], quantities: [] })

const changes = {
  Plan: (): Change => ({ type: 'Plan', agreed: null, ...content() }),
  Downgrade: (): Change => ({ type: 'Downgrade', agreed: null, ...content() }),
  MigrateToLatest: (): Change => ({ type: 'MigrateToLatest', ...content() }),
  BillingPeriod: (): Change => ({ type: 'BillingPeriod', billingPeriod: 'ANNUALLY' }),
  seats: (): Change => ({ type: 'UnitAmount', ...units('seats', 3) }),
  desks: (): Change => ({ type: 'UnitAmount', ...units('desks', 3) }),
  backup: (): Change => ({ type: 'Addon', addon: held(backup) }),
  support: (): Change => ({ type: 'Addon', addon: held(support) }),
}
type Name = keyof typeof changes
const scheduled = (name: Name, executeAt = at, id: string = name): ScheduledChange => ({ id, executeAt, change: changes[name]() })

describe('changes that wait', () => {
  describe('come first', () => {
    const orders: [string, ScheduledChange[]][] = [
      ['by their instant', [scheduled('BillingPeriod', at), scheduled('Plan', at + 1)]],
      ['at one instant another plan before an add-on', [scheduled('Plan'), scheduled('backup')]],
      ['a downgrade before units', [scheduled('Downgrade'), scheduled('seats')]],
      ['another version before an add-on', [scheduled('MigrateToLatest'), scheduled('backup')]],
      ['units before another billing period', [scheduled('seats'), scheduled('BillingPeriod')]],
      ['add-ons before another billing period', [scheduled('backup'), scheduled('BillingPeriod')]],
      ['of one kind by id', [scheduled('seats', at, 'a'), scheduled('desks', at, 'b'), scheduled('backup', at, 'c')]],
    ]
    for (const [name, order] of orders)
      it(name, () => {
        for (const waiting of [order, order.toReversed()]) expect(firstScheduled({ scheduled: waiting })).to.equal(order[0])
      })
    it('and none where none waits', () => expect(firstScheduled({ scheduled: [] })).to.equal(null))
  })

  describe('take the place of those that they contradict', () => {
    const all = Object.keys(changes) as Name[]
    const replaced: Record<Name, Name[]> = {
      Plan: all,
      Downgrade: all,
      MigrateToLatest: ['Plan', 'Downgrade', 'MigrateToLatest'],
      BillingPeriod: ['BillingPeriod'],
      seats: ['seats'],
      desks: ['desks'],
      backup: ['backup'],
      support: ['support'],
    }
    for (const name of all)
      it(`${name}: ${replaced[name].join(', ')}`, () => {
        const before = subscription({ scheduled: all.map((other) => scheduled(other)) })
        const after = withScheduled(before, scheduled(name, at, 'added'))
        const kept = all.filter((other) => !replaced[name].includes(other))
        expect(after.scheduled.map(({ id }) => id)).to.deep.equal([...kept, 'added'])
        expect(before.scheduled, 'a new list').to.have.length(all.length)
      })
  })
})

describe('a change that waited', () => {
  const sold = plan('sold', { prices: [seats, desks], compatibleAddonIds: ['backup', 'support'] })
  const current = (fields: Partial<Subscription> = {}) =>
    subscription({
      plan: sold,
      addons: [held(backup, 2)],
      quantities: [units('seats', 5), units('desks', 1)],
      currentPeriod: { start: t0, end: t0 + 31 * day },
      ...fields,
    })
  const executed = (change: Change, before = current()) =>
    execute(
      { ...before, scheduled: [{ id: 'this', executeAt: at, change }, scheduled('BillingPeriod', at + day, 'other')] },
      { id: 'this', executeAt: at, change },
      at,
    )

  it('waits no more, and the others do', () => {
    for (const name of Object.keys(changes) as Name[])
      expect(executed(changes[name]()).scheduled.map(({ id }) => id)).to.deep.equal(['other'])
  })

  it('of units puts the new quantity in place of the old one of its feature', () => {
    const { quantities, ...rest } = executed({ type: 'UnitAmount', ...units('seats', 3) })
    expect(quantities).to.deep.equal([units('desks', 1), units('seats', 3)])
    expect(rest.addons).to.deep.equal(current().addons)
  })

  it('of an add-on changes it where it is in the list, adds it at the end, or takes it away', () => {
    const both = current({ addons: [held(backup, 2), held(support, 1)] })
    const amounts = ({ addons }: Subscription) => addons.map(({ version, quantity }) => `${version.refId} ${quantity}`)
    expect(amounts(executed({ type: 'Addon', addon: held(backup, 7) }, both))).to.deep.equal(['backup 7', 'support 1'])
    expect(amounts(executed({ type: 'Addon', addon: held(support, 4) }))).to.deep.equal(['backup 2', 'support 4'])
    expect(amounts(executed({ type: 'Addon', addon: held(backup, 0) }, both))).to.deep.equal(['support 1'])
    expect(amounts(executed({ type: 'Addon', addon: held(support, 0) }))).to.deep.equal(['backup 2'])
  })

  it('of an add-on that the plan does not go with any more takes it away, and what it sold', () => {
    const selling = addon('backup', { prices: [price({ ...desks, featureId: 'shelves', featureRefId: 'Shelves' })] })
    const without = current({
      plan: { ...sold, compatibleAddonIds: ['support'] },
      addons: [held(selling)],
      quantities: [units('seats', 5), { ...units('desks', 2), featureId: 'shelves' }],
    })
    const after = executed({ type: 'Addon', addon: held(selling, 3) }, without)
    expect([after.addons, after.quantities]).to.deep.equal([[], [units('seats', 5)]])
  })

  it('of versions changes what is held and its pricing, and neither usage nor billing', () => {
    const custom = plan('sold', { id: 'sold-v2', pricingType: 'CUSTOM', prices: [seats] })
    const newer = held({ ...backup, id: 'backup-v2' }, 2)
    const change: Change = { type: 'MigrateToLatest', plan: custom, addons: [newer], billingPeriod: 'ANNUALLY', quantities: [] }
    const before = current()
    expect({ ...executed(change, before), scheduled: [] }).to.deep.equal({
      ...before,
      plan: custom,
      pricingType: 'CUSTOM',
      addons: [newer],
      quantities: [units('seats', 5)],
    })
  })

  describe('of the plan', () => {
    const own: OwnEntitlement = {
      id: 'own',
      featureId: 'seats',
      usageLimit: null,
      hasUnlimitedUsage: true,
      hasSoftLimit: false,
      enumValues: [],
      resetPeriod: null,
      resetRule: null,
    }
    const agreedBefore = {
      ownEntitlements: [own],
      budget: { limit: decimal.fromNumber(5), hasSoftLimit: false },
      additionalMetaData: { before: true },
      payingCustomerId: 'parent',
      salesforceId: 'old',
    }
    const target = plan('target', { pricingType: 'CUSTOM', prices: [seats], compatibleAddonIds: ['support'] })
    const change = (agreed: PlanAgreement | null, fields: Partial<PlanContent> = {}): Change => ({
      type: 'Plan',
      agreed,
      plan: target,
      billingPeriod: 'MONTHLY',
      addons: [held(support)],
      quantities: [units('seats', 9), units('desks', 9)],
      ...fields,
    })

    it('begins with what the change names and the plan sells; what was agreed stays, but for entitlements', () => {
      const before = current(agreedBefore)
      expect({ ...executed(change(null), before), scheduled: [] }).to.deep.equal({
        ...before,
        plan: target,
        pricingType: 'CUSTOM',
        addons: [held(support)],
        quantities: [units('seats', 9)],
        ownEntitlements: [],
        usageAnchor: at,
      })
    })

    it('takes what is agreed with it, and keeps what that does not say', () => {
      const agreed = {
        ownEntitlements: [{ ...own, id: 'new' }],
        budget: { limit: decimal.fromNumber(7), hasSoftLimit: true },
        additionalMetaData: { after: true },
        payingCustomerId: 'other',
        salesforceId: 'new',
      }
      const silent = { ownEntitlements: [], budget: null, additionalMetaData: null, payingCustomerId: null, salesforceId: null }
      const money = { billing: null, billingAgreement: null }
      expect(executed(change({ ...agreed, ...money }), current(agreedBefore))).to.deep.include(agreed)
      expect(executed(change({ ...silent, ...money }), current(agreedBefore))).to.deep.include({ ...agreedBefore, ownEntitlements: [] })
    })

    it('restarts billing only where the period is another, and usage as the product says', () => {
      const kept = current({ product: product({ usageOnPlanChange: 'NEVER_RESET' }) })
      expect(executed(change(null), kept)).to.deep.include({ billingAnchor: t0, currentPeriod: kept.currentPeriod, usageAnchor: t0 })
      const annual = executed({ ...change(null, { billingPeriod: 'ANNUALLY' }), type: 'Downgrade' } as Change, kept)
      expect(annual).to.deep.include({
        billingPeriod: 'ANNUALLY',
        billingAnchor: at,
        currentPeriod: { start: at, end: Date.parse('2027-03-11T00:00:00Z') },
        usageAnchor: t0,
      })
      const free = executed(change(null, { billingPeriod: null }), kept)
      expect(free).to.deep.include({ billingPeriod: null, billingAnchor: at, currentPeriod: null })
    })
  })

  it('of the billing period begins it anew, unless it is the same', () => {
    const annual = { billingPeriod: 'ANNUALLY', billingAnchor: at, currentPeriod: { start: at, end: Date.parse('2027-03-11T00:00:00Z') } }
    expect(executed({ type: 'BillingPeriod', billingPeriod: 'ANNUALLY' })).to.deep.include(annual)
    const before = current()
    expect(changeBillingPeriod(before, 'MONTHLY', at)).to.equal(before)
  })
})
