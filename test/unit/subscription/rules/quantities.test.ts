import { expect } from 'chai'
import type { PackageVersion, Price } from '../../../../src/catalog/model/package.js'
import * as decimal from '../../../../src/kernel/decimal.js'
import { advance } from '../../../../src/subscription/rules/advance.js'
import { checkContent } from '../../../../src/subscription/rules/content.js'
import { planChangeType } from '../../../../src/subscription/rules/plan-change.js'
import { withVersions } from '../../../../src/subscription/rules/scheduled.js'
import type { HeldQuantity, Subscription } from '../../../../src/subscription/rules/subscription.js'
import { decideMigration, decideUpdate, type SubscriptionUpdate } from '../../../../src/subscription/rules/update.js'
import { addon, day, entitled, feature, held, plan, price, product, subscription, t0 } from '../support.js'

const d = decimal.fromNumber
const now = t0 + day
const end = t0 + 31 * day
const perUnit = (refId: string, fields: Partial<Price> = {}): Price =>
  price({ billingModel: 'PER_UNIT', featureId: `feature-${refId}`, featureRefId: refId, ...fields })
const chosen = (quantity: number, refId = 'seats'): HeldQuantity => ({
  featureId: `feature-${refId}`,
  featureRefId: refId,
  quantity: d(quantity),
})
const team = (fields: Partial<Price> = {}, more: Partial<PackageVersion> = {}) =>
  plan('team', { prices: [perUnit('seats', fields)], ...more })
const quantityOf = ({ quantities }: Subscription, refId = 'seats') =>
  quantities.find(({ featureRefId }) => featureRefId === refId)?.quantity ?? null
const one = (fields: Partial<Subscription> = {}) =>
  subscription({
    plan: team(),
    quantities: [chosen(12)],
    product: product({ downgradeTiming: 'END_OF_BILLING_PERIOD' }),
    currentPeriod: { start: t0, end },
    ...fields,
  })
const update = (of: Subscription, what: SubscriptionUpdate) => decideUpdate({ subscription: of, update: what, now })

