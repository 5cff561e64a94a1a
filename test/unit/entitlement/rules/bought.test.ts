import { expect } from 'chai'
import fc from 'fast-check'
import type { SoldTerms } from '../../../../src/billing/rules/charges.js'
import { chargesOf, currencyOf } from '../../../../src/billing/rules/charges.js'
import { costOf } from '../../../../src/billing/rules/price.js'
import type { Feature } from '../../../../src/catalog/model/feature.js'
import type { PackageEntitlement, PackageVersion, Price } from '../../../../src/catalog/model/package.js'
import { withImplied } from '../../../../src/catalog/model/units.js'
import { sellsUnitsEver } from '../../../../src/entitlement/rules/bought.js'
import { buildState } from '../../../../src/entitlement/rules/build-state.js'
import { evaluate } from '../../../../src/entitlement/rules/evaluate.js'
import { decideWinners, type Holdings } from '../../../../src/entitlement/rules/holdings.js'
import * as decimal from '../../../../src/kernel/decimal.js'
import type { HeldAddon, ScheduledChange, Subscription } from '../../../../src/subscription/rules/subscription.js'
import { addon, day, entitled, feature, plan, price, product, subscription, t0, trial } from '../../subscription/support.js'
import { holding as nothingBut } from '../support.js'

const now = t0 + day
const seats = feature('seats', { meterType: 'Fluctuating' })
const rooms = feature('rooms')
const calls = feature('calls', { meterType: 'Incremental' })
const d = decimal.fromNumber

const perUnit = (fields: Partial<Price> = {}, of: Feature = seats): Price =>
  price({ id: `per ${of.refId}`, billingModel: 'PER_UNIT', featureId: of.id, featureRefId: of.refId, ...fields })

/** As the catalog answers it: with what its prices imply. */
const sold = (version: PackageVersion): PackageVersion => ({
  ...version,
  entitlements: withImplied(version.entitlements, version.prices).map((entitlement) => ({
    ...entitlement,
    feature: [seats, rooms, calls].find(({ id }) => id === entitlement.featureId)!,
  })),
})
const team = (entitlements: PackageEntitlement[] = [], prices: Price[] = [perUnit()], fields: Partial<PackageVersion> = {}) =>
  sold(plan('team', { entitlements, prices, ...fields }))
const bag = (entitlements: PackageEntitlement[] = [], prices: Price[] = [], refId = 'bag') => sold(addon(refId, { entitlements, prices }))
const times = (version: PackageVersion, quantity: number): HeldAddon => ({ id: `held ${version.refId}`, version, quantity })
const bought = (quantity: number, of: Feature = seats) => ({ featureId: of.id, featureRefId: of.refId, quantity: d(quantity) })

function holding(one: Subscription, fields: Partial<Holdings> = {}): Holdings {
  const features = new Map([seats, rooms, calls].map((known) => [known.id, known]))
  return nothingBut({ version: t0, accessVersion: t0, subscriptions: [one], features, ...fields })
}
function held(holdings: Holdings, of: Feature = seats, at = now) {
  const entitlement = decideWinners(holdings, at).find((winner) => winner.entitlement.feature.id === of.id)?.entitlement
  if (!entitlement) return null
  return entitlement.hasUnlimitedUsage ? 'unlimited' : `${entitlement.usageLimit}${entitlement.hasSoftLimit ? ' soft' : ''}`
}
const own = (limit: number) => ({
  id: 'own',
  featureId: seats.id,
  usageLimit: d(limit),
  hasUnlimitedUsage: false,
  hasSoftLimit: false,
  enumValues: [],
  resetPeriod: null,
  resetRule: null,
})

