import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import fc from 'fast-check'
import { type AddonGrant, combineWithinSubscription, type Grant, mostGenerous } from '../../../../src/catalog/model/combine.js'
import * as decimal from '../../../../src/kernel/decimal.js'

interface Offer {
  limit?: number | null
  unlimited?: boolean
  soft?: boolean
  enumValues?: string[]
  budgetUsedUp?: boolean
}

interface CombiningCase {
  name: string
  plan?: Offer
  subscription?: Offer
  addons?: (Offer & { quantity: number; behavior: 'Increment' | 'Override' })[]
  subscriptions?: Offer[]
  promotional?: Offer
  limit?: number
  unlimited?: boolean
  soft?: boolean
  enumValues?: string[]
}

const cases: CombiningCase[] = JSON.parse(readFileSync('test/cases/decisions.json', 'utf8')).combining

const grantOf = ({ limit, unlimited, soft, enumValues, budgetUsedUp }: Offer): Grant => ({
  usageLimit: typeof limit === 'number' ? decimal.fromNumber(limit) : null,
  hasUnlimitedUsage: unlimited ?? false,
  hasSoftLimit: soft ?? false,
  enumValues: enumValues ?? [],
  ...(budgetUsedUp === undefined ? {} : { budgetUsedUp }),
})

const anyOffer = fc.record({
  limit: fc.constantFrom(null, 0, 0.5, 5, 100),
  unlimited: fc.boolean(),
  soft: fc.boolean(),
  enumValues: fc.subarray(['ap', 'eu', 'us']),
  budgetUsedUp: fc.boolean(),
})
const anyGrant = anyOffer.map(grantOf)

/** Written out instead of taken from the code under test. */
function isAtLeastAsGenerous(a: Grant, b: Grant): boolean {
  const rank = (grant: Grant) => [
    grant.hasUnlimitedUsage ? 2 : grant.hasSoftLimit ? 1 : 0,
    grant.hasUnlimitedUsage ? 0 : Number(grant.usageLimit ?? 0),
  ]
  const [[kindA, limitA], [kindB, limitB]] = [rank(a), rank(b)] as [[number, number], [number, number]]
  const hasAllValues = b.enumValues.every((value) => a.enumValues.includes(value))
  return hasAllValues && (kindA > kindB || (kindA === kindB && limitA >= limitB))
}