describe('a bought quantity', () => {
  const cases: [name: string, newer: PackageVersion, quantity: string | null][] = [
    ['as it is', team({ minUnitQuantity: 1, maxUnitQuantity: 100 }), '12'],
    ['but not below the new minimum', team({ minUnitQuantity: 20 }), '20'],
    ['but not above the new maximum', team({ maxUnitQuantity: 9 }), '9'],
    ['unless it is not sold any more', plan('team'), null],
  ]
  for (const [name, newer, quantity] of cases) {
    it(`stays with a migration ${name}`, () => {
      const latest = { plan: { ...newer, id: 'team-v2', versionNumber: 2 }, addons: new Map() }
      const moved = decideMigration({ subscription: one(), latest, time: 'IMMEDIATE', now })
      const later = decideMigration({ subscription: one(), latest, time: 'END_OF_BILLING_PERIOD', now })
      expect(quantityOf(moved)).to.equal(quantity)
      expect([quantityOf(later), quantityOf(advance([later], end).subscriptions[0]!)]).to.deep.equal(['12', quantity])
      expect(quantityOf(withVersions(one(), { plan: latest.plan, addons: [] }))).to.equal(quantity)
      expect(() => update(moved, { additionalMetaData: { a: 1 } })).not.to.throw()
    })
  }

  it('that waits fits what is sold when it takes effect', () => {
    const waiting = update(one(), { quantities: [chosen(3)] })
    expect(waiting.scheduled.map(({ executeAt }) => executeAt)).to.deep.equal([end])
    const newer = team({ minUnitQuantity: 5 }, { id: 'team-v2' })
    expect(quantityOf(advance([{ ...waiting, plan: newer }], end).subscriptions[0]!)).to.equal('5')
    expect(quantityOf(advance([{ ...waiting, plan: plan('team') }], end).subscriptions[0]!)).to.equal(null)
  })

  it('goes with the add-on that sells it', () => {
    const desks = addon('desks', { prices: [perUnit('desks')] })
    const ofPlan = team({}, { compatibleAddonIds: [desks.packageId] })
    const both = one({ plan: ofPlan, addons: [held(desks)], quantities: [chosen(12), chosen(7, 'desks')] })
    const waiting = update(both, { addons: [] })
    expect([quantityOf(waiting), quantityOf(waiting, 'desks')]).to.deep.equal(['12', '7'])
    const after = advance([waiting], end).subscriptions[0]!
    expect([quantityOf(after), quantityOf(after, 'desks')]).to.deep.equal(['12', null])
    const atOnce = update(both, { addons: [], scheduleStrategy: 'IMMEDIATE' })
    expect([quantityOf(atOnce), quantityOf(atOnce, 'desks')]).to.deep.equal(['12', null])
  })

  it('is the least where none was chosen: none is less', () => {
    const waiting = update(one({ quantities: [] }), { quantities: [chosen(0)] })
    expect(waiting.scheduled.map(({ executeAt, change }) => [executeAt, change.type])).to.deep.equal([[end, 'UnitAmount']])
    expect(quantityOf(update(one({ quantities: [] }), { quantities: [chosen(1)] }))).to.equal('1')
  })

  it('has to be a limit', () => {
    const rooms = feature('rooms')
    const setting = plan('team', { prices: [perUnit('rooms')], entitlements: [entitled(rooms)] })
    const check = (quantity: number, sold: PackageVersion, refId: string, addons = 0) =>
      checkContent({
        plan: addons === 0 ? sold : plan('flat', { compatibleAddonIds: [sold.packageId] }),
        addons: addons === 0 ? [] : [held(sold, addons)],
        quantities: [chosen(quantity, refId)],
      })
    expect(() => check(2 ** 31 - 1, setting, 'rooms')).not.to.throw()
    expect(() => check(2 ** 31, setting, 'rooms')).to.throw('At most 2147483647 of "rooms" can be held.')
    expect(() => check(2 ** 30, setting, 'rooms', 2)).to.throw('At most 2147483647 of "rooms" can be held.')
    expect(() => check(1.5, setting, 'rooms')).to.throw('The quantity of "rooms" must be a whole number: it has no meter.')
    expect(() => check(1.5, team(), 'seats')).not.to.throw()
    expect(() => check(1e15, team(), 'seats')).not.to.throw()
    expect(() => check(1e16, team(), 'seats')).to.throw('At most 9007199254740991 of "seats" can be held.')
    expect(() => check(1e15, team({ blockSize: 9_007_199_254_740_000 }), 'seats')).not.to.throw()
    expect(() => check(9_007_199_254_740_001, team({ blockSize: 9_007_199_254_740_000 }), 'seats')).to.throw('can be held')
  })

  it('has to be a limit for each of several that are changed at once', () => {
    const both = plan('team', { prices: [perUnit('seats'), perUnit('desks')] })
    const change = (desks: number) => () =>
      update(one({ plan: both, quantities: [chosen(1), chosen(1, 'desks')] }), { quantities: [chosen(2), chosen(desks, 'desks')] })
    expect(change(1e15)).not.to.throw()
    expect(change(1e16)).to.throw('At most 9007199254740991 of "desks" can be held.')
  })

  it('has to be a limit as the first who sells it gives it', () => {
    const more = addon('more', { prices: [perUnit('seats')] })
    const content = (addons: number) => ({
      plan: team({}, { compatibleAddonIds: [more.packageId] }),
      addons: [held(more, addons)],
      quantities: [chosen(1e15)],
    })
    expect(() => checkContent(content(100))).not.to.throw()
  })

  it('in blocks is compared by the blocks', () => {
    const content = (fields: Partial<Price>) => ({ ...one(), plan: team({ amount: d(10), ...fields }) })
    expect(planChangeType(content({}), content({ blockSize: 5 }))).to.equal('DOWNGRADE')
    expect(planChangeType(content({ blockSize: 5 }), content({}))).to.equal('UPGRADE')
  })
})