describe('what is bought by the unit', () => {
  const limited = entitled(seats, { limit: 4 })
  const base = plan('base', { entitlements: [limited], pricingType: 'FREE', prices: [] })
  const inBase = { basePlanVersionId: base.id }
  const cases: [name: string, fields: Partial<Subscription>, limit: string | null][] = [
    ['more than the limit of the entitlement', { plan: team([limited]), quantities: [bought(12)] }, '12'],
    ['less than the limit of the entitlement', { plan: team([limited]), quantities: [bought(3)] }, '4'],
    ['without a limit of the entitlement', { plan: team([entitled(seats)]), quantities: [bought(12)] }, '12'],
    ['without an entitlement', { plan: team(), quantities: [bought(12)] }, '12'],
    ['where nobody says how many', { plan: team() }, '1'],
    ['where nobody says how many, and there is a least quantity', { plan: team([], [perUnit({ minUnitQuantity: 5 })]) }, '5'],
    ['none', { plan: team(), quantities: [bought(0)] }, '0'],
    ['a block that is begun', { plan: team([limited], [perUnit({ blockSize: 5 })]), quantities: [bought(11)] }, '15'],
    ['with a soft limit', { plan: team([entitled(seats, { limit: 4, hasSoftLimit: true })]), quantities: [bought(12)] }, '12 soft'],
    [
      'with an unlimited entitlement',
      { plan: team([entitled(seats, { hasUnlimitedUsage: true })]), quantities: [bought(12)] },
      'unlimited',
    ],
    ['a setting', { plan: team([], [perUnit({}, rooms)]), quantities: [bought(3, rooms)] }, null],
    ['more than is inherited', { plan: team([], [perUnit()], inBase), quantities: [bought(9)] }, '9'],
    ['less than is inherited', { plan: team([], [perUnit()], inBase), quantities: [bought(2)] }, '4'],
    [
      'less than is inherited and added',
      { plan: team([entitled(seats, { limit: 3, behavior: 'Increment' })], [perUnit()], inBase), quantities: [bought(6)] },
      '7',
    ],
    [
      'and added to by an add-on',
      { plan: team([limited]), quantities: [bought(12)], addons: [times(bag([entitled(seats, { limit: 2, behavior: 'Increment' })]), 3)] },
      '18',
    ],
    [
      'and replaced by an add-on',
      { plan: team([limited]), quantities: [bought(12)], addons: [times(bag([entitled(seats, { limit: 10 })]), 3)] },
      '10',
    ],
    [
      'of an add-on, each time',
      { plan: plan('flat', { entitlements: [limited] }), quantities: [bought(5)], addons: [times(bag([], [perUnit()]), 3)] },
      '19',
    ],
    [
      'of an add-on alone, in blocks of all that are held',
      { plan: plan('flat'), quantities: [bought(5)], addons: [times(bag([], [perUnit({ blockSize: 10 })]), 3)] },
      '20',
    ],
    [
      'of an add-on that replaces',
      {
        plan: plan('flat', { entitlements: [limited] }),
        quantities: [bought(7)],
        addons: [times(bag([entitled(seats, { limit: 6 })], [perUnit()]), 1)],
      },
      '7',
    ],
    [
      'of the plan, where an add-on sells it too',
      { plan: team([limited]), quantities: [bought(12)], addons: [times(bag([], [perUnit()]), 3)] },
      '12',
    ],
    [
      'of the first add-on that sells it',
      { plan: plan('flat'), quantities: [bought(5)], addons: [times(bag([], [perUnit()]), 2), times(bag([], [perUnit()], 'box'), 4)] },
      '10',
    ],
    ['with what was agreed for the subscription', { plan: team([limited]), quantities: [bought(12)], ownEntitlements: [own(5)] }, '5'],
    [
      'with what was agreed for the subscription, and an add-on',
      {
        plan: team([limited]),
        quantities: [bought(12)],
        ownEntitlements: [own(5)],
        addons: [times(bag([entitled(seats, { limit: 2, behavior: 'Increment' })]), 1)],
      },
      '5',
    ],
    ['in another billing period', { plan: team([limited]), quantities: [bought(12)], billingPeriod: 'ANNUALLY' }, '4'],
    ['in another billing period, without a limit', { plan: team(), quantities: [bought(12)], billingPeriod: 'ANNUALLY' }, null],
    ['before a payment is made', { plan: team(), quantities: [bought(12)], status: 'PAYMENT_PENDING' }, null],
    ['with a payment that failed', { plan: team(), quantities: [bought(12)], paymentCollection: 'FAILED' }, '12'],
  ]
  for (const [name, fields, limit] of cases)
    it(`${name}: ${limit ?? 'nothing'} is given`, () =>
      expect(held(holding(subscription(fields), { basePlans: new Map([[base.id, base]]) }))).to.equal(limit))

  it('of a setting: its value', () => {
    const one = subscription({ plan: team([], [perUnit({}, rooms)]), quantities: [bought(3, rooms)] })
    expect(held(holding(one), rooms)).to.equal('3')
  })

  it('is given in a trial', () => expect(held(holding(trial({ plan: team(), quantities: [bought(8)] })))).to.equal('8'))

  it('is checked', () => {
    const holdings = holding(subscription({ plan: team([limited]), quantities: [bought(12)] }))
    const state = buildState(holdings, decideWinners(holdings, now), new Map(), now)
    const ask = (requested: number) => evaluate({ state, featureId: 'seats', requestedUsage: d(requested), now }).granted
    expect([ask(9), ask(12), ask(13)]).to.deep.equal([true, true, false])
  })

  it('depends on the price that is charged: the currency and the agreed blocks', () => {
    const prices = [perUnit({ blockSize: 2 }), perUnit({ id: 'euro', currency: 'EUR', blockSize: 10 })]
    const one = subscription({ plan: team([], prices), quantities: [bought(3)] })
    const agreed = (terms: Partial<SoldTerms>) => new Map([[one.id, { currency: 'USD', priceOverrides: [], ...terms }]])
    const override = { addonRefId: null, featureRefId: 'seats', amount: d(1), tiers: null, blockSize: 7 }
    expect(held(holding(one))).to.equal('4')
    expect(held(holding(one, { customer: { id: 'customer', timeZone: 'UTC', isArchived: false, currency: 'EUR' } }))).to.equal('10')
    expect(held(holding(one, { soldTerms: agreed({ currency: 'EUR' }) }))).to.equal('10')
    expect(held(holding(one, { soldTerms: agreed({ priceOverrides: [override] }) }))).to.equal('7')
  })

  it('changes with what waits, and the state tells when', () => {
    const at = now + 5 * day
    const fewer: ScheduledChange = { id: 'fewer', executeAt: at, change: { type: 'UnitAmount', ...bought(6) } }
    const holdings = holding(subscription({ plan: team([limited]), quantities: [bought(12)], scheduled: [fewer] }))
    const state = buildState(holdings, decideWinners(holdings, now), new Map(), now)
    expect([state.validUntil, state.entitlements[0]!.usageLimit, state.entitlements[0]!.validUntil]).to.deep.equal([at, '12', at])
    expect([state.next?.validFrom, state.next?.entitlements[0]?.usageLimit]).to.deep.equal([at, '6'])
    expect(held(holdings, seats, at)).to.equal('6')
  })

  it('of a plan that comes later is what was agreed for it', () => {
    const at = now + 5 * day
    const override = { addonRefId: null, featureRefId: 'seats', amount: d(1), tiers: null, blockSize: 7 }
    const agreed = {
      ownEntitlements: [],
      budget: null,
      additionalMetaData: null,
      payingCustomerId: null,
      salesforceId: null,
      billing: null,
      billingAgreement: { request: { priceOverrides: [override] } },
    }
    const change = { type: 'Plan' as const, plan: team(), billingPeriod: 'MONTHLY' as const, addons: [], quantities: [bought(8)], agreed }
    const holdings = holding(subscription({ plan: plan('flat'), scheduled: [{ id: 'later', executeAt: at, change }] }))
    expect([held(holdings), held(holdings, seats, at)]).to.deep.equal([null, '14'])
    // Until then, and after a change that nobody agreed anything for, it is what is sold now; other subscriptions have their own terms.
    const unrelated = subscription({ id: 'first', product: product({ id: 'first' }), plan: plan('nothing') })
    const waiting: ScheduledChange = { id: 'fewer', executeAt: at + day, change: { type: 'UnitAmount', ...bought(6) } }
    const current = { plan: team(), quantities: [bought(8)], scheduled: [{ id: 'later', executeAt: at, change }, waiting] }
    const [before, after] = [now, at].map((when) =>
      held(holding(subscription(current), { subscriptions: [unrelated, subscription(current)] }), seats, when),
    )
    expect([before, after]).to.deep.equal(['8', '14'])
    const plain = { ...change, agreed: null, quantities: [bought(9)] }
    expect(held(holding(subscription({ ...current, scheduled: [{ id: 'later', executeAt: at, change: plain }] })), seats, at)).to.equal('9')
  })
})