describe('combine', () => {
  for (const example of cases) {
    it(example.name, () => {
      const across = [...(example.subscriptions ?? []), ...(example.promotional ? [example.promotional] : [])].map(grantOf)
      const combined =
        across.length > 0
          ? mostGenerous(across)
          : combineWithinSubscription({
              plans: example.plan ? [{ grant: grantOf(example.plan), behavior: 'Override' }] : [],
              subscription: example.subscription ? grantOf(example.subscription) : null,
              addons: (example.addons ?? []).map(({ quantity, behavior, ...offer }) => ({ grant: grantOf(offer), quantity, behavior })),
            })
      if (example.limit !== undefined) expect(combined?.usageLimit).to.equal(String(example.limit))
      if (example.enumValues !== undefined) expect(combined?.enumValues).to.deep.equal(example.enumValues)
      expect(combined?.hasUnlimitedUsage).to.equal(example.unlimited ?? false)
      expect(combined?.hasSoftLimit).to.equal(example.soft ?? false)
    })
  }

  describe('inside a subscription', () => {
    const within = (plans: [limit: number, behavior: 'Increment' | 'Override'][], addons: AddonGrant<Grant>[] = []) =>
      combineWithinSubscription({
        plans: plans.map(([limit, behavior]) => ({ grant: grantOf({ limit }), behavior })),
        subscription: null,
        addons,
      })?.usageLimit

    it('replaces the base plan, or adds to it when the plan increments', () => {
      expect(within([[10, 'Override']])).to.equal('10')
      expect(
        within([
          [10, 'Override'],
          [3, 'Override'],
        ]),
      ).to.equal('10')
      expect(
        within([
          [10, 'Increment'],
          [3, 'Override'],
        ]),
      ).to.equal('13')
      expect(
        within([
          [10, 'Increment'],
          [3, 'Increment'],
          [1, 'Override'],
        ]),
      ).to.equal('14')
      expect(
        within([
          [10, 'Increment'],
          [3, 'Override'],
          [1, 'Override'],
        ]),
      ).to.equal('13')
      expect(within([[10, 'Increment']])).to.equal('10')
    })

    it('has no grant when no source has the feature', () => {
      expect(combineWithinSubscription({ plans: [], subscription: null, addons: [] })).to.equal(null)
    })

    it('gives an add-on on its own, times its quantity', () => {
      expect(within([], [{ grant: grantOf({ limit: 0.1 }), quantity: 3, behavior: 'Increment' }])).to.equal('0.3')
      expect(within([], [{ grant: grantOf({ limit: 5 }), quantity: 3, behavior: 'Override' }])).to.equal('5')
      expect(within([], [{ grant: grantOf({ limit: 5 }), quantity: 0, behavior: 'Increment' }])).to.equal(undefined)
      expect(within([[10, 'Override']], [{ grant: grantOf({ limit: 5 }), quantity: 0, behavior: 'Override' }])).to.equal('10')
    })

    it('keeps what is not combined from the grant that others add to', () => {
      const sourced = (limit: number, source: string) => ({ ...grantOf({ limit }), source })
      const addons = [
        { grant: sourced(5, 'small add-on'), quantity: 1, behavior: 'Increment' as const },
        { grant: sourced(7, 'large add-on'), quantity: 2, behavior: 'Increment' as const },
      ]
      const plans = [{ grant: sourced(10, 'plan'), behavior: 'Override' as const }]
      expect(combineWithinSubscription({ plans, subscription: null, addons })).to.include({ usageLimit: '29', source: 'plan' })
      expect(combineWithinSubscription({ plans, subscription: sourced(1, 'own'), addons })).to.include({ usageLimit: '20', source: 'own' })
      expect(combineWithinSubscription({ plans: [], subscription: null, addons })).to.include({ usageLimit: '19', source: 'large add-on' })
    })

    it('is unlimited, soft, or holds a value as soon as one of what is added is', () => {
      const plans = [{ grant: grantOf({ limit: 10, enumValues: ['us'] }), behavior: 'Override' as const }]
      const addons = [
        { grant: grantOf({ unlimited: true }), quantity: 2, behavior: 'Increment' as const },
        { grant: grantOf({ limit: 1, soft: true, enumValues: ['eu', 'us'] }), quantity: 2, behavior: 'Increment' as const },
      ]
      const combined = combineWithinSubscription({ plans, subscription: null, addons })
      expect(combined).to.deep.include({ hasUnlimitedUsage: true, hasSoftLimit: true, usageLimit: '12', enumValues: ['eu', 'us'] })
    })

    it('does not depend on the order of the add-ons, and an increment never makes it less', () => {
      const anyAddon = fc.record({
        grant: anyGrant,
        quantity: fc.integer({ min: 1, max: 3 }),
        behavior: fc.constantFrom('Increment' as const, 'Override' as const),
      })
      fc.assert(
        fc.property(fc.option(anyGrant), fc.array(anyAddon, { maxLength: 5 }), fc.nat(), anyAddon, (plan, addons, cut, increment) => {
          const combine = (list: AddonGrant<Grant>[]) =>
            combineWithinSubscription({ plans: plan ? [{ grant: plan, behavior: 'Override' }] : [], subscription: null, addons: list })
          const at = addons.length === 0 ? 0 : cut % addons.length
          const combined = combine(addons)
          // The budget is one of the whole subscription, the same for all its sources.
          const { budgetUsedUp: _, ...rotated } = combine([...addons.slice(at), ...addons.slice(0, at)]) ?? {}
          const { budgetUsedUp: __, ...original } = combined ?? {}
          expect(rotated).to.deep.equal(original)
          const more = combine([...addons, { ...increment, behavior: 'Increment' }])
          if (combined && more) expect(isAtLeastAsGenerous(more, combined)).to.equal(true)
        }),
      )
    })
  })

  describe('across sources', () => {
    it('has no grant without sources', () => expect(mostGenerous([])).to.equal(null))

    it('still says what is held when the budget of every source is used up', () => {
      const held = mostGenerous([grantOf({ limit: 5, budgetUsedUp: true }), grantOf({ limit: 9, budgetUsedUp: true })])
      expect(held).to.include({ usageLimit: '9', budgetUsedUp: true })
      expect(mostGenerous([grantOf({ limit: 5, budgetUsedUp: true }), grantOf({ limit: 1 })])).to.include({ usageLimit: '1' })
    })

    it('keeps what is not combined from the winner, the first of equals', () => {
      const sourced = [
        { ...grantOf({ limit: 4 }), source: 'a' },
        { ...grantOf({ limit: 5 }), source: 'b' },
        { ...grantOf({ limit: 5 }), source: 'c' },
      ]
      expect(mostGenerous(sourced)).to.include({ source: 'b' })
    })

    it('does not depend on the order of the sources, and another source never makes it less', () => {
      fc.assert(
        fc.property(fc.array(anyGrant, { minLength: 1, maxLength: 6 }), fc.nat(), anyGrant, (grants, cut, another) => {
          const at = cut % grants.length
          const winner = mostGenerous(grants)!
          expect(mostGenerous([...grants.slice(at), ...grants.slice(0, at)])).to.deep.equal(winner)
          const more = mostGenerous([...grants, another])!
          // A used-up source gives nothing, so a source that gives is more, whatever the limits are.
          expect(winner.budgetUsedUp === true || isAtLeastAsGenerous(more, winner)).to.equal(true)
          expect(winner.budgetUsedUp !== true && more.budgetUsedUp === true).to.equal(false)
        }),
      )
    })
  })

  describe('of a feature that is sold by the unit', () => {
    const d = decimal.fromNumber
    const ofPlan = (offer: Offer) => [{ grant: grantOf(offer), behavior: 'Override' as const }]
    const ofAddon = (offer: Offer, bought: number | null, quantity = 1): AddonGrant<Grant> => {
      return { grant: grantOf(offer), behavior: 'Increment', quantity, bought: bought === null ? null : d(bought) }
    }
    const limitOf = (input: Parameters<typeof combineWithinSubscription<Grant>>[0]) => combineWithinSubscription(input)?.usageLimit

    it('gives no less than is bought', () => {
      expect(limitOf({ plans: ofPlan({ limit: 5 }), subscription: null, addons: [], bought: d(8) })).to.equal('8')
      expect(limitOf({ plans: ofPlan({ limit: 5 }), subscription: null, addons: [], bought: d(3) })).to.equal('5')
      expect(limitOf({ plans: ofPlan({}), subscription: null, addons: [], bought: d(3) })).to.equal('3')
      expect(limitOf({ plans: ofPlan({ limit: 5 }), subscription: null, addons: [ofAddon({ limit: 1 }, 4)] })).to.equal('9')
    })

    it('has no limit where there was none', () => {
      const grant = combineWithinSubscription({ plans: ofPlan({ unlimited: true }), subscription: null, addons: [], bought: d(3) })
      expect(grant).to.deep.equal(grantOf({ unlimited: true }))
    })

    it('is what was agreed for the subscription, whatever is bought of the plan or of an add-on', () => {
      const subscription = grantOf({ limit: 2 })
      const plans = ofPlan({ limit: 5 })
      expect(limitOf({ plans, subscription, addons: [], bought: d(8) })).to.equal('2')
      const override: AddonGrant<Grant> = { grant: grantOf({ limit: 50 }), behavior: 'Override', quantity: 1 }
      expect(limitOf({ plans, subscription, addons: [override], bought: d(8) })).to.equal('2')
      expect(limitOf({ plans, subscription, addons: [override], bought: null })).to.equal('50')
      expect(limitOf({ plans, subscription, addons: [ofAddon({ limit: 1 }, null), ofAddon({ limit: 1 }, 4)] })).to.equal('2')
      // Not sold: add-ons add to what was agreed.
      expect(limitOf({ plans, subscription, addons: [ofAddon({ limit: 1 }, null)] })).to.equal('3')
    })

    it('is the plan’s where nothing was agreed', () => {
      expect(limitOf({ plans: ofPlan({ limit: 5 }), subscription: null, addons: [ofAddon({ limit: 1 }, 1)], bought: d(8) })).to.equal('9')
    })

    it('is nobody’s where no source has the feature', () => {
      expect(combineWithinSubscription({ plans: [], subscription: null, addons: [], bought: d(8) })).to.equal(null)
    })
  })

  it('adds limits where there is one at least', () => {
    const combined = (base: Offer, increment: Offer) =>
      combineWithinSubscription({
        plans: [{ grant: grantOf(base), behavior: 'Override' }],
        subscription: null,
        addons: [{ grant: grantOf(increment), behavior: 'Increment', quantity: 1 }],
      })?.usageLimit
    expect(combined({}, {})).to.equal(null)
    expect(combined({ limit: 5 }, {})).to.equal('5')
    expect(combined({}, { limit: 5 })).to.equal('5')
  })

  it('prefers a limit of 0 to none, in either order', () => {
    const [zero, none] = [grantOf({ limit: 0 }), grantOf({})]
    expect(mostGenerous([zero, none])?.usageLimit).to.equal('0')
    expect(mostGenerous([none, zero])?.usageLimit).to.equal('0')
  })
})

describe('a limit of 0 and a missing one', () => {
  it('give the same, and the limit is what is shown, in whatever order they come', () => {
    const [zero, missing] = [grantOf({ limit: 0 }), grantOf({ limit: null })]
    expect(
      [
        [zero, missing],
        [missing, zero],
      ].map((grants) => mostGenerous(grants)?.usageLimit),
    ).to.deep.equal(['0', '0'])
  })
})
