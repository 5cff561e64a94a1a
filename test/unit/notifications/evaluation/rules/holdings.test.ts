import { expect } from 'chai'
import fc from 'fast-check'
import type { CustomerStandings, HolderStandings } from '../../../../../src/entitlement/rules/standing.js'
import type { Entitlement } from '../../../../../src/entitlement/rules/state.js'
import * as decimal from '../../../../../src/kernel/decimal.js'
import { decideHolderChanges, type ToldHolder } from '../../../../../src/notifications/evaluation/rules/holdings.js'
import { compareTold, toTold } from '../../../../../src/notifications/evaluation/rules/told.js'

const entitlement = (refId: string, limit: number | null = null, more: Partial<Entitlement> = {}): Entitlement => ({
  feature: { id: `f-${refId}`, refId } as Entitlement['feature'],
  usageLimit: limit === null ? null : decimal.fromNumber(limit),
  hasUnlimitedUsage: false,
  hasSoftLimit: false,
  enumValues: [],
  reset: null,
  usage: null,
  usageRestartsAt: null,
  deniedReason: null,
  validUntil: null,
  ...more,
})
const holder = (entitlements: Entitlement[], resource: string | null = null): HolderStandings => ({
  resource: resource === null ? null : { id: `r-${resource}`, refId: resource },
  plans: [],
  standings: [],
  entitlements,
})
const customer = (...holders: HolderStandings[]): CustomerStandings => ({
  customerId: 'c',
  customerRefId: 'acme',
  isArchived: false,
  now: 1,
  holders,
})
const told = (entitlements: Entitlement[], resource: string | null = null): ToldHolder => ({
  resource: resource === null ? null : { id: `r-${resource}`, refId: resource },
  told: toTold(entitlements),
})
const summary = (changes: ReturnType<typeof decideHolderChanges>) =>
  changes.map(({ resource, told: is, changes: told }) => ({
    of: resource?.refId ?? null,
    isKept: is !== null,
    ...(told && {
      gained: told.gained.map(({ featureId }) => featureId),
      lost: told.lost.map(({ featureId }) => featureId),
      changed: told.changed.map(({ featureId }) => featureId),
    }),
  }))
const decide = (of: CustomerStandings, before: ToldHolder[], isNew = false) =>
  summary(decideHolderChanges({ customer: of, told: before, isNew }))