describe('whether something is ever sold by the unit', () => {
  const content = { billingPeriod: 'MONTHLY' as const, addons: [], quantities: [] }
  const later = (change: ScheduledChange['change']): Partial<Subscription> => ({
    scheduled: [{ id: 'later', executeAt: now + day, change }],
  })
  const flat = plan('flat')
  const selling = bag([], [perUnit()])
  const cases: [string, Partial<Subscription>, boolean][] = [
    ['a plan without', {}, false],
    ['a plan with', { plan: team() }, true],
    ['an add-on with', { plan: flat, addons: [times(bag(), 1), times(selling, 1)] }, true],
    ['an add-on without', { plan: flat, addons: [times(bag(), 1)] }, false],
    ['a plan that comes', later({ type: 'Plan', agreed: null, plan: team(), ...content }), true],
    ['a plan that comes with an add-on', later({ type: 'MigrateToLatest', ...content, plan: flat, addons: [times(selling, 1)] }), true],
    ['a plan that comes without', later({ type: 'Downgrade', agreed: null, plan: flat, ...content }), false],
    ['an add-on that comes', later({ type: 'Addon', addon: times(selling, 1) }), true],
    ['an add-on that comes without', later({ type: 'Addon', addon: times(bag(), 1) }), false],
    ['another billing period', later({ type: 'BillingPeriod', billingPeriod: 'ANNUALLY' }), false],
  ]
  for (const [name, fields, expected] of cases)
    it(`${name}: ${expected}`, () => expect(sellsUnitsEver(subscription({ plan: flat, ...fields }))).to.equal(expected))
})

describe('of any catalog', () => {
  const units = fc.integer({ min: 0, max: 60 })
  const somePrice = fc
    .record({
      currency: fc.constantFrom('USD', 'EUR'),
      billingPeriod: fc.constantFrom('MONTHLY', 'ANNUALLY'),
      billingCountryCode: fc.constantFrom(null, 'DE'),
      blockSize: fc.option(fc.integer({ min: 1, max: 9 })),
      minUnitQuantity: fc.option(fc.integer({ min: 0, max: 20 })),
      of: fc.constantFrom(seats, calls),
      amount: fc.integer({ min: 1, max: 50 }).map(d),
    })
    .map(({ of, ...fields }) => perUnit(fields as Partial<Price>, of))
  const prices = fc.uniqueArray(somePrice, {
    maxLength: 4,
    selector: ({ featureId, currency, billingPeriod, billingCountryCode }) =>
      [featureId, currency, billingPeriod, billingCountryCode].join(),
  })
  const someEntitlements = fc
    .tuple(
      ...[seats, calls].map((of) =>
        fc.option(fc.record({ limit: fc.option(units), soft: fc.boolean() }).map((fields) => ({ of, ...fields }))),
      ),
    )
    .map((all) => all.flatMap((one) => (one ? [entitled(one.of, { limit: one.limit ?? undefined, hasSoftLimit: one.soft })] : [])))
  const worlds = fc.record({
    plan: fc.record({ prices, entitlements: someEntitlements }),
    addons: fc.array(fc.record({ prices, entitlements: someEntitlements, quantity: fc.integer({ min: 1, max: 4 }) }), { maxLength: 2 }),
    quantities: fc.subarray([seats, calls]).chain((of) => fc.tuple(...of.map((one) => units.map((quantity) => bought(quantity, one))))),
    billingPeriod: fc.constantFrom('MONTHLY' as const, 'ANNUALLY' as const),
    billingCountryCode: fc.constantFrom(null, 'DE'),
    currency: fc.constantFrom(null, 'USD', 'EUR'),
    blockSize: fc.option(fc.integer({ min: 1, max: 9 })),
  })

  it('as much may be used as is charged: the last unit that costs nothing more, and not one beyond', () => {
    fc.assert(
      fc.property(worlds, ({ plan: ofPlan, addons, currency, blockSize, ...content }) => {
        const one = subscription({
          ...content,
          plan: sold(plan('team', ofPlan)),
          addons: addons.map(({ quantity, entitlements, ...version }, index) => {
            const added = entitlements.map((each) => ({ ...each, behavior: 'Increment' as const }))
            return times(sold(addon(`addon ${index}`, { ...version, entitlements: added })), quantity)
          }),
        })
        const priceOverrides = blockSize === null ? [] : [{ addonRefId: null, featureRefId: 'seats', amount: d(3), tiers: null, blockSize }]
        const terms = { currency: currencyOf(one, currency), priceOverrides }
        const holdings = holding(one, { soldTerms: new Map([[one.id, terms]]) })
        const winners = new Map(decideWinners(holdings, now).map(({ entitlement }) => [entitlement.feature.id, entitlement]))
        const charges = chargesOf(one, terms).fixed.filter(({ price: { billingModel } }) => billingModel === 'PER_UNIT')
        for (const of of [seats, calls]) {
          const charge = charges.find(({ price: { featureId } }) => featureId === of.id)
          const limitOf = (version: PackageVersion) => {
            const limit = version.entitlements.find(({ featureId }) => featureId === of.id)?.usageLimit ?? null
            return limit === null ? 0 : Number(limit)
          }
          // Counted out unit by unit, from what it costs.
          let most = charge ? Number(charge.quantity) : 0
          if (charge) while (most > 0 && costOf(charge.price, d(most + 1)) === costOf(charge.price, charge.quantity)) most++
          const least = (version: PackageVersion, limit: number) => (charge?.version === version ? Math.max(limit, most) : limit)
          const expected = one.addons.reduce(
            (sum, { version, quantity }) => sum + least(version, limitOf(version) * quantity),
            least(one.plan, limitOf(one.plan)),
          )
          expect(Number(winners.get(of.id)?.usageLimit ?? 0)).to.equal(expected)
          if (charge) expect(Number(winners.get(of.id)!.usageLimit)).to.be.at.least(Number(charge.quantity))
        }
      }),
      { numRuns: 500 },
    )
  }).timeout(20_000)
})