describe('what is told of what a customer may use', () => {
  const [sso, calls] = [entitlement('sso'), entitlement('calls', 10)]

  it('is all that a new customer has; of one that was there before, nothing the first time', () => {
    expect(decide(customer(holder([sso])), [], true)).to.deep.equal([{ of: null, isKept: true, gained: ['sso'], lost: [], changed: [] }])
    expect(decide(customer(holder([])), [], true)).to.deep.equal([])
    expect(decide(customer(holder([sso])), [])).to.deep.equal([{ of: null, isKept: true }])
    expect(decide(customer(holder([])), [])).to.deep.equal([{ of: null, isKept: true }])
    expect(decide(customer(holder([]), holder([sso], 'room')), [], true)).to.deep.equal([
      { of: 'room', isKept: true, gained: ['sso'], lost: [], changed: [] },
    ])
  })

  it('is remembered of all who are looked at for the first time', () => {
    expect(decideHolderChanges({ customer: customer(holder([sso]), holder([calls], 'room')), told: [], isNew: false })).to.deep.equal([
      { ...told([sso]), changes: null },
      { ...told([calls], 'room'), changes: null },
    ])
  })

  it('is what it gained, lost, and has on other terms', () => {
    const now = customer(holder([sso, entitlement('calls', 20)]))
    expect(decide(now, [told([calls, entitlement('gone')])])).to.deep.equal([
      { of: null, isKept: true, gained: ['sso'], lost: ['gone'], changed: ['calls'] },
    ])
    expect(decide(now, [told([])]), 'in the order of the identifiers').to.deep.equal([
      { of: null, isKept: true, gained: ['calls', 'sso'], lost: [], changed: [] },
    ])
    expect(decide(now, [told([sso, entitlement('calls', 20)])])).to.deep.equal([])
  })

  const month = { period: 'MONTH', rule: 'SubscriptionStart', anchor: 1, timeZone: 'UTC' } as const
  const terms: [what: string, before: Partial<Entitlement>, after: Partial<Entitlement>][] = [
    ['a soft limit', {}, { hasSoftLimit: true }],
    ['another limit', {}, { usageLimit: decimal.fromNumber(20) }],
    ['no limit', {}, { hasUnlimitedUsage: true }],
    ['a reset', {}, { reset: month }],
    ['another reset', { reset: month }, { reset: { ...month, period: 'WEEK' } }],
    ['more values', {}, { enumValues: ['a'] }],
    ['another value', { enumValues: ['a', 'b'] }, { enumValues: ['a', 'c'] }],
  ]
  for (const [what, before, after] of terms)
    it(`is ${what}`, () =>
      expect(decide(customer(holder([{ ...calls, ...after }])), [told([{ ...calls, ...before }])])).to.deep.equal([
        { of: null, isKept: true, gained: [], lost: [], changed: ['calls'] },
      ]))

  it('is what decides about checks, and stored so', () => {
    const all = { ...calls, hasSoftLimit: true, reset: month, enumValues: ['b', 'a'], validUntil: 5 }
    expect(toTold([sso, all])).to.deep.equal({
      sso: { usageLimit: null, hasUnlimitedUsage: false, hasSoftLimit: false, resetPeriod: null, enumValues: [] },
      calls: { usageLimit: '10', hasUnlimitedUsage: false, hasSoftLimit: true, resetPeriod: 'MONTH', enumValues: ['a', 'b'] },
    })
  })

  it('is not how much was used, when usage starts again, or in which order values are named', () => {
    const before = entitlement('plan', null, { enumValues: ['a', 'b'] })
    const after = entitlement('plan', null, { enumValues: ['b', 'a'], validUntil: 5 })
    expect(decide(customer(holder([after])), [told([before])])).to.deep.equal([])
  })

  it('is of a resource what it has beyond its customer, when it begins and ends to have subscriptions of its own', () => {
    const seats = entitlement('seats', 4)
    expect(decide(customer(holder([sso]), holder([sso, seats], 'room')), [told([sso])])).to.deep.equal([
      { of: 'room', isKept: true, gained: ['seats'], lost: [], changed: [] },
    ])
    expect(decide(customer(holder([sso])), [told([sso]), told([sso, seats], 'room')])).to.deep.equal([
      { of: 'room', isKept: false, gained: [], lost: ['seats'], changed: [] },
    ])
  })

  it('is of a resource by itself what it was told before, and that it is told of from now on', () => {
    const [seats, more] = [entitlement('seats', 4), entitlement('seats', 5)]
    const before = [told([sso, seats], 'other'), told([sso])]
    expect(decide(customer(holder([sso]), holder([sso, seats], 'other')), before)).to.deep.equal([])
    expect(decide(customer(holder([sso]), holder([sso, more], 'other')), before)).to.deep.equal([
      { of: 'other', isKept: true, gained: [], lost: [], changed: ['seats'] },
    ])
    expect(decide(customer(holder([sso]), holder([sso, seats], 'other'), holder([sso], 'room')), before)).to.deep.equal([
      { of: 'room', isKept: true },
    ])
  })
})

describe('telling of differences', () => {
  const held = fc
    .uniqueArray(fc.tuple(fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor'), fc.integer({ min: 0, max: 2 })), {
      selector: ([refId]) => refId,
    })
    .map((all) => toTold(all.map(([refId, limit]) => entitlement(refId, limit))))

  it('says everything that leads from what was told to what is held, and nothing else', () => {
    fc.assert(
      fc.property(held, held, (before, after) => {
        const changes = compareTold(before, after) ?? { gained: [], lost: [], changed: [] }
        const rebuilt = new Map(Object.entries(before))
        for (const { featureId } of changes.lost) expect(rebuilt.delete(featureId)).to.equal(true)
        for (const { featureId, ...terms } of changes.gained) rebuilt.set(featureId, terms)
        for (const { featureId, before: was, after: is } of changes.changed) {
          expect(rebuilt.get(featureId)).to.deep.equal(was)
          rebuilt.set(featureId, is)
        }
        expect(rebuilt).to.deep.equal(new Map(Object.entries(after)))
        expect(compareTold(after, after)).to.equal(null)
      }),
    )
  })
})
